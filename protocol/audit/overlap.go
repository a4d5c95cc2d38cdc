package audit

import (
	"cmp"
	"slices"

	"github.com/wandertoken/wander/protocol/ident"
)

const (
	// maxListed is how many overlaps of operations are listed, the longest ones.
	maxListed = 100
	// maxAtOnce is with how many that still run an operation is compared. What is
	// more is in the sums, and not in the list.
	maxAtOnce = 64
)

// interval is a time in which something ran, by some member's clock. Two in one
// lane are never counted as an overlap.
type interval struct {
	from, to int64
	lane     int
}

// lanes gives operations of one token the same lane: custody is exclusive, and a
// member keeps the token until the program has ended. A token about which there are
// findings does not count as exclusive.
type lanes struct {
	exclusive bool // whether any token is
	tainted   map[ident.Token]bool
	of        map[ident.Token]int
	last      int
}

// concurrency measures what ran at once: between the operations that the journals
// record, and those that can have run where none is at hand.
type concurrency struct {
	*books
	leads *leads
}

func (cc *concurrency) newLanes() *lanes {
	l := &lanes{exclusive: len(cc.report.More) == 0, tainted: make(map[ident.Token]bool), of: make(map[ident.Token]int)}
	for _, f := range cc.report.Findings {
		l.tainted[f.Token] = true
	}
	return l
}

func (l *lanes) lane(t ident.Token) int {
	if n, known := l.of[t]; known {
		return n
	}
	l.last++
	if l.exclusive && !l.tainted[t] {
		l.of[t] = l.last
	}
	return l.last
}

// overlaps measures the operations of a resource that ran at once, and those that
// can have.
func (cc *concurrency) overlaps(r *Resource, operations []operation, unseen []stretch) {
	l := cc.newLanes()
	own := make([]int, len(operations))
	for i, o := range operations {
		own[i] = l.lane(o.hop.token)
	}
	others := make([]int, len(unseen))
	for i, s := range unseen {
		others[i] = l.lane(s.token)
	}
	o, first := &r.Overlap, true
	var recorded []interval
	for _, by := range cc.axes(operations, unseen) {
		seen, outer := cc.project(by, operations, own)
		certain, mostCertain := busy(seen)
		o.Certain, o.MostCertain = max(o.Certain, certain), max(o.MostCertain, mostCertain)
		sum, _ := busy(outer)
		if first || sum < o.Recorded {
			o.Recorded, recorded = sum, outer
		}
		sum, most := busy(append(slices.Clone(outer), cc.projectUnseen(by, unseen, others)...))
		if first || sum < o.Possible {
			o.Possible = sum
		}
		if first || most < o.MostPossible {
			o.MostPossible = most
		}
		first = false
	}
	cc.pairs(o, operations, recorded)
	o.Recorded = max(o.Recorded, o.Certain)
	o.Possible = max(o.Possible, o.Recorded)
}

// axes are the members by whose clocks overlaps are measured. Each gives a lower
// bound of what is certain and an upper bound of what is possible; the best counts.
func (cc *concurrency) axes(operations []operation, unseen []stretch) []ident.Member {
	part := make(map[ident.Member]bool)
	for _, o := range operations {
		part[o.member] = true
	}
	for _, s := range unseen {
		part[s.fromBy] = true
	}
	list := slices.DeleteFunc(slices.Clone(cc.leads.hubs), func(m ident.Member) bool { return !part[m] })
	if len(list) == 0 {
		list = sortedMembers(part)
	}
	return list[:min(len(list), maxHubs)]
}

// project translates operations to a member's clock: when each was certainly
// running, and when it can have been.
func (cc *concurrency) project(by ident.Member, operations []operation, lane []int) (seen, outer []interval) {
	for i, o := range operations {
		from, to := cc.leads.of(o.member, by, o.from), cc.leads.of(o.member, by, o.to)
		outer = append(outer, cc.clipped(int64(o.from)+from.least, int64(o.to)+to.most, lane[i]))
		if o.seenFrom == 0 {
			seen = append(seen, interval{})
			continue
		}
		from, to = cc.leads.of(o.member, by, o.seenFrom), cc.leads.of(o.member, by, o.seenTo)
		one := interval{}
		if from.measured && to.measured {
			one = cc.clipped(int64(o.seenFrom)+from.most, int64(o.seenTo)+to.least, lane[i])
		}
		seen = append(seen, one)
	}
	return seen, outer
}

