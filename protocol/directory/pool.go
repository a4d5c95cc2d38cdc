package directory

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
)

// pool holds the candidates without gaps, so that one can be drawn by index.
// Each knows its place in it.
type pool []*facts

func (p *pool) add(f *facts) {
	f.place = len(*p)
	*p = append(*p, f)
}

// remove moves the last candidate to the place that becomes free.
func (p *pool) remove(f *facts) {
	end := len(*p) - 1
	last := (*p)[end]
	(*p)[f.place], last.place = last, f.place
	(*p)[end] = nil
	*p, f.place = (*p)[:end], absent
}

// maxDraws is how often Choose draws before it looks at all candidates. One in
// two of them eligible makes that a chance of 2^-32.
const maxDraws = 32

// Choose draws a member uniformly among all that are in good standing at the
// time now, can be reached (have an address or a live connection), are not
// this member itself and not excluded; ok is false when there is none. The
// expected cost does not depend on the size of the group, unless nearly all of
// it is excluded or expired. exclude may be nil.
//
// The token's walk is as random as rng is: outside simulations and tests it
// has to be unpredictable.
func (d *Directory) Choose(rng rand.Source, now time.Time, exclude func(ident.Member) bool) (m ident.Member, ok bool) {
	random := rand.New(rng)
	eligible := func(f *facts) bool {
		return f.status(now) == nil && (exclude == nil || !exclude(f.id))
	}
	// Whatever is drawn and not eligible says nothing about the others, so
	// both ways are uniform, and so is one after the other.
	for range min(maxDraws, len(d.pool)) {
		if f := d.pool[random.IntN(len(d.pool))]; eligible(f) {
			return f.id, true
		}
	}
	return d.pool.pick(random, eligible)
}

// pick draws among all eligible candidates, in one pass: the n-th replaces
// the one picked so far with a chance of 1/n.
func (p pool) pick(random *rand.Rand, eligible func(*facts) bool) (m ident.Member, ok bool) {
	n := 0
	for _, f := range p {
		if !eligible(f) {
			continue
		}
		if n++; random.IntN(n) == 0 {
			m = f.id
		}
	}
	return m, n > 0
}

// Candidates is how many members, other than this one, are not revoked and can
// be reached. Some of their certificates may have run out.
func (d *Directory) Candidates() int { return len(d.pool) }

// After is the member that follows this one in the order of ids, the first
// after the last, among those that Choose would draw from. The cost grows with
// the number of members that are passed over. exclude may be nil.
func (d *Directory) After(now time.Time, exclude func(ident.Member) bool) (m ident.Member, ok bool) {
	return d.beside(1, now, exclude)
}

// Before is the member that this one follows, as in After.
func (d *Directory) Before(now time.Time, exclude func(ident.Member) bool) (m ident.Member, ok bool) {
	return d.beside(-1, now, exclude)
}

func (d *Directory) beside(step int, now time.Time, exclude func(ident.Member) bool) (m ident.Member, ok bool) {
	ids := d.order.ascending()
	at, found := slices.BinarySearchFunc(ids, d.self, ident.Member.Compare)
	if !found && step > 0 {
		at-- // the first step leads to where this member would stand
	}
	for range ids {
		at = (at + step + len(ids)) % len(ids)
		f := d.members[ids[at]]
		if f.id != d.self && f.place != absent && f.status(now) == nil && (exclude == nil || !exclude(f.id)) {
			return f.id, true
		}
	}
	return ident.Member{}, false
}
