// Package wire is what members say to each other: the frames on a stream and
// the messages in them.
//
// A message is the deterministic CBOR array [type, [fields…]]. Decode is the one
// place where bytes from the network become typed values; what it accepts
// encodes to the same bytes again. The shapes are in spec/wire.cddl. Signed objects travel inside messages as
// byte strings and are decoded, and verified, beside their own types.
package wire