// clipped is an interval within the bounds of the audit.
func (cc *concurrency) clipped(from, to int64, lane int) interval {
	from = max(from, int64(min(cc.From, lastTime)))
	if cc.To > 0 {
		to = min(to, int64(min(cc.To, lastTime)))
	}
	return interval{from, max(from, to), lane}
}

// busy is for how long more than one lane was in use, and how many were at most.
func busy(list []interval) (total uint64, most int) {
	type edge struct {
		at    int64
		delta int
		lane  int
	}
	var edges []edge
	for _, i := range list {
		if i.to > i.from {
			edges = append(edges, edge{i.from, 1, i.lane}, edge{i.to, -1, i.lane})
		}
	}
	slices.SortFunc(edges, func(x, y edge) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.delta, y.delta)) })
	used, running, since := make(map[int]int), 0, int64(0)
	for _, e := range edges {
		if running > 1 {
			total += uint64(e.at - since)
		}
		before := used[e.lane]
		used[e.lane] += e.delta
		switch {
		case before == 0:
			running++
		case used[e.lane] == 0:
			running--
		}
		most, since = max(most, running), e.at
	}
	return total, most
}

// pairs compares operations that can have run at once, each two by their own
// clocks.
func (cc *concurrency) pairs(o *Overlaps, operations []operation, recorded []interval) {
	order := make([]int, len(recorded))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(recorded[x].from, recorded[y].from) })
	var active []int
	for _, i := range order {
		one := recorded[i]
		active = slices.DeleteFunc(active, func(j int) bool { return recorded[j].to <= one.from })
		for _, j := range active {
			if recorded[j].lane == one.lane {
				continue
			}
			if p := cc.compare(&operations[j], &operations[i]); p.Possible > 0 {
				o.Certain = max(o.Certain, p.Certain)
				o.list(p)
			}
		}
		if len(active) < maxAtOnce && one.to > one.from {
			active = append(active, i)
		}
	}
	o.cut(maxListed)
}

// compare measures for how long two operations ran at once.
func (cc *concurrency) compare(x, y *operation) OverlapOf {
	p := OverlapOf{Members: [2]ident.Member{x.member, y.member}, Records: [2]RecordRef{x.in, y.in}, From: y.from}
	begin, end := cc.leads.of(x.member, y.member, x.from), cc.leads.of(x.member, y.member, x.to)
	d := int64(0)
	if x.member != y.member {
		d = drift(x.to - x.from)
	}
	least, most := min(begin.least, end.least)-d, max(begin.most, end.most)+d
	p.Possible = uint64(longest(span{x.from, x.to}, span{y.from, y.to}, least, most))
	if x.seenFrom > 0 && y.seenFrom > 0 && begin.measured && end.measured {
		sx, sy := span{x.seenFrom, x.seenTo}, span{y.seenFrom, y.seenTo}
		p.Certain = uint64(min(shared(sx, sy, least), shared(sx, sy, most)))
	}
	return p
}

// shared is how long two times by two clocks have in common, if the second clock is
// ahead by so much.
func shared(x, y span, lead int64) int64 {
	return max(0, min(int64(x.to), int64(y.to)-lead)-max(int64(x.from), int64(y.from)-lead))
}

// longest is shared for the lead, of those that may be, for which it is longest: it
// rises to a plateau and falls from there.
func longest(x, y span, least, most int64) int64 {
	begins, ends := int64(y.from)-int64(x.from), int64(y.to)-int64(x.to)
	at := max(least, min(most, max(least, min(begins, ends))))
	return max(shared(x, y, at), shared(x, y, max(least, min(most, begins))), shared(x, y, max(least, min(most, ends))))
}

func (o *Overlaps) list(one OverlapOf) {
	o.Pairs++
	if one.Certain > 0 {
		o.CertainPairs++
	}
	if o.List = append(o.List, one); len(o.List) >= 4*maxListed {
		o.cut(maxListed)
	}
}

// cut leaves the longest.
func (o *Overlaps) cut(n int) {
	slices.SortFunc(o.List, func(x, y OverlapOf) int {
		return cmp.Or(cmp.Compare(y.Certain, x.Certain), cmp.Compare(y.Possible, x.Possible), cmp.Compare(x.From, y.From))
	})
	o.List = o.List[:min(n, len(o.List))]
}
