package signature

import (
	"crypto/sha512"
	"encoding/binary"
	"io"

	"filippo.io/edwards25519"
)

// What verification costs, in units of about a microsecond, measured by the
// benchmarks: alone by a key with and without its table, and in a batch once,
// for each key and for each signature.
const (
	costAlone      = 49
	costAloneTable = 29
	costBatch      = 45
	costBatchKey   = 10
	costBatchEach  = 12
)

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
	c   edwards25519.Scalar
	err error  // ErrEncoding, or the verdict
	of  digest // for the key's memory
	// known says that err is the key's memory of the verdict: sig and c are not there.
	known bool
}

// Add takes in one signature; neither slice is kept. The verdict on it is in
// the answer of Verify at the index that Len had before.
func (b *Batch) Add(key *PublicKey, message, sig []byte) {
	b.items = append(b.items, item{key: key})
	it := &b.items[len(b.items)-1]
	var good bool
	if it.of, good, it.known = key.recall(message, sig); it.known {
		it.judge(good)
	} else if it.err = it.sig.parse(sig); it.err == nil {
		challenge(&it.c, sig, &key.bytes, message)
	}
}

// judge sets the verdict.
func (it *item) judge(good bool) {
	if !good {
		it.err = ErrMismatch
	}
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
	if b.wellFormed() && b.pays() && b.holds(random) {
		return nil
	}
	return b.each()
}

func (b *Batch) wellFormed() bool {
	for i := range b.items {
		if b.items[i].err == ErrEncoding {
			return false
		}
	}
	return true
}

func (b *Batch) each() []error {
	errs, bad := make([]error, len(b.items)), false
	for i := range b.items {
		it := &b.items[i]
		switch {
		case it.known:
			it.key.use()
		case it.err == nil:
			good := it.key.holds(&it.c, &it.sig)
			it.key.note(it.of, good)
			it.judge(good)
		}
		errs[i] = it.err
		bad = bad || it.err != nil
	}
	if !bad {
		return nil
	}
	return errs
}

// holds checks [8] sum z_i([S_i]B - [k_i]A_i - R_i) = 0 with one coefficient
// z_i for each signature and one term for each key. Signatures whose verdict is known
// are no part of it.
func (b *Batch) holds(random io.Reader) bool {
	base := new(edwards25519.Scalar)
	e := equation{terms: make(map[[PublicKeySize]byte]*edwards25519.Scalar)}
	z := b.coefficients(random)
	for i := range b.items {
		switch it := &b.items[i]; {
		case it.err != nil:
			return false
		case !it.known:
			base.MultiplyAdd(&z[i], &it.sig.s, base)
			ofKey := e.ofKey(it.key)
			ofKey.MultiplyAdd(&z[i], &it.c, ofKey)
			e.add(&z[i], new(edwards25519.Point).Negate(&it.sig.r))
		}
	}
	if len(e.points) == 0 {
		return true
	}
	e.add(base, edwards25519.NewGeneratorPoint())
	var p edwards25519.Point
	if !isSmallOrder(p.VarTimeMultiScalarMult(e.scalars, e.points)) {
		return false
	}
	for i := range b.items {
		if it := &b.items[i]; !it.known {
			it.key.note(it.of, true)
		}
	}
	return true
}

// equation is the left side of the common equation.
type equation struct {
	scalars []*edwards25519.Scalar
	points  []*edwards25519.Point
	terms   map[[PublicKeySize]byte]*edwards25519.Scalar // by key
}

func (e *equation) add(s *edwards25519.Scalar, p *edwards25519.Point) {
	e.scalars, e.points = append(e.scalars, s), append(e.points, p)
}

// ofKey is the scalar of -A, which all signatures of the key share.
func (e *equation) ofKey(key *PublicKey) *edwards25519.Scalar {
	s, known := e.terms[key.bytes]
	if !known {
		s = new(edwards25519.Scalar)
		e.terms[key.bytes] = s
		e.add(s, &key.minus)
	}
	return s
}

// pays reports whether the common equation is cheaper than one after the other.
// It counts as one use of each key.
func (b *Batch) pays() bool {
	alone, together := 0, costBatch
	keys := make(map[[PublicKeySize]byte]int, len(b.items))
	for i := range b.items {
		key := b.items[i].key
		cost, known := keys[key.bytes]
		if !known {
			cost = costAlone
			if key.use() {
				cost = costAloneTable
			}
			keys[key.bytes] = cost
			together += costBatchKey
		}
		alone += cost
		together += costBatchEach
	}
	return together < alone
}

// coefficients are 128-bit numbers that nobody can choose signatures for: a
// hash of random bytes and of everything in the batch, expanded by a counter.
func (b *Batch) coefficients(random io.Reader) []edwards25519.Scalar {
	h := sha512.New()
	var seed [sha512.Size]byte
	if random != nil {
		io.ReadFull(random, seed[:32]) // what is missing stays zero, see Verify
	}
	h.Write(seed[:32])
	for i := range b.items {
		it := &b.items[i]
		h.Write(it.sig.s.Bytes())
		h.Write(it.c.Bytes()) // which stands for R, the key and the message
	}
	h.Sum(seed[:0])
	z := make([]edwards25519.Scalar, len(b.items))
	for i := range z {
		expand(&z[i], &seed, uint32(i))
	}
	return z
}

// expand sets z to the i-th coefficient of a seed.
func expand(z *edwards25519.Scalar, seed *[sha512.Size]byte, i uint32) {
	var in [sha512.Size + 4]byte
	copy(in[:], seed[:])
	binary.BigEndian.PutUint32(in[sha512.Size:], i)
	digest := sha512.Sum512(in[:])
	var half [32]byte
	copy(half[:16], digest[:])
	if _, err := z.SetCanonicalBytes(half[:]); err != nil {
		panic(err) // 128 bits are always below the group order
	}
}
