// Package ca is a group's certificate authority: it signs the group
// configuration, issues certificates and revokes members. It is needed for
// that and never for a token to move, so it can be kept off line.
//
// An authority is a directory, readable by its owner only:
//
//	ca.key           the private key, possibly encrypted with a passphrase;
//	                 after rotations the newest of ca-2.key, ca-3.key…
//	log.jsonl        what was signed, invited, left and proved, append-only
//	serial           the last serial number that was drawn
//	ca.crt           the CA certificate
//	group.crt        what is published: CA certificates, configuration,
//	                 revocations, leaves
//	issued/          the certificates, SERIAL-NAME.crt
//	revoked/         the revocations, VERSION-MEMBER.rev
//	evidence/        what was brought against members, ID.evidence
//	lock             taken by whoever changes something
//
// The log is the truth. Each of its lines holds one signed object, or an invite
// without its secret, and a hash over this line and all before; what is not
// durable there has not happened, and nothing leaves this package before it is.
// A certificate that an invite was used for names it in its own line, so that no
// crash comes between the two. ca.crt, group.crt, issued/, revoked/ and evidence/
// are made from the log, again by Open where a crash came between. A serial number
// is durable in serial before anything is signed with it, so none is used
// twice; a crash can only leave a gap.
//
// A CA key is replaced in three steps, IntroduceKey, SwitchKey and RetireKey.
// Which key signs is not remembered apart: it is the one that signed the newest
// configuration, and that configuration lists the keys that count.
//
// Several processes may have the same authority open. Each operation takes the
// lock, reads what the others have done, and lets go.
//
// # The types
//
//	Authority  what callers use: it takes the locks, opens a key if one is
//	           needed, and lets the ledger do the rest
//	ledger     the log, its state and the files made from it; record is the one
//	           way in which something happens
//	state      what the log says: take applies an entry, the other methods answer
//	           questions and write nothing; invites is its part about invites
//	keyRing    the private keys, read and made, and their passphrase
//	chain      the end of the log: it encodes and decodes the next line
//	folder     the directory: files that are replaced or extended durably
//
// A new thing to sign or to keep is an event of the log: a method of ledger that
// records it, a case of state.take, and an exported method of Authority.
package ca
