package directory

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"math"
	"math/rand/v2"

	"github.com/wandertoken/wander/protocol/ident"
)

// MaxSample bounds a sample: ten times what a million members need. Every
// member that is shown costs one block of AES for each slot.
const MaxSample = 1024

// sampleFactor makes it practically impossible that a member is in nobody's
// sample: in a group of n that happens to one with a chance of n^-8. Three
// quarters of every sample may be out of reach and it still is n^-2. A larger
// factor makes the samples more even (see SampleSize), but slowly.
const sampleFactor = 8

// SampleSize is how many others a member of a group of n should know when it
// does not know everybody: 8·ln n, rounded up, and at least 1. A member is then
// in as many samples as that, give or take the square root: the shares of two
// members differ for as long as their samples last by 13 % (standard deviation)
// among a thousand, by 10 % among a million. Directory.Refresh evens that out.
func SampleSize(n int) int {
	k := math.Ceil(sampleFactor * math.Log(float64(max(n, 1))))
	return min(max(int(k), 1), MaxSample)
}

// sample is a part of a group, each slot of it drawn uniformly among all
// members that were ever shown to it. How often and in what order they were
// shown makes no difference, so that nobody gets into more samples by being
// talked about more. These are the min-wise samplers of Bortnikov, Gurevich,
// Keidar, Kliot and Shraer, "Brahms: Byzantine resilient random membership
// sampling", §3.1.
type sample struct {
	slots []slot
	held  map[ident.Member]int // in how many slots
	turn  int                  // the slot that renew empties next

	id, rank [aes.BlockSize]byte // so that a call of cipher.Block allocates nothing
}

// slot holds the member whose id comes first in a random order of all ids. The
// order is that of their images under a permutation with a secret key: nobody
// can choose a key pair, and so an id, that comes first.
type slot struct {
	order cipher.Block
	id    ident.Member // zero: nobody
	rank  [aes.BlockSize]byte
}

// An id is one block, so that no two ids have the same rank.
var _ = [1]struct{}{}[ident.MemberSize-aes.BlockSize]

func newSample(k int, random *rand.Rand) *sample {
	s := &sample{slots: make([]slot, k), held: make(map[ident.Member]int)}
	for i := range s.slots {
		s.slots[i].order = newOrder(random)
	}
	return s
}

func newOrder(random *rand.Rand) cipher.Block {
	var key [16]byte
	for i := range key {
		key[i] = byte(random.Uint32())
	}
	order, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // 16 bytes are a key
	}
	return order
}

// holds reports whether m is in the sample.
func (s *sample) holds(m ident.Member) bool { return s.held[m] > 0 }

// before reports whether m comes before the member of a slot, and leaves its
// rank in s.rank.
func (s *sample) before(m ident.Member, at *slot) bool {
	s.id = m
	at.order.Encrypt(s.rank[:], s.id[:])
	return at.id.IsZero() || bytes.Compare(s.rank[:], at.rank[:]) < 0
}

// wants reports whether the sample would change if m was shown to it.
func (s *sample) wants(m ident.Member) bool {
	for i := range s.slots {
		if s.before(m, &s.slots[i]) {
			return true
		}
	}
	return false
}

// show offers m to every slot, and returns those who are in none any more.
func (s *sample) show(m ident.Member) (gone []ident.Member) {
	for i := range s.slots {
		at := &s.slots[i]
		if !s.before(m, at) {
			continue
		}
		if s.release(at.id) {
			gone = append(gone, at.id)
		}
		at.id, at.rank = m, s.rank
		s.held[m]++
	}
	return gone
}

// release takes m out of one slot, and reports whether that was the last.
func (s *sample) release(m ident.Member) (last bool) {
	n, held := s.held[m]
	if n > 1 {
		s.held[m] = n - 1
		return false
	}
	delete(s.held, m)
	return held
}

// drop takes m out of every slot: it is no member any more, or cannot be
// reached. Whoever is shown next takes its place.
func (s *sample) drop(m ident.Member) {
	if !s.holds(m) {
		return
	}
	for i := range s.slots {
		if s.slots[i].id == m {
			s.slots[i].id = ident.Member{}
		}
	}
	delete(s.held, m)
}

// renew gives the slot whose turn it is another order. Its member stays until
// one is shown that comes before it, which is the case for half of them.
func (s *sample) renew(random *rand.Rand) {
	if len(s.slots) == 0 {
		return
	}
	at := &s.slots[s.turn]
	s.turn = (s.turn + 1) % len(s.slots)
	at.order = newOrder(random)
	if !at.id.IsZero() {
		s.before(at.id, at)
		at.rank = s.rank
	}
}
