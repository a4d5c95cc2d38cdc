package directory

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/wandertoken/wander/protocol/ident"
)

// MaxSample bounds a sample: ten times the SampleSize of a million members.
// Offering one member to a sample costs a step for each member in it.
const MaxSample = 1024

// sampleFactor makes it practically impossible that a member is in nobody's
// sample: in a group of n that happens to one with a chance of n^-8. Three
// quarters of every sample may be out of reach and it still is n^-2. A larger
// factor makes the samples more even (see SampleSize), but slowly.
const sampleFactor = 8

// SampleSize returns how many others a member of a group of n should know when
// it does not know everybody: 8·ln n, rounded up, and at least 1. A member is
// then in as many samples as that, give or take the square root. So while the
// samples stay, its share of the visits is off by 13 % (standard deviation)
// among a thousand members, and by 10 % among a million. Directory.Refresh
// evens that out.
func SampleSize(n int) int {
	k := math.Ceil(sampleFactor * math.Log(float64(max(n, 1))))
	return min(max(int(k), 1), MaxSample)
}

// sample is a part of a group, each slot of it drawn uniformly among all
// members that were shown to it while it was drawn. How often and in what order
// they were shown makes no difference, so that nobody gets into more samples by
// being talked about more. These are the min-wise samplers of Bortnikov,
// Gurevich, Keidar, Kliot and Shraer, "Brahms: Byzantine resilient random
// membership sampling", §3.1.
type sample struct {
	slots []slot
	used  map[ident.Member]int // the sample, and in how many slots each is
	drawn map[ident.Member]int // those who are going to be in it, as things stand
	turn  int                  // the slot that renew comes to next
	shown uint64               // how many members peers have told of
	least uint64               // so often while a slot draws

	secret cipher.Block
	block  [aes.BlockSize]byte // so that a call of secret allocates nothing
}

// slot holds a member, and meanwhile draws the one that is to follow: the one of
// lowest rank. Without one to hold it holds the one it draws.
type slot struct {
	id    ident.Member // zero: nobody
	salt  digest
	next  ident.Member // zero: nobody was shown yet
	rank  uint64       // of next; above all others without one
	since uint64       // shown, when it began to draw
}

// digest is the image of an id under a permutation with a key that is this
// sample's secret: nobody can choose a key pair, and so an id, with a low rank.
type digest [2]uint64

// An id is one block.
var _ = [1]struct{}{}[ident.MemberSize-aes.BlockSize]

func (s *sample) digest(m ident.Member) digest {
	s.block = m
	s.secret.Encrypt(s.block[:], s.block[:])
	return digest{binary.LittleEndian.Uint64(s.block[:8]), binary.LittleEndian.Uint64(s.block[8:])}
}

// rankOf is a number for each member, in each slot another one, and each as
// likely to be the lowest: the two halves of a product, folded.
func (at *slot) rankOf(d digest) uint64 {
	high, low := bits.Mul64(d[0]^at.salt[0], d[1]^at.salt[1])
	return high ^ low
}

// takes reports whether a slot would draw the member with this digest.
func (at *slot) takes(d digest) bool { return at.rankOf(d) < at.rank }

// nobodysRank is that of an empty slot. That a member has it, and is not taken,
// happens once in 2^64 times.
const nobodysRank = math.MaxUint64

func newSample(k int, random *rand.Rand) *sample {
	var key [16]byte
	binary.LittleEndian.PutUint64(key[:8], random.Uint64())
	binary.LittleEndian.PutUint64(key[8:], random.Uint64())
	secret, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // 16 bytes are a key
	}
	s := &sample{
		slots: make([]slot, k), used: make(map[ident.Member]int), drawn: make(map[ident.Member]int),
		least: enough(k), secret: secret,
	}
	for i := range s.slots {
		s.slots[i].salt, s.slots[i].rank = newSalt(random), nobodysRank
	}
	return s
}

func newSalt(random *rand.Rand) digest { return digest{random.Uint64(), random.Uint64()} }

// enough is how many members a slot has to be shown before one of them is drawn.
// A sample of size k is meant for a group of e^(k/8). Members tell each other of
// those in their samples, so who is in many is shown more often; shown three
// times as many as there are, a slot has missed 5 % of them only, and it hardly
// matters who was more often shown than others. Drawn among few, those who are
// in many samples would get into even more, until chance turns.
func enough(k int) uint64 {
	return uint64(3 * min(math.Exp(float64(k)/sampleFactor), MaxMembers))
}

// use is the member that the slot puts into the sample.
func (at *slot) use() ident.Member {
	if at.id.IsZero() {
		return at.next
	}
	return at.id
}

// holds reports whether m is in the sample.
func (s *sample) holds(m ident.Member) bool { return s.used[m] > 0 }

// needs reports whether m is in the sample or going to be.
func (s *sample) needs(m ident.Member) bool { return s.used[m] > 0 || s.drawn[m] > 0 }

// wants reports whether a slot would draw m if it was shown.
func (s *sample) wants(m ident.Member) bool {
	d := s.digest(m)
	for i := range s.slots {
		if s.slots[i].takes(d) {
			return true
		}
	}
	return false
}

