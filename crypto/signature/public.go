package signature

import (
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"math"
	"sync/atomic"

	"filippo.io/edwards25519"
)

// Sizes in bytes (RFC 8032 §5.1).
const (
	PublicKeySize = 32
	SignatureSize = 64
	SeedSize      = 32
)

// PublicKey is a validated public key, kept decompressed. From its third
// verification on it also keeps a table of 5 kB that saves two fifths of the
// cost of the next ones, so keys that are used again should be kept, not parsed
// again. It never changes otherwise and is safe for concurrent use; it must not
// be copied, and is compared with Equal only. The zero value is not a key.
type PublicKey struct {
	bytes  [PublicKeySize]byte
	minus  edwards25519.Point // -A, the form that the equation needs
	memory *Memory            // nil: every verification is computed
	uses   atomic.Uint32      // verifications so far, up to the first beyond usesToSpread
	table  atomic.Pointer[spread]
}

// usesToSpread is how many verifications a key must have done before it gets a
// table. One table costs half a verification; keys seen once or twice, as in
// an audit of many journals, shall not fill the memory.
const usesToSpread = 2

// ParsePublicKey reads the 32 bytes of a public key. It returns ErrKeyEncoding
// or ErrSmallOrder.
func ParsePublicKey(b []byte) (*PublicKey, error) {
	var key PublicKey
	if !decodePoint(&key.minus, b) {
		return nil, ErrKeyEncoding
	}
	if isSmallOrder(&key.minus) {
		return nil, ErrSmallOrder
	}
	key.bytes = [PublicKeySize]byte(b)
	key.minus.Negate(&key.minus)
	return &key, nil
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
	of, good, known := k.recall(message, sig)
	if !known {
		var s parsed
		if err := s.parse(sig); err != nil {
			return err
		}
		var c edwards25519.Scalar
		challenge(&c, sig, &k.bytes, message)
		good = k.holds(&c, &s)
		k.note(of, good)
	} else {
		k.use()
	}
	if !good {
		return ErrMismatch
	}
	return nil
}

// holds checks the equation.
func (k *PublicKey) holds(c *edwards25519.Scalar, s *parsed) bool {
	var p edwards25519.Point
	if k.use() {
		var space [2 * pieces]term
		ofKey, ofBase := nonAdjacent(c, widthPoint), nonAdjacent(&s.s, widthBase)
		sum(&p, baseSpread().appendTo(k.spread().appendTo(space[:0], &ofKey), &ofBase))
	} else {
		p.VarTimeDoubleScalarBaseMult(c, &k.minus, &s.s)
	}
	p.Subtract(&p, &s.r)
	return isSmallOrder(&p)
}

// use counts a verification, and reports whether the key has earned a table. One whose
// verdict is known counts as well: what a batch costs, and so whether it draws random
// numbers, must not depend on a Memory.
func (k *PublicKey) use() bool {
	return k.uses.Load() > usesToSpread || k.uses.Add(1) > usesToSpread
}

// spread returns the key's table. Two goroutines may both make it: it is the same table.
func (k *PublicKey) spread() *spread {
	if table := k.table.Load(); table != nil {
		return table
	}
	table := newSpread(&k.minus, widthPoint)
	k.table.Store(table)
	return table
}

// parsed is a signature whose parts have been validated.
type parsed struct {
	r edwards25519.Point
	s edwards25519.Scalar
}

func (p *parsed) parse(sig []byte) error {
	if len(sig) != SignatureSize || !decodePoint(&p.r, sig[:32]) {
		return ErrEncoding
	}
	if _, err := p.s.SetCanonicalBytes(sig[32:]); err != nil {
		return ErrEncoding
	}
	return nil
}

// challenge sets c to SHA-512(R || A || M) mod L (RFC 8032 §5.1.7).
func challenge(c *edwards25519.Scalar, sig []byte, key *[PublicKeySize]byte, message []byte) {
	h := sha512.New()
	h.Write(sig[:32])
	h.Write(key[:])
	h.Write(message)
	var digest [sha512.Size]byte
	if _, err := c.SetUniformBytes(h.Sum(digest[:0])); err != nil {
		panic(err) // only for a wrong length, and the array has the right one
	}
}

// decodePoint reads a point in its canonical encoding only (RFC 8032 §5.1.3
// says so; the library, for compatibility, accepts more).
func decodePoint(p *edwards25519.Point, b []byte) bool {
	if len(b) != PublicKeySize || !isCanonical([PublicKeySize]byte(b)) {
		return false
	}
	_, err := p.SetBytes(b)
	return err == nil
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
