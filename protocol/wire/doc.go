// Package wire is what members say to each other: the frames on a stream and
// the messages in them.
//
// A message is the deterministic CBOR array [type, [fields…]]. Decode is the one
// place where bytes from the network become typed values; what it accepts
// encodes to the same bytes again. The shapes are in spec/wire.cddl. Signed objects travel inside messages as
// byte strings and are decoded, and verified, beside their own types.
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
// Each is a struct in the file of its name or of its kin, with its shape in CDDL in its comment. Hello opens
// each connection; Offer to Unknown move custody; Policy has no authority over it. Gossip compares two
// directories, Summary says how a range of one looks, Want asks, and Members, Configuration and Revocations
// answer. The table kinds (message.go) says of each Type its name, whether it is urgent, and how to make an
// empty one. Urgent messages go before all others to the same peer, so that a handoff does not wait behind
// pages of a directory.
//
// A Settled, a Shown, a Part and an Entry are parts of messages. A Refusal is why an OFFER was refused; its
// Err is a sentinel.
//
// # The walk of a frame
//
//	ReadFrame    the length, before anything is allocated          ErrFrameSize
//	Decode
//	  PeekType   0x82 and a type that there is                     ErrMalformed, ErrMessageType
//	  Unmarshal  canonical CBOR of its fields, in messageLimits    ErrMalformed
//	  validate   counts, sizes and ranges                          ErrLimit, ErrMalformed
//
// In a running member node/transport finds the frames in its buffer itself and hands on borrowed bodies;
// protocol/member decodes them in receive, counts what is refused, and lets it change nothing.
// Encode validates a message, too, before it is sent.
//
// # Who calls it
//
// node and node/transport for frames, member, handoff, directory and update for messages, sim/cluster and
// spec/conformance as peers, and `wander inspect` to show them. What the CA and machines say to each other is of package
// node/enrolment, what local programs say of node/api.
//
// # What holds, and what does not belong here
//
// Every list and byte string has a bound, which is a constant with its reason. A message fits one frame; only a
// configuration is larger, and travels in parts (ConfigurationParts). Two things are read
// leniently, for later versions: unknown bits of Features are ignored, and an unknown Refusal is busy.
//
// Whether a message may come now, how often, and whether it is true is not known here: order and rates are
// member's (judge, limits.go), signatures the packages' of the objects. A bound on one message goes into its
// validate; one that several messages share goes into limits.go. CONTRIBUTING.md lists what a new message needs.
//
// The functions keep no state and are safe for concurrent use.
package wire
