// Package envelope is the one form of everything that is signed: COSE_Sign1
// (RFC 9052 §4.2) with EdDSA (RFC 9053 §2.2) over deterministic CBOR: rule signed
// of spec/wire.cddl.
//
// Nothing in it is optional, so there is exactly one spelling. What the bytes
// do not say, the Domain does: protocol version, group and kind are signed
// along as external_aad, so no signature can be taken for one of another kind,
// group or version.
//
// Bytes become an Unverified by Parse, and an Unverified becomes a Verified
// only by Verify or a Batch. A Verified therefore proves that its payload was
// signed by the key that was given; whether that key belongs to the named key
// id, and what the payload says, is for the layers above.
package envelope
