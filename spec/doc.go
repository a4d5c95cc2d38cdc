// Package spec is text: what another implementation needs to know. It has no
// code but what hands the CDDL files on.
//
//	README.md      which of these to read for what
//	protocol.md    the core of the protocol
//	membership.md  who is a member, over time
//	policy/        when operations run, and tokens are passed, dropped and made: a file for each policy
//	journal.md     the journal, files of keys and objects, and evidence
//	enrolment.md   how machines and the group's authority talk
//	api.md         how local programs talk to the daemon
//	gate.md        which sessions the gate of a resource lets begin, and when
//	refusals.md    every reason to refuse something, by name
//	limits.md      every bound
//	examples.md    every object and message in bytes
//	wire.cddl      the shapes of what travels
//	enrolment.cddl the shapes of what machines and the authority say
//	gate.cddl      the shapes of what a gate says, and of its records
//	journal.cddl   the shapes of a journal's records
//	coverage.txt   which tests hold the code to which requirement
//	form/          draws samples in the shapes of the CDDL
//	model/         the handoff, for a model checker
//	vectors/       test vectors; package vector runs them
//	conformance/   a scripted peer that tests a running member
//
// Its tests keep text and code together: every kind of object, as the project
// itself encodes it, is shown in examples.md, what is drawn from the CDDL is what the decoders accept;
// tables in the texts are rendered from the
// code, so that no bound and no reason of a refusal is left out; every requirement
// has an identifier, and tests or vectors that coverage.txt names; every error that
// the text names exists. What can be seen of a member from outside is put to one
// (conformance).
// After a change of the code,
//
//	go test ./spec -update
//
// renders the tables anew.
package spec
