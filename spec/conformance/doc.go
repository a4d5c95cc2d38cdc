// Package conformance plays a member of the group against another one that is
// running, over real QUIC, and says which requirements of the
// specification the other one keeps, as far as that can be seen from outside.
//
// The peer speaks the transport by itself (protocol.md, chapter 11), with nothing of this
// project but the codecs: it has to be able to say what no member would say. A
// check is a short script. Each has its own connection and its own deadline, and
// depends on no other.
//
//	report, err := conformance.Run(ctx, conformance.Options{
//		Address: "host:port", Group: g, Identity: tester, Resource: "test",
//		Progress: func(r conformance.Result) { fmt.Println(r.Verdict, r.Name, r.Detail) },
//	})
//	failed := report.Count(conformance.Fail)
//
// `wander-lab conformance` calls it.
//
// # What it does to the member under test
//
// No more than any other member could. It is a member in mode 2 that is attached
// to the one under test alone. It makes tokens of one resource, hands them
// over, and takes them back where it can; tokens that it has not made it never
// accepts. Two checks sign what only a liar signs, so that its identity should be
// made for the test, and revoked after it: docs/conformance.md says more.
//
// # The types
//
//	Options  the member under test, and the Identity that the run plays
//	Report   what a run has shown: a Result with a Verdict for each check
//	Check    one script, with the requirements that it looks at
//	run      what all checks share: who plays, and numbers used once
//	wallet   the tokens that a run has handed over: it takes them back
//	trial    one run of one check: it fails, skips, dials and makes objects
//	session  a connection on which a trial talks: it greets, asks, offers, waits
//	link     the frames of a session, before anybody looks at what they say
//
// # The walk of one check
//
//	Run          newRun checks the options; meet finds out whether the member can be talked to
//	 └ try       makes the check, at most maxTries times while it fails as it loses a connection
//	    └ once   a new trial with the deadline Options.Timeout
//	       ├ script   dials, says something, and waits for what has to follow
//	       ├ outcome  fail, skip or check end the script by a panic, which once turns into the verdict
//	       └ close    the sessions of the trial end, whatever happened
//	settle       at the end of all checks, when the member is still there
//
// # Invariants
//
// A script that ends without an outcome is a pass. A panic with anything but an outcome is a bug of this package and
// goes on. An error of Run says that no check could be made, but for ErrGone and the end of ctx, with which the
// report has the results so far. Accept numbers and the ordinals of preambles are used once in a run, so that a check
// does not depend on what another one left behind.
//
// # What it does not do
//
// It sees nothing of the member but its frames: no journal and no memory. It does not reach requirements that show
// only in a crash or among several members. It does not use node/transport, so that a mistake there is not
// made on both sides.
//
// A new check is an entry of the list in the file checks_*.go of its subject, with its Requirements and one sentence
// in Does. A check that leaves something behind goes to the end of Checks.
//
// Run plays one check after the other, and calls Progress from its own goroutine.
package conformance
