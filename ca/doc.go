// Package ca is a group's certificate authority: it signs the group
// configuration, issues certificates and revokes members. It is needed for
// that and never for a token to move, so it can be kept off line.
//
//	a, err := ca.Create(dir, ca.CreateOptions{Name: "backup"}) // once; later ca.Open(dir, ca.Options{})
//	config, err := a.SetConfig(settings)                       // version 1, 2, 3…
//	invited, err := a.Invite("alpha", time.Hour)               // what a newcomer is to bring
//	cert, err := a.Redeem(invited.ID, secret, "alpha", key)    // what ca/service does for it
//	revocation, err := a.Revoke(cert.Member(), "sold")         // permanently
//
// # The folder
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
// # The walk of one certificate
//
//	Issue, Redeem or Renew
//	 ├ signing     the key that signs is opened, without the lock: a person may be asked
//	 ├ locked      the lock of the folder; refresh reads on what other processes have written
//	 ├ issue       claims: is the name free, the member not revoked, the lifetime permitted?
//	 │              drawSerial, then Claims.Sign
//	 └ record      one line of the log, synced ─▶ state.take ─▶ publishLast writes issued/…
//
// An error before record leaves the Authority usable. One within it makes the Authority return ErrBroken from
// then on, since nobody knows how far the entry got: the caller opens it again, and the log says.
//
// # Who calls it
//
// The commands of `wander ca` for an operator, ca/service for machines, and `wander demo` and the benchmarks for
// groups that do not outlive a run (Equip). Several processes may have the same authority
// open. Each operation takes the lock, reads what the others have done, and releases it.
//
// # What it does not do
//
// It has no network and answers no member: that is ca/service. It convicts nobody by itself: TakeEvidence
// keeps proof, and an operator revokes (Revoke, RevokeBy). It does not decide what a certificate is worth to
// others; that is for packages certificate and group, whose objects it signs.
//
// A new thing to sign or to keep is an event of the log: a method of ledger that
// records it, a case of state.take, and an exported method of Authority.
//
// An Authority is safe for concurrent use.
package ca
