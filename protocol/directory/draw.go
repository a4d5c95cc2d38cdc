package directory

import (
	"math/rand/v2"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
)

// DrawSome draws n different members and appends them, every set of n with the
// same chance. It draws from the other members that are eligible at the time
// now, that can be reached from here (they have an address or a live
// connection) and that exclude does not name. It appends fewer where there are
// fewer. exclude may be nil.
//
// Unlike Choose, DrawSome does not even out visits, and treats a member that
// only dials out like any other. The expected cost grows with n and not with
// the size of the group, unless most of the group is excluded, expired or asked
// for.
func (s *Selector) DrawSome(rng rand.Source, n int, now time.Time, exclude func(ident.Member) bool, to []ident.Member) []ident.Member {
	random, drawn := rand.New(rng), make(map[*facts]bool, min(n, s.Candidates()))
	eligible := func(f *facts) bool {
		return !drawn[f] && f.status(now) == nil && (exclude == nil || !exclude(f.id))
	}
	for n > len(drawn) && 2*n < s.Candidates() {
		f := s.tryDraw(random, eligible)
		if f == nil {
			break
		}
		drawn[f] = true
		to = append(to, f.id)
	}
	if n <= len(drawn) {
		return to
	}
	var rest []ident.Member
	for _, p := range s.pools {
		for _, f := range p {
			if eligible(f) {
				rest = append(rest, f.id)
			}
		}
	}
	random.Shuffle(len(rest), func(i, k int) { rest[i], rest[k] = rest[k], rest[i] })
	return append(to, rest[:min(n-len(drawn), len(rest))]...)
}

// Count returns how many members DrawSome draws from.
func (s *Selector) Count(now time.Time, exclude func(ident.Member) bool) (n int) {
	for _, p := range s.pools {
		for _, f := range p {
			if f.status(now) == nil && (exclude == nil || !exclude(f.id)) {
				n++
			}
		}
	}
	return n
}

// tryDraw draws one of the eligible, or is nil when that takes too long.
func (s *Selector) tryDraw(random *rand.Rand, eligible func(*facts) bool) *facts {
	all := s.Candidates()
	for range maxDraws {
		if f := s.pools.at(random.IntN(all)); eligible(f) {
			return f
		}
	}
	return nil
}
