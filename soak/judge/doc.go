// Package judge compares what the protected programs wrote of themselves with
// what an audit of the members' journals says, and measures how the group has
// served its members. It is a function of the records.
//
//	runs, err := judge.Runs(records, last) // the log of the programs
//	a, err := judge.ParseAudit(json)       // what wander audit printed
//	list := judge.Judge(judge.Evidence{Resources: …, Runs: runs, Audits: …})
//	judge.Text(os.Stdout, list)
//	if judge.Broken(list, timing) { … }    // exit code 70
//
// # Who calls it
//
// The command soak calls all of it. Package rig reads logs and audits with Runs and ParseAudit; soak/hostile and
// soak/loss take these, and count in their own way with Overlap. The package has no I/O but for Text: a kept run can
// be judged again, and the tests make up the evidence.
//
// # When a program runs
//
// No clock says exactly when a program runs, so each Run has two spans:
//
//	         born      begin of grant    first record        last record     gone
//	process   |─────────────|────────────────|────────────────────|────────────|
//	Sure                                     |────────────────────|
//	Whole                   |─────────────────────────────────────────────────|
//
// The observer may run late, and a program that was killed writes no end. Both make Sure shorter or Whole longer,
// so an imprecise observation weakens a verdict and never breaks one. The audit is compared in the same sense:
//
//	audit's certain overlap    at most    overlap of Whole
//	overlap of Sure            at most    audit's possible overlap
//
// A copy of a journal that was made while members wrote it is compared with the runs before and after copying
// (Audited.Copied).
//
// # The types
//
//	Run        one program: resource, member, token, hop, deadline, Sure and Whole
//	Span       from one instant of the boot clock to another one
//	Ask        one wander run, from its start to its exit code
//	Outage     when a member cannot be expected to be served, since a fault hit it
//	Side       members that reached each other and no others, while the group was cut in two
//	Audit      the part of the audit's JSON that is judged; Audited adds when the journals were copied
//	Resource   the limits of a resource, from the plan
//	Evidence   all that a run has left
//	Verdict    one value with its limit; without one it is only measured
//
// # The walk of one run's evidence
//
//	Judge
//	 ├ granted    no program begins before a grant of max_hold that ends at its deadline
//	 ├ audits     overlap of each resource and audit; proofs and suspicions
//	 ├ custody    two programs under one token, older hops, lost tokens
//	 ├ group      daemons that died, panics, exit codes, views, programs beyond their deadline
//	 └ service    for each resource: waits (Ask without Outage and Run), then overlap, tokens, evenness,
//	              waiting, recovery and sides
//
// # Invariants
//
//   - Judge depends on the Evidence alone. A folder gives the same verdicts each time, unless the audit changed.
//   - A value that is no number breaks its limit (verdicts.add).
//   - Verdicts that depend on the machine's speed have Timing. Broken counts them only if its caller asks for it.
//   - Where journals went back or members ran twice (Evidence.Rolled), records are missing: what would be
//     suspicious otherwise is measured or left out, and proofs still count.
//
// # What belongs elsewhere
//
// The package runs and audits nothing: package rig calls wander audit. It sets no limits: package plan does. It reads
// no log lines: package record does. A new verdict on a resource is a method of service, one on the whole group
// belongs in Evidence.group, and one on tokens in Evidence.custody.
//
// The functions keep no state, and may be called concurrently on different evidence.
package judge
