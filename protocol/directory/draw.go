package directory

import (
	"math/rand/v2"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
)

// DrawSome appends n different members, all sets of n with the same chance, of those that
// are in good standing at the time now, can be reached from here (have an address or a
// live connection), are not this member itself and not excluded; fewer where there are
// fewer. exclude may be nil.
//
// Unlike Choose it does not even out who is visited, and takes who only dials out for
// anybody else. The expected cost grows with n, not with the size of the group, unless
// most of it is excluded, expired or asked for.
func (d *Directory) DrawSome(rng rand.Source, n int, now time.Time, exclude func(ident.Member) bool, to []ident.Member) []ident.Member {
	random, drawn := rand.New(rng), make(map[*facts]bool, min(n, d.Candidates()))
	eligible := func(f *facts) bool {
		return !drawn[f] && f.status(now) == nil && (exclude == nil || !exclude(f.id))
	}
	for n > len(drawn) && 2*n < d.Candidates() {
		f := d.tryDraw(random, eligible)
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
	for _, p := range d.pools {
		for _, f := range p {
			if eligible(f) {
				rest = append(rest, f.id)
			}
		}
	}
	random.Shuffle(len(rest), func(i, k int) { rest[i], rest[k] = rest[k], rest[i] })
	return append(to, rest[:min(n-len(drawn), len(rest))]...)
}

// Count is how many members DrawSome draws from.
func (d *Directory) Count(now time.Time, exclude func(ident.Member) bool) (n int) {
	for _, p := range d.pools {
		for _, f := range p {
			if f.status(now) == nil && (exclude == nil || !exclude(f.id)) {
				n++
			}
		}
	}
	return n
}

// tryDraw draws one of the eligible, or is nil when that takes too long.
func (d *Directory) tryDraw(random *rand.Rand, eligible func(*facts) bool) *facts {
	all := d.Candidates()
	for range maxDraws {
		if f := d.candidate(random.IntN(all)); eligible(f) {
			return f
		}
	}
	return nil
}

// candidate is one of the Candidates by its number.
func (d *Directory) candidate(at int) *facts {
	for _, p := range d.pools {
		if at < len(p) {
			return p[at]
		}
		at -= len(p)
	}
	panic("directory: no such candidate") // at is below Candidates
}
