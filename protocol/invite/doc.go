// Package invite is the one line with which a machine becomes a member: which
// group, which CA key to trust, where its enrolment service is, a secret that
// works once, until when, and under what name.
//
// The line is one word without quoting in any shell:
//
//	wander1-CONTENT
//
// CONTENT is base64url (RFC 4648 §5) without padding of the encoded invite and
// the first 4 bytes of its SHA-256. The sum tells a paste that lost a piece
// (ErrMangled: copy it again) from an invite that the CA refuses. It proves
// nothing: whoever has the line has all that it grants, until it was used or
// has ended, so it travels like a password. Who has it and sits between the
// machine and the CA can use it first, and cannot pretend to be the CA.
//
// Everything here is a function of its arguments and safe for concurrent use.
package invite
