package signature

import (
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"math"

	"filippo.io/edwards25519"
)

// Sizes in bytes (RFC 8032 §5.1).
const (
	PublicKeySize = 32
	SignatureSize = 64
	SeedSize      = 32
)

// PublicKey is a validated public key, kept decompressed: to verify with one
// that is at hand costs a seventh less than to parse it first. It is immutable
// and safe for concurrent use; the zero value is not a key.
type PublicKey struct {
	bytes [PublicKeySize]byte
	minus edwards25519.Point // -A, the form that the equation needs
}

// ParsePublicKey reads the 32 bytes of a public key. It returns ErrKeyEncoding
// or ErrSmallOrder.
func ParsePublicKey(b []byte) (*PublicKey, error) {
	point, ok := decodePoint(b)
	if !ok {
		return nil, ErrKeyEncoding
	}
	if isSmallOrder(point) {
		return nil, ErrSmallOrder
	}
	key := &PublicKey{bytes: [PublicKeySize]byte(b)}
	key.minus.Negate(point)
	return key, nil
}

// Bytes is the key's only encoding.
func (k *PublicKey) Bytes() [PublicKeySize]byte { return k.bytes }

// Equal reports whether both are the same key.
func (k *PublicKey) Equal(o *PublicKey) bool { return k.bytes == o.bytes }

// String is the key in hex.
func (k *PublicKey) String() string { return hex.EncodeToString(k.bytes[:]) }

// Verify reports whether sig is a signature of message by k, under the rule in
// the package comment: nil, ErrEncoding or ErrMismatch.
func (k *PublicKey) Verify(message, sig []byte) error {
	s, err := parseSignature(sig)
	if err != nil {
		return err
	}
	return k.verify(challenge(s.bytes, &k.bytes, message), s)
}

// verify checks the equation.
func (k *PublicKey) verify(c *edwards25519.Scalar, s parsed) error {
	var p edwards25519.Point
	p.VarTimeDoubleScalarBaseMult(c, &k.minus, &s.s)
	p.Subtract(&p, &s.r)
	if !isSmallOrder(&p) {
		return ErrMismatch
	}
	return nil
}

// parsed is a signature whose parts have been validated.
type parsed struct {
	bytes []byte
	r     edwards25519.Point
	s     edwards25519.Scalar
}

func parseSignature(sig []byte) (p parsed, err error) {
	if len(sig) != SignatureSize {
		return p, ErrEncoding
	}
	if _, err := p.s.SetCanonicalBytes(sig[32:]); err != nil {
		return p, ErrEncoding
	}
	r, ok := decodePoint(sig[:32])
	if !ok {
		return p, ErrEncoding
	}
	p.r, p.bytes = *r, sig
	return p, nil
}

// challenge is SHA-512(R || A || M) mod L (RFC 8032 §5.1.7).
func challenge(sig []byte, key *[PublicKeySize]byte, message []byte) *edwards25519.Scalar {
	h := sha512.New()
	h.Write(sig[:32])
	h.Write(key[:])
	h.Write(message)
	var digest [sha512.Size]byte
	c, err := new(edwards25519.Scalar).SetUniformBytes(h.Sum(digest[:0]))
	if err != nil {
		panic(err) // only for a wrong length, and the array has the right one
	}
	return c
}

// decodePoint reads a point in its canonical encoding only (RFC 8032 §5.1.3
// says so; the library, for compatibility, accepts more).
func decodePoint(b []byte) (*edwards25519.Point, bool) {
	if len(b) != PublicKeySize || !isCanonical([PublicKeySize]byte(b)) {
		return nil, false
	}
	point, err := new(edwards25519.Point).SetBytes(b)
	return point, err == nil
}

// isCanonical reports whether y is below p = 2^255-19 and the sign bit is not
// set where x is 0, that is for y = 1 and y = p-1.
func isCanonical(b [PublicKeySize]byte) bool {
	const low, high = math.MaxUint64 - 18, math.MaxInt64 // lowest and highest word of p
	w0, w3 := binary.LittleEndian.Uint64(b[0:]), binary.LittleEndian.Uint64(b[24:])
	w1, w2 := binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])
	negative := w3 > high
	w3 &= high
	if w1&w2 == math.MaxUint64 && w3 == high && w0 >= low-1 {
		return w0 < low && !negative
	}
	return !negative || w0 != 1 || w1|w2|w3 != 0
}

// isSmallOrder reports whether [8]p is the identity.
func isSmallOrder(p *edwards25519.Point) bool {
	var q edwards25519.Point
	return q.MultByCofactor(p).Equal(edwards25519.NewIdentityPoint()) == 1
}
