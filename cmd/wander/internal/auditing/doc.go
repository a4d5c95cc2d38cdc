// Package auditing runs an audit of journals on disk: it finds the segments,
// reads them for package protocol/audit, writes evidence, and shows the report as
// text for an operator or as JSON.
package auditing
