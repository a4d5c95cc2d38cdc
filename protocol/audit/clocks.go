package audit

import (
	"cmp"
	"maps"
	"slices"

	"github.com/wandertoken/wander/protocol/ident"
)

// Clocks is what the journals tell of the clocks of two members: by how much that
// of B is ahead of A's. What A sent was taken later, and what B took was answered
// later; so each handoff between them bounds the lead from one side or both.
type Clocks struct {
	A, B ident.Member // A is the smaller id
	// Least and Most bound the lead of B's clock, in units of Entry.At. Where Least
	// is greater, one of the clocks was set meanwhile.
	Least, Most int64
	Handoffs    int // that they come from
}

// Consistent reports whether one lead explains all handoffs.
func (c Clocks) Consistent() bool { return c.Least <= c.Most }

type pair struct{ a, b ident.Member }

// unbounded is a lead that nothing tells of.
const unbounded = lastTime

// measureClocks fills in what the handoffs tell.
func (a *auditor) measureClocks(order []*transfer) {
	a.clocks = make(map[pair]*Clocks)
	for _, t := range order {
		if !t.read || len(t.taken) == 0 || t.taken[0].carried || t.sentAt == 0 || t.from == t.to {
			continue
		}
		held := int64(t.taken[0].Begin)
		least, most := int64(-unbounded), held-int64(t.sentAt)
		if t.closure == receipted {
			least = held - int64(t.closedAt)
		}
		c := a.clocksOf(t.from, t.to)
		if c.A != t.from {
			least, most = -most, -least
		}
		c.Least, c.Most = max(c.Least, least), min(c.Most, most)
		c.Handoffs++
	}
	a.report.Clocks = make([]Clocks, 0, len(a.clocks))
	for _, c := range a.clocks {
		a.report.Clocks = append(a.report.Clocks, *c)
	}
	slices.SortFunc(a.report.Clocks, func(x, y Clocks) int { return cmp.Or(x.A.Compare(y.A), x.B.Compare(y.B)) })
}

func (a *auditor) clocksOf(x, y ident.Member) *Clocks {
	p := pair{x, y}
	if y.Compare(x) < 0 {
		p = pair{y, x}
	}
	c := a.clocks[p]
	if c == nil {
		c = &Clocks{A: p.a, B: p.b, Least: -unbounded, Most: unbounded}
		a.clocks[p] = c
	}
	return c
}

// lead is by how much y's clock may be ahead of x's: as the handoffs between them
// tell, but not more than Skew is taken for granted where they tell nothing or
// contradict each other.
func (a *auditor) lead(x, y ident.Member) Clocks {
	skew := int64(min(a.Skew, lastTime))
	l := Clocks{A: x, B: y, Least: -skew, Most: skew}
	if x == y && a.partial() {
		return Clocks{A: x, B: y}
	}
	p, turned := pair{x, y}, false
	if y.Compare(x) < 0 {
		p, turned = pair{y, x}, true
	}
	c := a.clocks[p]
	if c == nil || !c.Consistent() {
		return l
	}
	least, most := c.Least, c.Most
	if turned {
		least, most = -most, -least
	}
	if least > -unbounded {
		l.Least = least
		l.Most = max(l.Most, least)
	}
	if most < unbounded {
		l.Most = most
		l.Least = min(l.Least, most)
	}
	return l
}

// sortedMembers are the keys of a map by member.
func sortedMembers[V any](m map[ident.Member]V) []ident.Member {
	return slices.SortedFunc(maps.Keys(m), ident.Member.Compare)
}