// show offers m to every slot, and returns those who have come into the sample
// or gone from it.
func (s *sample) show(m ident.Member) (moved []ident.Member) {
	d := s.digest(m)
	for i := range s.slots {
		if at := &s.slots[i]; at.takes(d) {
			moved = s.change(moved, at, at.id, m)
			at.rank = at.rankOf(d)
		}
	}
	return moved
}

// drop takes m out of every slot: it has departed, or cannot be
// dialled. It returns those who have come into the sample or gone from it.
func (s *sample) drop(m ident.Member) (moved []ident.Member) {
	if !s.needs(m) {
		return nil
	}
	for i := range s.slots {
		at := &s.slots[i]
		id, next := at.id, at.next
		if id == m {
			id = ident.Member{}
		}
		if next == m {
			next, at.rank = ident.Member{}, nobodysRank
		}
		moved = s.change(moved, at, id, next)
	}
	return moved
}

// renew puts the member that a slot has drawn in the place of the one it holds,
// and has it begin to draw another, if it was shown enough. It returns those who
// have come into the sample or gone from it.
func (s *sample) renew(random *rand.Rand) (moved []ident.Member) {
	at := &s.slots[s.turn]
	if at.next.IsZero() || s.shown-at.since < s.least {
		return nil
	}
	s.turn = (s.turn + 1) % len(s.slots)
	at.salt, at.rank, at.since = newSalt(random), nobodysRank, s.shown
	return s.change(nil, at, at.next, ident.Member{})
}

// change gives a slot other members, and adds to moved who has come into the
// sample or gone from it.
func (s *sample) change(moved []ident.Member, at *slot, id, next ident.Member) []ident.Member {
	before := at.use()
	count(s.drawn, at.next, -1)
	at.id, at.next = id, next
	count(s.drawn, next, 1)
	after := at.use()
	if after == before {
		return moved
	}
	if count(s.used, before, -1) == 0 {
		moved = append(moved, before)
	}
	if count(s.used, after, 1) == 1 {
		moved = append(moved, after)
	}
	return moved
}

// count adds to the number of m and returns it; nobody has none.
func count(in map[ident.Member]int, m ident.Member, by int) int {
	if m.IsZero() {
		return -1
	}
	n := in[m] + by
	if in[m] = n; n == 0 {
		delete(in, m)
	}
	return n
}

// SetSample has the directory draw from a random sample of k members instead of
// from all. The sample is drawn from all members that the directory hears of
// from now on. k is at most MaxSample (see SampleSize), and 0 ends sampling. A
// member with a live connection can still be handed a token when none of the
// sample can. The directory keeps revocations in full. rng has to be
// unpredictable. The cost grows with the number of members.
//
// A sample suits policies that pass tokens to any member. A ring needs all
// members: After and Before know only those in the sample.
//
// A member that cannot be dialled is in nobody's sample; the members that it is
// attached to know it.
func (s *Selector) SetSample(k int, rng rand.Source) {
	s.sample = nil
	if k > 0 {
		s.sample = newSample(min(k, MaxSample), rand.New(rng))
	}
	for f := range s.known.order.from(ident.Member{}) {
		s.update(f)
	}
}

// Refresh replaces one member of the sample by one that the directory has drawn
// meanwhile, and begins to draw the next from those that it hears of from now
// on. A member calls it once each gossip_interval. So a member that is in many
// samples now is in few some time later, and all shares are equal in the long
// run. After k intervals a sample of k members is another one. It takes longer
// where a member hears of few others, because a replacement has to be drawn
// among three times as many as the group has. Without a sample Refresh does
// nothing. rng has to be unpredictable.
//
// Members hear of others by LearnPage, Learn, Admit and Connected. In each
// comparison a member asks its peer for a page of members, from a random id on.
// The peer itself becomes known by the connection.
func (s *Selector) Refresh(rng rand.Source) {
	if s.sample != nil {
		s.updateRoles(s.sample.renew(rand.New(rng)))
	}
}

// Wants reports whether this directory has a use for a member m that a peer
// mentions. Without a sample it always has; with one it has if m is known
// already or would be in the sample. Asking Wants costs much less than
// verifying a certificate.
func (s *Selector) Wants(m ident.Member) bool {
	return s.sample == nil || s.known.members[m] != nil || s.sample.wants(m)
}

// resample shows a member to the sample, or drops it from there when it can not
// be dialled any more, and returns those who have come into the sample or gone
// from it.
func (s *Selector) resample(f *facts) (moved []ident.Member) {
	switch {
	case s.sample == nil || f.id == s.known.self:
		return nil
	case f.alive() && f.reachable():
		return s.sample.show(f.id)
	}
	return s.sample.drop(f.id)
}

// mentioned shows a member to the sample of which a peer tells, whether or not it
// is known and that is news.
func (s *Selector) mentioned(m ident.Member) {
	if s.sample == nil {
		return
	}
	s.sample.shown++
	if f := s.known.members[m]; f != nil {
		s.updateRoles(s.resample(f))
	}
}

func (s *Selector) updateRoles(list []ident.Member) {
	for _, m := range list {
		s.updateRole(s.known.members[m])
	}
}

// unsampled reports whether a member is of no use to the sample.
func (s *Selector) unsampled(f *facts) bool {
	return s.sample != nil && !s.sample.needs(f.id)
}
