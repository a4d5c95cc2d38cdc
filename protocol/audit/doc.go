// Package audit verifies the journals of many members against each other: who
// had custody of which token from when to when, whether any token was in two
// places, and what became of each.
//
//	report := audit.Check(group, journals, audit.Options{})
//	report.Findings // empty when all members kept the rules
//
// What a member believes plays no part: only what its journal says counts. The
// package is pure; reading files is the caller's business. Signatures are not
// verified here: each journal is taken for what its owner wrote.
package audit
