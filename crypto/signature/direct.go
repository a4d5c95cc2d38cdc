//go:build !remember

package signature

import "crypto/ed25519"

// ParsePublicKey reads the 32 bytes of a public key. It returns ErrKeyEncoding
// or ErrSmallOrder.
func ParsePublicKey(b []byte) (*PublicKey, error) { return parsePublicKey(b) }

// Verify reports whether sig is a signature of message by k, under the rule in
// the package comment: nil, ErrEncoding or ErrMismatch.
func (k *PublicKey) Verify(message, sig []byte) error { return k.compute(message, sig) }

// Sign is the RFC 8032 signature of message: SignatureSize bytes, always the
// same for the same message.
func (k *PrivateKey) Sign(message []byte) []byte { return ed25519.Sign(k.std, message) }
