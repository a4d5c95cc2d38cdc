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

// SetSample has the directory choose among a random sample of k members, of all
// that it hears of from now on, instead of all; 0 ends that. k is at most
// MaxSample; see SampleSize. Whoever has a live connection can still be handed
// a token when nobody of the sample can. Revocations are kept in full. rng has
// to be unpredictable. The cost grows with the number of members.
//
// A sample is for policies that pass tokens to anybody. A ring needs all
// members: After and Before tell of those in the sample only.
//
// Members that cannot be dialled are in nobody's sample: those that they are
// attached to know them.
func (d *Directory) SetSample(k int, rng rand.Source) {
	d.sample = nil
	if k > 0 {
		d.sample = newSample(min(k, MaxSample), rand.New(rng))
	}
	for f := range d.order.from(ident.Member{}) {
		d.settle(f)
	}
}

// Refresh has the directory draw one of its sample anew, among those that it
// hears of from now on. A member calls it once each gossip_interval, so that
// who is in many samples now is in few some time later, and the shares of all
// are equal in the long run: the sample of k members is another one after k
// intervals. Without a sample it does nothing. rng has to be unpredictable.
func (d *Directory) Refresh(rng rand.Source) {
	if d.sample != nil {
		d.sample.renew(rand.New(rng))
	}
}

// Wants reports whether it is of use to learn of m, of whom a peer tells unasked
// or among others: always without a sample, and with one when m would be in it,
// or is known already. Asking costs much less than verifying a certificate.
func (d *Directory) Wants(m ident.Member) bool {
	return d.sample == nil || d.members[m] != nil || d.sample.wants(m)
}

// resample shows a member to the sample, or drops it from there when it can not
// be dialled any more, and returns those who are not in it any more.
func (d *Directory) resample(f *facts) (gone []ident.Member) {
	switch {
	case d.sample == nil || f.id == d.self:
		return nil
	case f.alive() && len(f.addresses()) > 0:
		return d.sample.show(f.id)
	}
	d.sample.drop(f.id)
	return nil
}
