package directory

import (
	"math/rand/v2"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
)

// role is what another member is when the next holder is chosen.
type role uint8

const (
	// nobody: dead permanently, out of reach from here, or this member itself.
	nobody role = iota
	// peer: can be dialled, or has a live connection and says nothing about
	// how it can be reached. Each has the same chance.
	peer
	// client: only dials out, has a live connection, and says that it is
	// attached to this member, which owes it a part of its visits.
	client
	// spare: has a live connection and gets its visits from others. It is
	// chosen when there is nobody else.
	spare
	roles
)

// pool holds members of one role without gaps, so that one can be drawn by
// index. Each knows its place in it.
type pool []*facts

func (p *pool) add(f *facts) {
	f.place = len(*p)
	*p = append(*p, f)
}

// remove moves the last member to the place that becomes free.
func (p *pool) remove(f *facts) {
	end := len(*p) - 1
	last := (*p)[end]
	(*p)[f.place], last.place = last, f.place
	(*p)[end] = nil
	*p = (*p)[:end]
}

// pick draws among the eligible in proportion to their weights, or with equal
// chances if all weights are 0, in one pass: each replaces the one picked so far
// with the chance that it has against all before it. n is how many are eligible.
func (p pool) pick(random *rand.Rand, eligible func(*facts) bool, weight func(*facts) uint64) (m ident.Member, n int) {
	sum := uint64(0)
	for _, f := range p {
		if !eligible(f) {
			continue
		}
		n++
		w := weight(f)
		sum += w
		if sum == 0 && random.IntN(n) == 0 || sum > 0 && random.Uint64N(sum) < w {
			m = f.id
		}
	}
	return m, n
}

// pools are the members that can be handed a token from here, by role.
type pools [roles]pool

// move puts a member whose role has changed into the pool of the new one.
func (ps *pools) move(f *facts, old role) {
	if old != nobody {
		ps[old].remove(f)
	}
	if f.role != nobody {
		ps[f.role].add(f)
	}
}

// len is how many members are in all pools.
func (ps *pools) len() (n int) {
	for _, p := range ps {
		n += len(p)
	}
	return n
}

// at is one of all members by its number, below len.
func (ps *pools) at(n int) *facts {
	for _, p := range ps {
		if n < len(p) {
			return p[n]
		}
		n -= len(p)
	}
	panic("directory: no such candidate")
}

// failedPool holds, without gaps, the members that have failed and can be dialled. Each
// knows its place in it.
type failedPool []*facts

func (p *failedPool) add(f *facts) {
	f.rare.place = len(*p)
	*p = append(*p, f)
}

// remove moves the last member to the place that becomes free.
func (p *failedPool) remove(f *facts) {
	end := len(*p) - 1
	last := (*p)[end]
	(*p)[f.rare.place], last.rare.place = last, f.rare.place
	(*p)[end] = nil
	*p, f.rare.place = (*p)[:end], absent
}

// draw draws one with a valid certificate, uniformly.
func (p failedPool) draw(random *rand.Rand, now time.Time) (m ident.Member, ok bool) {
	for range min(maxDraws, len(p)) {
		if f := p[random.IntN(len(p))]; f.valid(now) {
			return f.id, true
		}
	}
	n := 0
	for _, f := range p {
		if !f.valid(now) {
			continue
		}
		if n++; random.IntN(n) == 0 {
			m = f.id
		}
	}
	return m, n > 0
}
