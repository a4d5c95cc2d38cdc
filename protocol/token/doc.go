// Package token holds the signed objects that a token is made of and the rules
// by which one follows from another.
//
// A token is born with a genesis, signed by its generator; its id is the
// genesis' hash. Each hop adds a transfer, signed by the member that gives
// custody away and naming the member that gets it. A receipt, void or unknown,
// signed by the receiver, answers a transfer.
//
//	genesis ── transfer 1 ── transfer 2 ── transfer 3 (voided) ── transfer 4
//	  hop 0       hop 1         hop 2         burned                 hop 4
//
// # Who calls it
//
// Package handoff makes transfers and answers, and verifies all objects, when custody moves; member makes
// geneses and complaints, and reads its own journal; evidence and audit read these objects when they judge
// what members have signed. How they travel is the business of wire and journal: to both an object is a byte
// string.
//
// # Types
//
// What is signed and what is not are different types. A Body is plain data that Sign turns into
// an object, and only a Verifier turns bytes into one. So a Genesis, a Transfer, an Answer or a
// Complaint is always a verified object (or zero):
//
//	GenesisBody    ── Sign ──▶ Genesis    ◀── Verifier.Genesis    ── bytes
//	TransferBody   ── Sign ──▶ Transfer   ◀── Verifier.Transfer   ── bytes
//	AnswerBody     ── Sign ──▶ Answer     ◀── Verifier.Answer     ── bytes
//	ComplaintBody  ── Sign ──▶ Complaint  ◀── Verifier.Complaint  ── bytes
//
// A Verdict says which of the three answers an Answer is. It is in the kind of the envelope
// and not in the payload, so that no signature over one can be taken for another. A
// Complaint says that a member begins to act against another one; it is for auditors, and for that member after a restart.
//
// A Title is the proof that a member has custody at a hop: the genesis, the
// last transfer, and the void by which custody came back to its sender if it
// did. Title.Check holds its parts together, Title.Next is the body of the transfer by which its holder
// passes the token on, and Title.Admits says whether a transfer may follow (handoff rules §4.1).
//
//	title := token.Title{Genesis: genesis}                      // hop 0, held by the generator
//	transfer, err := title.Next(to, accept).Sign(group, key)    // accept: the receiver's reservation
//	err = title.Admits(transfer)                                // nil
//	title = token.Title{Genesis: genesis, Transfer: transfer}   // hop 1, held by to
//
// A Position names the place in its signer's journal where an object was signed, by an
// extension. Fence is the number by which a resource tells a late program from the present
// one.
//
// # The walk of an object's bytes
//
//	verified    seen lately? then no signature is checked again
//	  Open      one strict envelope, of this group, version and kind    ErrMalformed
//	  read      one strict payload, within payloadLimits                ErrMalformed
//	            its body's own rules (validate)                         ErrMalformed, ErrField
//	            the key id is the member that the body names            ErrSigner
//	  Keys.Key  the certificate of that member is known                 ErrUnknownSigner
//	  Verify    the signature                                           ErrSignature
//
// An auditor, which verifies very many objects in batches, takes Open and a Read function and verifies the
// envelopes itself (unverified.go). The Peek functions skip the signature: they are for a
// member's own journal.
//
// # What holds
//
// One object never passes for another: kind, group and version are part of what is signed and of
// the key under which a Memory has it; a Memory is of one group, and has at most verifiedKept objects. A hop is at
// most ident.MaxHop. Times decide nothing here. A Title says what its holder may prove, and
// not that nobody else has a later one: what became of a custody is handoff's to know, and
// which signed objects contradict each other is evidence's to judge.
//
// A new signed object of a token is a file of its own: the body with its CDDL, validate, signer and
// Sign, the verified type, its method of Verifier, and its Peek and Read functions.
//
// Objects are immutable and safe for concurrent use. A Verifier is not.
package token
