// Package canonical is the one CBOR codec of the project: deterministic
// encoding (RFC 8949 §4.2.1) and nothing else, in both directions.
//
// Bytes from outside go through Check before anything is allocated for them:
// one complete item, shortest heads, definite lengths, map keys strictly
// ascending, valid UTF-8, no tags, no floating point, within Limits. Unmarshal
// then decodes into a Go value and encodes that value again: bytes it accepts
// are the only bytes that mean this value, so a hash or a signature over them
// cannot be evaded by another spelling.
//
// Structs say `cbor:",toarray"` (an array, the usual form here) or
// `cbor:"1,keyasint"` (a map). Fixed byte arrays, among them the identifiers
// of protocol/ident, are byte strings of exactly their length; their text form
// is ignored. A nil slice or map encodes as an empty one; an optional field is
// a pointer, nil being null.
//
// All functions are safe for concurrent use.
package canonical
