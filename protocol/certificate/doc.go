// Package certificate implements the signed objects about one member.
//
//	object           signed by            says
//	Certificate      the CA               this key is a member of the group, or a gate, from when to when
//	SignedRevocation the CA               this member id is dead for good
//	SignedRequest    the member itself    I want a certificate for this key
//	SignedEndpoint   the member itself    here I can be dialled, or I only dial out
//	SignedLeave      the member itself    I leave for good
//	SignedFailure    another member       it does not answer where its endpoint record says
//
// Package group has what is signed about the group as a whole.
//
// # Unsigned and signed
//
// What is signed and what is not are different types. Claims, Endpoint, Failure,
// Leave, Request and Revocation are plain values that prove nothing. Sign turns one
// into its signed form, and a Parse function reads and verifies the signed form:
//
//	c, err := certificate.Claims{
//		Name: "ftp-01", Serial: 17, Key: key, Group: group.ID(),
//		NotBefore: from, NotAfter: to, IssuedAt: from,
//	}.Sign(caKey)
//
//	c, err = certificate.Parse(group.ID(), raw, group) // group knows the CA keys
//	err = c.ValidAt(now)
//
//	e, err := certificate.ParseEndpoint(group.ID(), raw, c.Key())
//
// A function that takes a Certificate or a SignedEndpoint therefore needs no check
// of its own. Signed values are immutable and safe for concurrent use.
//
// Unverified is in between: Read, ReadEndpoint, ReadFailure and ReadLeave decode
// without verifying, so that a caller with many objects verifies their signatures in
// one batch (Unverified.AddTo, envelope.Batch). The Peek functions and those that end
// in Signer return what an object claims, without any proof: they serve to find the
// key, or the object that one has already.
//
// Packed and PackedEndpoint hold a verified object as the bytes that travel, for
// directories of many members.
//
// # Keys
//
// A member is one key in one group: its id is derived from both (ident.MemberOf). A
// renewed certificate is the same member; a new key is a new one. What a member signs
// names its signer by that id, and Sign returns ErrSigner for a key of another
// member. The CA signs under an AuthorityID, since a group can have several CA
// keys (package group); Authorities finds the key by that id.
//
// # Roles
//
// A certificate is a member's or a gate's (Role). Parse and Read accept members only, so that a
// gate is never taken for one; ParseGate accepts gates only, and Certificate.CheckGate says whether
// one is the gate with an id, now. ParseAny is for the authority and for tools.
//
// # Time
//
// No Parse function looks at the time. What a member signed while its certificate
// was valid stays proof after it has expired, and an auditor reads it years later. Whether a
// member may take part now is another question: Certificate.ValidAt answers it for an
// instant that the caller gives. The times in endpoint records, failure
// statements and leaves are shown to people and decide nothing; where an order is
// needed there is a sequence number, which a wrong clock cannot change:
//
//   - of two endpoint records of one member the higher Sequence holds;
//   - a failure statement names the Sequence that did not answer, and the member
//     refutes it by a higher one;
//   - revocations are numbered by the CA without gaps, so that a version says which
//     are known;
//   - a leave and a revocation are final.
//
// Package directory merges these objects by that order. The shapes are in
// spec/wire.cddl, the rules in chapter 6 of
// spec/protocol.md.
package certificate
