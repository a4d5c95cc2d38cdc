// Package wire is what members say to each other: the frames on a stream and
// the messages in them.
//
// A message is the deterministic CBOR array [type, [fields…]]. Decode is the one
// place where bytes from the network become typed values; what it accepts
// encodes to the same bytes again. Signed objects travel inside messages as
// byte strings and are decoded, and verified, beside their own types.
//
// The messages, in the order of a connection's life:
//
//	HELLO                             both, first on every connection
//	OFFER, NEED, ACCEPT, REFUSE, CANCEL  a handoff is prepared
//	TRANSFER                          custody moves
//	RECEIPT, VOID, UNKNOWN            the answer to a transfer
//	POLICY                            between policies, without authority
//	GOSSIP, SUMMARY                   directories are compared
//	WANT, MEMBERS, CONFIGURATION, REVOCATIONS  and what is missing is fetched
//	PROBE, NEWS                       who cannot be reached; membership updates
package wire
