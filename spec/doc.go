// Package spec is text: what another implementation needs to know. It has no
// code but what hands the CDDL files on.
//
//	protocol.md    the protocol, normative
//	enrolment.md   how machines and the group's authority talk, normative
//	wire.cddl      the shapes of what travels
//	enrolment.cddl the shapes of what machines and the authority say
//	journal.cddl   the shapes of a journal's records
//	coverage.txt   which tests hold the code to which requirement
//	model/         the handoff, for a model checker
//	vectors/       test vectors; package vector runs them
//	conformance/   a scripted peer that tests a running member
//
// Its tests keep text and code together: every kind of object, as the project
// itself encodes it, is checked against the CDDL, and shown in chapter 18; the
// comments in the code quote the CDDL; tables in protocol.md are rendered from the
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
