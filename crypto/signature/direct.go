//go:build !remember

package signature

import (
	"crypto/ed25519"
	"io"
)

// ParsePublicKey reads the 32 bytes of a public key. It returns ErrKeyEncoding
// or ErrSmallOrder.
func ParsePublicKey(b []byte) (*PublicKey, error) { return parsePublicKey(b) }

// Verify reports whether sig is a signature of message by k, under the rule in
// the package comment: nil, ErrEncoding or ErrMismatch.
func (k *PublicKey) Verify(message, sig []byte) error { return k.compute(message, sig) }

// Sign is the RFC 8032 signature of message: SignatureSize bytes, always the
// same for the same message.
func (k *PrivateKey) Sign(message []byte) []byte { return ed25519.Sign(k.std, message) }

// Add takes in one signature; neither slice is kept. The verdict on it stands
// in the answer of Verify at the index that Len had before.
func (b *Batch) Add(key *PublicKey, message, sig []byte) { b.add(key, message, sig) }

// Verify returns nil when all signatures are good, otherwise one verdict for
// each, nil, ErrEncoding or ErrMismatch, in the order of Add.
//
// random makes the coefficients of the common equation unpredictable to
// whoever made the signatures. They also depend on all the signatures, so a
// weak, failing or nil source does not help to smuggle one in; it only lets
// the same batch be computed the same way again. A batch that fails is checked
// one by one.
func (b *Batch) Verify(random io.Reader) []error { return b.compute(random) }
