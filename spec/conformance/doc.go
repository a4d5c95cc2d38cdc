// Package conformance plays a member of the group against another one that is
// running, over real QUIC, and says which requirements of the
// specification the other one keeps, as far as that can be seen from outside.
//
// The peer speaks the transport by itself (protocol.md, chapter 11), with nothing of this
// project but the codecs: it has to be able to say what no member would say. A
// check is a short script. Each has its own connection and its own deadline, and
// depends on no other.
//
//	report, err := conformance.Run(ctx, conformance.Options{…})
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
//	Check    one script, with the requirements that it looks at
//	run      what all checks share: who plays, and numbers used once
//	wallet   the tokens that a run has handed over: it takes them back
//	trial    one run of one check: it fails, skips, dials and makes objects
//	session  a connection on which a trial talks: it greets, asks, offers, waits
//	link     the frames of a session, before anybody looks at what they say
package conformance
