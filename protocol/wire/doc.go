// Package wire has the messages that members send each other, and the frames on
// a QUIC stream that contain them. docs/glossary.md has the terms.
//
// A message is the deterministic CBOR array [type, [fields…]]. Decode is the
// one place where bytes from the network become typed values; what it accepts
// encodes to the same bytes again. The shapes are in spec/wire.cddl. Signed
// objects travel inside messages as byte strings; the packages of their types
// decode and verify them.
//
//	body, err := wire.Encode(&wire.Cancel{Token: t, Hop: 7, Incarnation: i, Accept: 3})
//	stream = wire.AppendFrame(stream, body)
//	...
//	body, err = wire.ReadFrame(r, buf)   // borrowed until buf is used again
//	m, err := wire.Decode(body)          // m keeps nothing of body
//	switch m := m.(type) {
//	case *wire.Cancel:
//		...
//	}
//
// # A frame
//
//	offset  size
//	0       4     n, the length of the body, big-endian: 1 to MaxFrame
//	4       1     0x82, an array of two
//	5       1     the type, below 24
//	6       n-2   the fields, an array
//
// # The messages
//
//	both sides first     HELLO
//	a handoff            OFFER, NEED, ACCEPT, REFUSE, CANCEL, TRANSFER
//	answers to TRANSFER  RECEIPT, VOID, UNKNOWN
//	between policies     POLICY
//	directories          GOSSIP, SUMMARY, WANT, MEMBERS, CONFIGURATION, REVOCATIONS
//	who lives, and news  PROBE, NEWS
//
// Each message is a struct in a file of its own or of a related message, with
// its shape in CDDL in its comment. Hello opens each connection. Offer to
// Unknown move custody; Policy has no authority over custody. Gossip begins a
// comparison of two directories, and Summary describes a range of one. Want
// asks, and Members, Configuration and Revocations answer. The table kinds
// (message.go) has the name of each Type, whether it is urgent, and how to make
// an empty message. A member sends urgent messages to a peer before all others,
// so that a handoff does not wait behind pages of a directory.
//
// Settled, Shown, Part and Entry are parts of messages. Refusal is the reason
// of a REFUSE; its Err returns a sentinel.
//
// # The walk of a frame
//
//	ReadFrame    the length, before anything is allocated          ErrFrameSize
//	Decode
//	  PeekType   0x82 and a type that there is                     ErrMalformed, ErrMessageType
//	  Unmarshal  canonical CBOR of its fields, in messageLimits    ErrMalformed
//	  validate   counts, sizes and ranges                          ErrLimit, ErrMalformed
//
// In a running member node/transport does not call ReadFrame: it finds the
// frames in its own buffer, and lends their bodies to protocol/member. That
// decodes them in receive, and counts and ignores those that Decode refuses.
// Encode validates a message too, before it is sent.
//
// # Who calls it
//
// Packages node and node/transport use frames; member, handoff, directory and
// update use messages. sim/cluster and spec/conformance act as peers, and
// `wander inspect` shows messages. Package node/enrolment has the messages
// between machines and the CA, node/api those of local programs.
//
// # What holds, and what does not belong here
//
// Every list and byte string has a bound, which is a constant with its reason.
// A message fits one frame; only a configuration is larger, and travels in
// parts (ConfigurationParts). Decode is lenient in two places, for later
// versions: it ignores unknown bits of Features, and reads an unknown Refusal
// as busy.
//
// This package does not know whether a message may come now, how often, or
// whether it is true. Package member checks order and rates (judge, limits.go),
// and the packages of signed objects check signatures. Put a bound on one
// message into its validate, and one that several messages share into
// limits.go. CONTRIBUTING.md lists what a new message needs.
//
// The functions keep no state and are safe for concurrent use.
package wire
