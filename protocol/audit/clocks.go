package audit

import (
	"cmp"
	"maps"
	"slices"
	"sort"

	"github.com/wandertoken/wander/protocol/ident"
)

// Clocks is what the journals tell of the clocks of two members: the lead, by
// which the clock of B is ahead of A's. A transfer is taken after it is sent,
// and answered after it is taken, so each handoff between the two bounds the
// lead from one side or both.
type Clocks struct {
	A, B ident.Member // A is the smaller id
	// Least and Most bound the lead of B's clock, in units of Entry.At. They hold
	// for the whole time if one lead explains all handoffs, and otherwise for the
	// last handoff.
	Least, Most int64
	Handoffs    int // that give these bounds

	set      bool // one of the clocks was set: drift does not explain all handoffs
	byA, byB []sample
	hull     lead // of all handoffs
}

// Consistent reports whether two clocks that nobody set meanwhile explain all
// handoffs.
func (c Clocks) Consistent() bool { return !c.set }

// sample bounds the lead at one time of one of the two clocks.
type sample struct {
	at          uint64
	least, most int64
}

type pair struct{ a, b ident.Member }

// pairOf names two members, the smaller id first.
func pairOf(x, y ident.Member) pair {
	if y.Compare(x) < 0 {
		return pair{y, x}
	}
	return pair{x, y}
}

const (
	// unbounded is a lead that nothing tells of. It is so large that sums with a few
	// times and leads do not overflow.
	unbounded = 1 << 59
	// driftPart is the part of the time by which two clocks that nobody sets may
	// drift apart at most: twice what the system lets NTP slew a clock by, 500 ppm.
	driftPart = 1000
	// maxHubs is through how many members clocks are compared that have no handoff
	// with each other, and by how many clocks overlaps are measured.
	maxHubs = 8
)

// drift is by how much a lead may change in a time.
func drift(d uint64) int64 { return int64(min(d, lastTime)/driftPart) + 1 }

// leads are by how much the clocks of members are ahead of each other.
type leads struct {
	skew   int64 // where nothing tells
	clocks map[pair]*Clocks
	hubs   []ident.Member // with whose clocks those of others are compared
	shared bool           // nothing was measured: all have one clock, but for the skew
}

func newLeads(skew int64) *leads {
	return &leads{skew: skew, clocks: make(map[pair]*Clocks), shared: true}
}

// measure takes in what the handoffs tell, and returns it by members.
func (ls *leads) measure(order []*transfer) []Clocks {
	ls.shared = false
	for _, t := range order {
		if !t.read || len(t.taken) == 0 || t.taken[0].carried || t.sentAt == 0 || t.from == t.to {
			continue
		}
		sent, held := min(t.sentAt, lastTime), min(t.taken[0].Begin, lastTime)
		least, most := int64(-unbounded), clampLead(int64(held)-int64(sent))
		if t.closure == receipted {
			least = clampLead(int64(held) - int64(min(t.closedAt, lastTime)))
		}
		c := ls.between(t.from, t.to)
		if c.A != t.from {
			sent, held, least, most = held, sent, -most, -least
		}
		c.byA, c.byB = append(c.byA, sample{sent, least, most}), append(c.byB, sample{held, least, most})
		c.Least, c.Most = max(c.Least, least), min(c.Most, most)
		c.Handoffs++
	}
	list := make([]Clocks, 0, len(ls.clocks))
	for _, c := range ls.clocks {
		c.settle(ls.skew)
		list = append(list, *c)
	}
	slices.SortFunc(list, func(x, y Clocks) int { return cmp.Or(x.A.Compare(y.A), x.B.Compare(y.B)) })
	ls.chooseHubs()
	return list
}

func clampLead(d int64) int64 { return max(-unbounded, min(d, unbounded)) }

func (ls *leads) between(x, y ident.Member) *Clocks {
	p := pairOf(x, y)
	c := ls.clocks[p]
	if c == nil {
		c = &Clocks{A: p.a, B: p.b, Least: -unbounded, Most: unbounded}
		ls.clocks[p] = c
	}
	return c
}

// settle combines the samples, once all are there.
func (c *Clocks) settle(skew int64) {
	c.hull = lead{least: unbounded, most: -unbounded}
	for _, s := range c.byA {
		l := lead{least: s.least, most: s.most}.within(skew)
		c.hull.least, c.hull.most = min(c.hull.least, l.least), max(c.hull.most, l.most)
	}
	c.set = !tighten(c.byA) || !tighten(c.byB)
	if last := c.byA[len(c.byA)-1]; c.Least > c.Most && !c.set {
		c.Least, c.Most = last.least, last.most
	}
}

