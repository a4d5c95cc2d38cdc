// Package canonical is the one CBOR codec of the project: deterministic
// encoding (RFC 8949 §4.2.1) and nothing else, in both directions.
//
//	raw, err := canonical.Marshal(&body)             // the one encoding of body
//	err = canonical.Unmarshal(raw, &body, limits)    // accepts that one, and no other
//
// One value has one encoding, and bytes that are accepted are the only bytes that mean
// this value. So a hash or a signature over them cannot be evaded by another spelling.
//
// # Who calls it
//
// Everything that is signed, sent between machines, or written into a journal: packages
// envelope and keyfile beside this one, token, certificate and group for what is signed,
// wire for messages, journal for records, evidence, invite and update, and node/enrolment.
// The API for local programs and the files that people write are JSON and TOML, and
// not its business.
//
// # The walk of the bytes
//
// Bytes from outside go through Check before anything is allocated for them:
//
//	          Limits
//	             │
//	bytes ──▶ Check ──▶ decoder ──▶ Go value ──▶ encoder ──▶ again ── equal to bytes? ──▶ accepted
//	             │          │                                               │
//	             ▼          ▼                                               ▼
//	     a reason,       ErrType:                                   ErrNotCanonical:
//	     at byte n       not of this field                          another spelling
//
// Check demands one complete item with the shortest heads, definite lengths, map keys that
// strictly ascend, valid UTF-8, no tags and no floating point, within Limits. It recurses, and
// so no Limits can permit a nesting above 32. The size that a length states is compared
// with the bytes that are left before anybody believes it. CheckTagged is Check for
// one item under one known tag, as COSE has it.
//
// What Check cannot know is which Go type the item is for: a byte string of another length
// than the field's, null where a value belongs, an array in place of a byte string.
// Unmarshal therefore encodes the value again and compares. That costs one encoding, and
// needs no list of the decoder's leniencies.
//
// # Go types
//
// Structs say `cbor:",toarray"` (an array, the usual form here) or
// `cbor:"1,keyasint"` (a map). Fixed byte arrays, among them the identifiers
// of protocol/ident, are byte strings of exactly their length; their text form
// is ignored. A nil slice or map encodes as an empty one; an optional field is
// a pointer, nil being null. Raw is one encoded item that stays encoded. AppendWithin
// is Marshal into a buffer of the caller, within Limits.
//
// Extensions is the map that ends every signed array, so that later versions can add to it:
// an unknown odd key is kept, and an unknown even key refuses the object (ErrExtension). It
// stays encoded, because hardly any extension is ever asked for. Marshal and Unmarshal
// validate it, so no caller can forget to.
//
// # What belongs elsewhere
//
// Rules about values, as ranges and sizes of lists, are each type's own, and are checked
// after Unmarshal. So are limits: the caller states them, because only the caller knows how large its largest
// object is. A new kind of item that the whole project permits, such as a tag, would be a case
// in scanner.item (check.go), an option of the encoder and the decoder (codec.go), and a
// new error (errors.go).
//
// Each refusal wraps one of the errors of this package, which the specification lists. All
// functions are safe for concurrent use.
package canonical
