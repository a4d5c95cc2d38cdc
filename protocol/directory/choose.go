package directory

import (
	"math/rand/v2"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
)

// maxDraws is how often Choose draws before it looks at all peers. One in two
// of them eligible makes that a chance of 2^-32.
const maxDraws = 32

// Choose draws the next holder among the other members that are eligible at the
// time now, that can be reached (they have an address or a live connection) and
// that exclude does not name. ok is false when there is none. exclude may be
// nil.
//
// Where every member can be dialled, all have the same chance. A member that
// only dials out can be handed a token only over the connections that it keeps.
// So each member that it is attached to chooses it with a chance of 1/a, where
// a is the number of its attachments. With the rest of its chances a member
// chooses among the members that can be dialled; a member that only dials out
// does the same. Each of these gets a chance in proportion to f - u, where u is
// the chance with which that member chooses those attached to it, and f is the
// sum of all u. That makes the matrix of all chances doubly stochastic: in the
// long run every member is visited equally often. This holds while the chances
// of the members attached to one member sum to at most 1. Where the sum is
// more, it is scaled down to 1: the members that can be dialled are still
// visited equally often, and those that cannot are visited less often.
//
// The expected cost grows with the number of members that are attached to this
// one, and not with the size of the group, unless nearly all of the group is
// excluded or expired. The token's walk is only as random as rng: outside
// simulations and tests rng has to be unpredictable.
func (s *Selector) Choose(rng rand.Source, now time.Time, exclude func(ident.Member) bool) (m ident.Member, ok bool) {
	random := rand.New(rng)
	eligible := func(f *facts) bool {
		return f.status(now) == nil && (exclude == nil || !exclude(f.id))
	}
	owed, rest := s.chances(eligible)
	// Whatever is drawn and not eligible says nothing about the others, so
	// both ways give the same chances, and so does one after the other.
	peers := s.pools[peer]
	for range min(maxDraws, len(peers)) {
		if owed > 0 {
			if at := random.Uint64N(owed + rest); at < owed {
				return s.client(at, eligible), true
			}
		}
		f := peers[random.IntN(len(peers))]
		if eligible(f) && !s.passesOver(f, random) {
			return f.id, true
		}
	}
	return s.chooseAmongAll(random, eligible, owed, rest)
}

// chances is the chances of the eligible clients together, and of all peers
// together, in parts of whole. Clients for whom it is not enough leave the
// peers nothing while one of them is eligible.
func (s *Selector) chances(eligible func(*facts) bool) (owed, rest uint64) {
	all := uint64(0)
	for _, f := range s.pools[client] {
		part := uint64(s.links.part(f.id))
		all += part
		if eligible(f) {
			owed += part
		}
	}
	if owed == 0 {
		return 0, whole
	}
	return owed, whole - min(all, whole)
}

// client is the eligible client in whose part of their chances this one lies.
func (s *Selector) client(at uint64, eligible func(*facts) bool) (m ident.Member) {
	for _, f := range s.pools[client] {
		if !eligible(f) {
			continue
		}
		part := uint64(s.links.part(f.id))
		if at < part {
			return f.id
		}
		at -= part
	}
	return m // not reached: at is below the sum
}

// passesOver draws whether this member, if it only dials out, leaves out a peer
// that has visits enough from those attached to it.
func (s *Selector) passesOver(f *facts, random *rand.Rand) bool {
	weight, most := s.weight(f)
	return weight < most && random.Uint64N(most) >= weight
}

// weight is the chance of a peer in proportion to those of the others; most is
// what nobody's is above. In a sample the links of few are known, and what they
// correct is small.
func (s *Selector) weight(f *facts) (weight, most uint64) {
	if s.sample != nil || s.links.flow == 0 || s.links.part(s.known.self) == 0 {
		return 1, 1
	}
	return s.links.flow - uint64(s.links.busy(f.id)), s.links.flow
}

// chooseAmongAll looks at everybody once.
func (s *Selector) chooseAmongAll(random *rand.Rand, eligible func(*facts) bool, owed, rest uint64) (m ident.Member, ok bool) {
	peers := s.pools[peer]
	m, n := peers.pick(random, eligible, func(f *facts) uint64 { w, _ := s.weight(f); return w })
	if owed > 0 {
		// The peers that are not eligible take their parts of rest with them.
		mine, theirs := owed*uint64(len(peers)), rest*uint64(n)
		if n == 0 || random.Uint64N(mine+theirs) < mine {
			return s.client(random.Uint64N(owed), eligible), true
		}
	}
	if n == 0 {
		m, n = s.pools[spare].pick(random, eligible, func(*facts) uint64 { return 1 })
	}
	return m, n > 0
}

// Candidates returns the number of other members that have not departed and can
// be passed a token from here. The certificates of some may have expired.
func (s *Selector) Candidates() int { return s.pools.len() }