// tighten puts samples in order, makes each as narrow as the others and the drift
// between them permit, and reports whether they agree.
func tighten(list []sample) bool {
	slices.SortFunc(list, func(x, y sample) int { return cmp.Compare(x.at, y.at) })
	narrow := func(s *sample, by sample) {
		d := drift(max(s.at, by.at) - min(s.at, by.at))
		s.least, s.most = max(s.least, by.least-d), min(s.most, by.most+d)
	}
	for i := 1; i < len(list); i++ {
		narrow(&list[i], list[i-1])
	}
	for i := len(list) - 2; i >= 0; i-- {
		narrow(&list[i], list[i+1])
	}
	return !slices.ContainsFunc(list, func(s sample) bool { return s.least > s.most })
}

// lead bounds by how much one clock is ahead of another at some time.
type lead struct {
	least, most int64
	measured    bool // on both sides; else Options.Skew counts
}

// within replaces a side that is not measured: by the skew, or by the other side
// where that is beyond.
func (l lead) within(skew int64) lead {
	if l.least <= -unbounded/2 {
		l.least = min(-skew, l.most)
	}
	if l.most >= unbounded/2 {
		l.most = max(skew, l.least)
	}
	return l
}

// plus adds the lead of a third clock over the second. The time at which that was
// looked up is as uncertain as the first lead.
func (l lead) plus(next lead) lead {
	d := drift(uint64(l.most - l.least))
	return lead{clampLead(l.least + next.least - d), clampLead(l.most + next.most + d), l.measured && next.measured}
}

// of is by how much y's clock is ahead of x's when x's shows at: as the
// handoffs between them tell, else those with a third member. Where they tell
// nothing, they are taken to be within Skew of each other.
func (ls *leads) of(x, y ident.Member, at uint64) lead {
	if ls.shared {
		return lead{least: -ls.skew, most: ls.skew}
	}
	if x == y {
		return lead{measured: true}
	}
	l := ls.direct(x, y, at)
	if c := ls.clocks[pairOf(x, y)]; l.measured || c != nil && c.set {
		return l
	}
	for _, hub := range ls.hubs {
		if hub == x || hub == y {
			continue
		}
		first := ls.direct(x, hub, at)
		if !first.measured {
			continue
		}
		there := int64(min(at, lastTime)) + (first.least+first.most)/2
		if l2 := first.plus(ls.direct(hub, y, uint64(max(0, there)))); l2.measured && (!l.measured || l2.most-l2.least < l.most-l.least) {
			l = l2
		}
	}
	return l.within(ls.skew)
}

// direct is what the handoffs between two members tell of their clocks.
func (ls *leads) direct(x, y ident.Member, at uint64) lead {
	c, turned := ls.clocks[pairOf(x, y)], y.Compare(x) < 0
	if c == nil {
		return lead{least: -unbounded, most: unbounded}
	}
	l := c.hull
	if !c.set {
		list := c.byA
		if turned {
			list = c.byB
		}
		l = lookUp(list, at)
		l.measured = l.least > -unbounded/2 && l.most < unbounded/2
	}
	if turned {
		l.least, l.most = -l.most, -l.least
	}
	return l
}

// lookUp bounds the lead between two samples, or outside of all.
func lookUp(list []sample, at uint64) lead {
	after := sort.Search(len(list), func(i int) bool { return list[i].at >= at })
	l := lead{least: -unbounded, most: unbounded}
	for _, i := range []int{after - 1, after} {
		if i < 0 || i >= len(list) {
			continue
		}
		s := list[i]
		d := drift(max(s.at, at) - min(s.at, at))
		l.least, l.most = max(l.least, s.least-d), min(l.most, s.most+d)
	}
	return l
}

// chooseHubs finds the members whose clocks most others can be compared with.
func (ls *leads) chooseHubs() {
	partners := make(map[ident.Member]int)
	for p := range ls.clocks {
		partners[p.a]++
		partners[p.b]++
	}
	ls.hubs = sortedMembers(partners)
	slices.SortStableFunc(ls.hubs, func(x, y ident.Member) int { return cmp.Compare(partners[y], partners[x]) })
	ls.hubs = ls.hubs[:min(len(ls.hubs), maxHubs)]
}

// sortedMembers are the keys of a map by member.
func sortedMembers[V any](m map[ident.Member]V) []ident.Member {
	return slices.SortedFunc(maps.Keys(m), ident.Member.Compare)
}
