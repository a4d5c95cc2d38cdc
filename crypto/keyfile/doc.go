// Package keyfile is the text form of keys and signed objects: PEM-armoured
// blocks (RFC 7468 lines, strictly read), each holding CBOR.
//
// Secret keys are COSE_Keys (RFC 9052 §7), in the clear or encrypted with a
// passphrase as an age file (scrypt recipient, age-encryption.org/v1). Signed
// objects are envelopes and are neither parsed nor verified here.
//
// Text goes in and comes out; opening files, with CheckMode before a secret is
// read, is the callers' business. Except for encryption, which takes its
// randomness from the operating system, everything is a function of its
// arguments. All functions are safe for concurrent use.
package keyfile
