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

// sumUp fills in what is counted: members, resources, and the bounds of the
// audit.
func (a *auditor) sumUp() {
	a.report.Findings = slices.DeleteFunc(a.report.Findings, func(f Finding) bool { return !a.asked(f.Token, f.At, f.At) })
	a.report.Tokens = slices.DeleteFunc(a.report.Tokens, func(t Token) bool { return !a.asked(t.ID, t.At, t.At) })
	a.report.Custodies = slices.DeleteFunc(a.report.Custodies, func(c Custody) bool { return !a.asked(c.Token, c.Begin, a.endOf(&c)) })
	a.runs = slices.DeleteFunc(a.runs, func(r run) bool {
		return a.Resource != "" && r.resource != a.Resource || !a.asked(ident.Token{}, r.from, r.to)
	})
	resources := make(map[string]*Resource)
	members := a.everybody()
	a.sumTokens(resources)
	a.sumCustodies(resources, members)
	a.sumRuns(resources, members)
	for _, r := range resources {
		a.shares(r)
		a.report.Resources = append(a.report.Resources, *r)
	}
	slices.SortFunc(a.report.Resources, func(x, y Resource) int { return cmp.Compare(x.Name, y.Name) })
	for _, m := range sortedMembers(members) {
		a.report.Members = append(a.report.Members, *members[m])
	}
}

// everybody is every member that the journals name.
func (a *auditor) everybody() map[ident.Member]*Member {
	all := make(map[ident.Member]*Member)
	add := func(m ident.Member) {
		if all[m] == nil {
			all[m] = &Member{ID: m, Name: a.trust.Name(m)}
		}
	}
	for m, i := range a.trust.members {
		add(m)
		all[m].Revoked, all[m].Left = i.revoked > 0, i.left > 0
	}
	for m, list := range a.journals {
		add(m)
		for _, r := range list {
			all[m].Spans = append(all[m].Spans, r.covered()...)
		}
	}
	for _, t := range a.transfers {
		if t.read {
			add(t.from)
			add(t.to)
			all[t.to].Named++
		}
	}
	return all
}

func (r *Reader) covered() (list []Span) {
	for _, s := range r.spans {
		if s.to > 0 {
			list = append(list, Span{s.from, s.to})
		}
	}
	return list
}

func resource(all map[string]*Resource, name string) *Resource {
	if all[name] == nil {
		all[name] = &Resource{Name: name, byMember: make(map[ident.Member]*Share)}
	}
	return all[name]
}

func (r *Resource) share(m ident.Member) *Share {
	if r.byMember[m] == nil {
		r.byMember[m] = &Share{Member: m}
	}
	return r.byMember[m]
}

func (a *auditor) sumTokens(resources map[string]*Resource) {
	for _, t := range a.report.Tokens {
		r := resource(resources, t.Resource)
		r.Tokens++
		switch {
		case t.Fate == Dropped:
			r.Dropped++
		case t.Fate.Lost():
			r.Lost++
		}
	}
}

func (a *auditor) sumCustodies(resources map[string]*Resource, members map[ident.Member]*Member) {
	for i := range a.report.Custodies {
		c := &a.report.Custodies[i]
		name := ""
		if g := a.tokens[c.Token]; g != nil {
			name = g.resource
		}
		r, held := resource(resources, name), a.clip(c.Begin, a.endOf(c))
		r.share(c.Member).Held += held
		members[c.Member].Held += held
		members[c.Member].Custodies++
		if c.by != nil {
			r.Handoffs++
		}
	}
}

// clip is how much of a time is within the bounds of the audit.
func (a *auditor) clip(from, to uint64) uint64 {
	from = max(from, a.From)
	if a.To > 0 {
		to = min(to, a.To)
	}
	if to < from {
		return 0
	}
	return to - from
}

func (a *auditor) sumRuns(resources map[string]*Resource, members map[ident.Member]*Member) {
	slices.SortFunc(a.runs, func(x, y run) int {
		return cmp.Or(cmp.Compare(x.resource, y.resource), cmp.Compare(x.from, y.from), cmp.Compare(x.to, y.to), x.member.Compare(y.member))
	})
	for start := 0; start < len(a.runs); {
		end := start + 1
		for end < len(a.runs) && a.runs[end].resource == a.runs[start].resource {
			end++
		}
		r := resource(resources, a.runs[start].resource)
		for _, one := range a.runs[start:end] {
			r.share(one.member).Operations++
			members[one.member].Operations++
		}
		r.Operations = end - start
		r.Gaps = gaps(a.runs[start:end])
		a.overlaps(r, a.runs[start:end])
		start = end
	}
}

// gaps are the times in which no operation ran, of runs in the order of their
// begin.
func gaps(runs []run) (g Gaps) {
	var all []uint64
	end := runs[0].to
	for _, one := range runs[1:] {
		if one.from > end {
			gap := one.from - end
			if gap > g.Longest {
				g.Longest, g.LongestFrom = gap, end
			}
			all = append(all, gap)
		}
		end = max(end, one.to)
	}
	if len(all) == 0 {
		return g
	}
	slices.Sort(all)
	at := func(q float64) uint64 { return all[int(q*float64(len(all)-1))] }
	g.Count, g.P50, g.P90, g.P99 = len(all), at(0.5), at(0.9), at(0.99)
	return g
}

// overlaps measures operations that ran at once, of runs in the order of their
// begin.
func (a *auditor) overlaps(r *Resource, runs []run) {
	var active []run
	o := &r.Overlap
	var counted uint64 // up to where Recorded is complete
	for _, one := range runs {
		active = slices.DeleteFunc(active, func(x run) bool { return x.to <= one.from })
		for _, x := range active {
			if end := min(x.to, one.to); end > one.from {
				o.list(OverlapOf{
					Members: [2]ident.Member{x.member, one.member}, Records: [2]Place{x.in, one.in}, From: one.from, Possible: end - one.from,
				})
				if from := max(counted, one.from); end > from {
					o.Recorded += end - from
					counted = end
				}
			}
		}
		if len(active) < maxAtOnce {
			active = append(active, one)
		}
		o.MostPossible = max(o.MostPossible, len(active))
	}
	o.Possible = o.Recorded
	o.cut(maxListed)
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

// shares fills in each member's share and Jain's index of them, over the members
// whose journals are at hand.
func (a *auditor) shares(r *Resource) {
	var operations, held []float64
	for m := range a.journals {
		s := r.share(m)
		operations, held = append(operations, float64(s.Operations)), append(held, float64(s.Held))
	}
	r.JainOperations, r.JainHeld = jain(operations), jain(held)
	for _, m := range sortedMembers(r.byMember) {
		r.Shares = append(r.Shares, *r.byMember[m])
	}
}

// jain is the fairness index of R. Jain, D. Chiu and W. Hawe, "A Quantitative
// Measure of Fairness and Discrimination" (1984): 1 when all have the same, 1/n
// when one has everything; 0 when nobody has anything.
func jain(x []float64) float64 {
	slices.Sort(x) // so that the sums do not depend on the order
	sum, squares := 0.0, 0.0
	for _, v := range x {
		sum += v
		squares += v * v
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / (float64(len(x)) * squares)
}
