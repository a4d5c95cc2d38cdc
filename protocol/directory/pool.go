package directory

import (
	"math/rand/v2"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
)

// role is what another member is when the next holder is chosen.
type role uint8

const (
	// nobody: dead for ever, out of reach from here, or this member itself.
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

// settle gives a member whose facts have changed its role anew, and those who
// come into the sample or go from it because of that.
func (d *Directory) settle(f *facts) {
	d.links.set(f.id, f.attachments(), d.isPeer)
	d.reseat(d.resample(f))
	d.seat(f)
	d.enroll(f)
}

func (d *Directory) seat(f *facts) {
	old := f.role
	f.role = d.roleOf(f)
	if f.role == old {
		return
	}
	if old != nobody {
		d.pools[old].remove(f)
	}
	if f.role != nobody {
		d.pools[f.role].add(f)
	}
	switch peer {
	case old:
		d.links.leave(f.id)
	case f.role:
		d.links.enter(f.id)
	}
}

func (d *Directory) roleOf(f *facts) role {
	switch {
	case f.id == d.self || !f.alive() || !f.connected && !f.reachable():
		return nobody
	case f.dialsOut() && d.links.attachedTo(f.id, d.self):
		return client
	case f.dialsOut():
		return spare
	case d.sample == nil || d.sample.holds(f.id):
		return peer
	case f.connected:
		return spare
	}
	return nobody
}

func (d *Directory) isPeer(m ident.Member) bool {
	f := d.members[m]
	return f != nil && f.role == peer
}

// maxDraws is how often Choose draws before it looks at all peers. One in two
// of them eligible makes that a chance of 2^-32.
const maxDraws = 32

// Choose draws the next holder among the members that are in good standing at
// the time now, can be reached (have an address or a live connection), are not
// this member itself and not excluded; ok is false when there is none. exclude
// may be nil.
//
// Where everybody can be dialled, all have the same chance. A member that only
// dials out can be handed a token only over the connections that it keeps. So
// each member that it is attached to chooses it with a chance of 1/a, where a is
// the number of its attachments, and with what is left of its chances one of
// those who can be dialled; one that only dials out chooses among the latter,
// too, and each in proportion to f - u, where u is the chance with which that
// member chooses those attached to it, and f the sum of all these. That makes
// the matrix of all chances doubly stochastic: in the long run everybody is
// visited equally often, as long as the chances of no member's clients come to
// more than 1. Where they do, they are scaled down to 1; those who can be
// dialled are still visited equally often, and more often than those who cannot.
//
// The expected cost grows with the number of members that are attached to this
// one, not with the size of the group, unless nearly all of it is excluded or
// expired. The token's walk is as random as rng is: outside simulations and
// tests it has to be unpredictable.
func (d *Directory) Choose(rng rand.Source, now time.Time, exclude func(ident.Member) bool) (m ident.Member, ok bool) {
	random := rand.New(rng)
	eligible := func(f *facts) bool {
		return f.status(now) == nil && (exclude == nil || !exclude(f.id))
	}
	owed, rest := d.chances(eligible)
	// Whatever is drawn and not eligible says nothing about the others, so
	// both ways give the same chances, and so does one after the other.
	peers := d.pools[peer]
	for range min(maxDraws, len(peers)) {
		if owed > 0 {
			if at := random.Uint64N(owed + rest); at < owed {
				return d.client(at, eligible), true
			}
		}
		f := peers[random.IntN(len(peers))]
		if eligible(f) && !d.passesOver(f, random) {
			return f.id, true
		}
	}
	return d.chooseAmongAll(random, eligible, owed, rest)
}

// chances is the chances of the eligible clients together, and of all peers
// together, in parts of whole. Clients for whom it is not enough leave the
// peers nothing while one of them is eligible.
func (d *Directory) chances(eligible func(*facts) bool) (owed, rest uint64) {
	all := uint64(0)
	for _, f := range d.pools[client] {
		part := uint64(d.links.part(f.id))
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
func (d *Directory) client(at uint64, eligible func(*facts) bool) (m ident.Member) {
	for _, f := range d.pools[client] {
		if !eligible(f) {
			continue
		}
		part := uint64(d.links.part(f.id))
		if at < part {
			return f.id
		}
		at -= part
	}
	return m // not reached: at is below the sum
}

// passesOver draws whether this member, if it only dials out, leaves out a peer
// that has visits enough from those attached to it.
func (d *Directory) passesOver(f *facts, random *rand.Rand) bool {
	weight, most := d.weight(f)
	return weight < most && random.Uint64N(most) >= weight
}

// weight is the chance of a peer in proportion to those of the others; most is
// what nobody's is above. In a sample the links of few are known, and what they
// correct is small.
func (d *Directory) weight(f *facts) (weight, most uint64) {
	if d.sample != nil || d.links.flow == 0 || d.links.part(d.self) == 0 {
		return 1, 1
	}
	return d.links.flow - uint64(d.links.busy(f.id)), d.links.flow
}

// chooseAmongAll looks at everybody once.
func (d *Directory) chooseAmongAll(random *rand.Rand, eligible func(*facts) bool, owed, rest uint64) (m ident.Member, ok bool) {
	peers := d.pools[peer]
	m, n := peers.pick(random, eligible, func(f *facts) uint64 { w, _ := d.weight(f); return w })
	if owed > 0 {
		// The peers that are not eligible take their parts of rest with them.
		mine, theirs := owed*uint64(len(peers)), rest*uint64(n)
		if n == 0 || random.Uint64N(mine+theirs) < mine {
			return d.client(random.Uint64N(owed), eligible), true
		}
	}
	if n == 0 {
		m, n = d.pools[spare].pick(random, eligible, func(*facts) uint64 { return 1 })
	}
	return m, n > 0
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

// Candidates is how many other members are not dead for ever and can be handed
// a token from here. Some of their certificates may have run out.
func (d *Directory) Candidates() int {
	n := 0
	for _, p := range d.pools {
		n += len(p)
	}
	return n
}
