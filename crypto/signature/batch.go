package signature

import (
	"crypto/sha512"
	"encoding/binary"
	"io"

	"filippo.io/edwards25519"
)

// batchPays is the least number of signatures for which one equation is
// faster than one after the other.
const batchPays = 4

// Batch collects signatures to be verified together. The verdicts are those of
// PublicKey.Verify, always; only the cost differs, and the more signatures are
// of one key, the lower it is. The zero value is empty and ready. A Batch is
// not safe for concurrent use.
type Batch struct {
	items []item
}

// item is a signature with the challenge of its message, so that the message
// need not be kept.
type item struct {
	key *PublicKey
	sig parsed
	c   *edwards25519.Scalar
	err error
}

// Add takes in one signature; neither slice is kept. The verdict on it stands
// in the answer of Verify at the index that Len had before.
func (b *Batch) Add(key *PublicKey, message, sig []byte) {
	s, err := parseSignature(sig)
	it := item{key: key, sig: s, err: err}
	if err == nil {
		it.c = challenge(sig, &key.bytes, message)
		it.sig.bytes = append([]byte(nil), sig...)
	}
	b.items = append(b.items, it)
}

// Len is how many signatures have been added.
func (b *Batch) Len() int { return len(b.items) }

// Verify returns nil when all signatures are good, otherwise one verdict for
// each, nil, ErrEncoding or ErrMismatch, in the order of Add.
//
// random makes the coefficients of the common equation unpredictable to
// whoever made the signatures. They also depend on all the signatures, so a
// weak, failing or nil source does not help to smuggle one in; it only lets
// the same batch be computed the same way again. A batch that fails is checked
// one by one.
func (b *Batch) Verify(random io.Reader) []error {
	if b.wellFormed() && len(b.items) >= batchPays && b.holds(random) {
		return nil
	}
	return b.each()
}

func (b *Batch) wellFormed() bool {
	for i := range b.items {
		if b.items[i].err != nil {
			return false
		}
	}
	return true
}

func (b *Batch) each() []error {
	errs, bad := make([]error, len(b.items)), false
	for i := range b.items {
		it := &b.items[i]
		if errs[i] = it.err; errs[i] == nil {
			errs[i] = it.key.verify(it.c, it.sig)
		}
		bad = bad || errs[i] != nil
	}
	if !bad {
		return nil
	}
	return errs
}

// holds checks [8] sum z_i([S_i]B - [k_i]A_i - R_i) = 0 with one coefficient
// z_i for each signature and one term for each key.
func (b *Batch) holds(random io.Reader) bool {
	z := b.coefficients(random)
	n := len(b.items)
	scalars := make([]*edwards25519.Scalar, 1, 2*n+1)
	points := make([]*edwards25519.Point, 1, 2*n+1)
	base := edwards25519.NewScalar()
	scalars[0], points[0] = base, edwards25519.NewGeneratorPoint()
	terms := make(map[[PublicKeySize]byte]*edwards25519.Scalar, n)
	for i := range b.items {
		it := &b.items[i]
		base.MultiplyAdd(z[i], &it.sig.s, base)
		term, known := terms[it.key.bytes]
		if !known {
			term = edwards25519.NewScalar()
			terms[it.key.bytes] = term
			scalars, points = append(scalars, term), append(points, &it.key.minus)
		}
		term.MultiplyAdd(z[i], it.c, term)
		minusR := new(edwards25519.Point).Negate(&it.sig.r)
		scalars, points = append(scalars, z[i]), append(points, minusR)
	}
	return isSmallOrder(new(edwards25519.Point).VarTimeMultiScalarMult(scalars, points))
}

// coefficients are 128-bit numbers that nobody can choose signatures for: a
// hash of random bytes and of everything in the batch, expanded by a counter.
func (b *Batch) coefficients(random io.Reader) []*edwards25519.Scalar {
	h := sha512.New()
	var seed [sha512.Size]byte
	if random != nil {
		io.ReadFull(random, seed[:32]) // what is missing stays zero, see Verify
	}
	h.Write(seed[:32])
	for i := range b.items {
		it := &b.items[i]
		h.Write(it.key.bytes[:])
		h.Write(it.sig.bytes)
		h.Write(it.c.Bytes())
	}
	h.Sum(seed[:0])
	z := make([]*edwards25519.Scalar, len(b.items))
	for i := range z {
		z[i] = expand(&seed, uint32(i))
	}
	return z
}

// expand is the i-th coefficient of a seed.
func expand(seed *[sha512.Size]byte, i uint32) *edwards25519.Scalar {
	var in [sha512.Size + 4]byte
	copy(in[:], seed[:])
	binary.BigEndian.PutUint32(in[sha512.Size:], i)
	digest := sha512.Sum512(in[:])
	var half [32]byte
	copy(half[:16], digest[:])
	z, err := edwards25519.NewScalar().SetCanonicalBytes(half[:])
	if err != nil {
		panic(err) // 128 bits are always below the group order
	}
	return z
}
