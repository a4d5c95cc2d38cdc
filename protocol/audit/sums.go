package audit

import (
	"cmp"
	"slices"

	"github.com/wandertoken/wander/protocol/ident"
)

// sumUp fills in what is counted: members, resources, and the bounds of the
// audit.
func (a *auditor) sumUp() {
	a.report.Findings = slices.DeleteFunc(a.report.Findings, func(f Finding) bool { return !a.asked(f.Token, f.At, f.At) })
	a.report.Tokens = slices.DeleteFunc(a.report.Tokens, func(t Token) bool { return !a.asked(t.ID, t.At, t.At) })
	a.report.Custodies = slices.DeleteFunc(a.report.Custodies, func(c Custody) bool { return !a.asked(c.Token, c.Begin, a.endOf(&c)) })
	a.operations = slices.DeleteFunc(a.operations, func(o operation) bool {
		return a.Resource != "" && o.resource != a.Resource || !a.asked(ident.Token{}, o.from, o.to)
	})
	resources := make(map[string]*Resource)
	members := a.everybody()
	a.sumTokens(resources)
	a.sumCustodies(resources, members)
	a.sumSigned(members)
	a.countKept(members)
	a.sumOperations(resources, members)
	present := make(map[ident.Member]uint64)
	for m := range a.journals {
		present[m] = a.presence(m)
	}
	for _, r := range resources {
		a.shares(r, present)
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

// countKept counts the tokens that members without a journal have had last.
func (a *auditor) countKept(all map[ident.Member]*Member) {
	type slot struct {
		resource string
		number   uint64
	}
	used := make(map[slot]uint64) // until when a token of the slot was in a custody that is known
	for _, t := range a.report.Tokens {
		s := slot{t.Resource, t.Slot}
		used[s] = max(used[s], t.At)
	}
	for _, t := range a.report.Tokens {
		if (t.Fate == UnderWay || t.Fate == OutOfSight) && t.Receipted && a.journals[t.To] == nil && used[slot{t.Resource, t.Slot}] > t.At {
			all[t.To].Kept++
		}
	}
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

// sumSigned counts custodies that no journal at hand records, and signed objects
// show: who signs a receipt or a genesis has custody, and who signs a transfer had it.
func (a *auditor) sumSigned(members map[ident.Member]*Member) {
	type custody struct {
		member ident.Member
		hop
	}
	known := make(map[custody]bool)
	for _, c := range a.custodies {
		known[custody{c.Member, hop{c.Token, c.Hop}}] = true
	}
	count := func(m ident.Member, t ident.Token, number, at uint64) {
		if one := (custody{m, hop{t, number}}); members[m] != nil && !known[one] && a.asked(t, at, at) {
			known[one] = true
			members[m].Custodies++
		}
	}
	for _, g := range a.tokens {
		if g.verified {
			count(g.generator, g.token, 0, fromMillis(g.born))
		}
	}
	for _, t := range a.transfers {
		if t.verified && t.hop > 0 {
			count(t.from, t.token, t.hop-1, fromMillis(t.time))
		}
		if t.read && t.receipt.Seq > 0 {
			count(t.to, t.token, t.hop, t.closedAt)
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

func (a *auditor) sumOperations(resources map[string]*Resource, members map[ident.Member]*Member) {
	slices.SortFunc(a.operations, func(x, y operation) int {
		return cmp.Or(cmp.Compare(x.resource, y.resource), cmp.Compare(x.from, y.from), cmp.Compare(x.to, y.to), x.member.Compare(y.member),
			cmp.Compare(x.in.Journal, y.in.Journal), cmp.Compare(x.in.Seq, y.in.Seq))
	})
	of := make(map[string][]operation)
	for start := 0; start < len(a.operations); {
		end := start + 1
		for end < len(a.operations) && a.operations[end].resource == a.operations[start].resource {
			end++
		}
		r := resource(resources, a.operations[start].resource)
		of[r.Name] = a.operations[start:end]
		r.sum(of[r.Name], members)
		start = end
	}
	unseen := make(map[string][]stretch)
	for _, s := range a.unseen {
		name := a.tokens[s.token].resource
		unseen[name] = append(unseen[name], s)
	}
	for name, r := range resources {
		a.overlaps(r, of[name], unseen[name])
	}
}

// sum counts the operations of one resource.
func (r *Resource) sum(operations []operation, members map[ident.Member]*Member) {
	for _, o := range operations {
		r.share(o.member).Operations++
		members[o.member].Operations++
		switch o.end {
		case endOpen:
			r.Open++
		case endBounded:
			r.Bounded++
		}
	}
	r.Operations = len(operations)
	r.Gaps = gaps(operations)
}

// gaps are the times in which no operation ran, of operations in the order of their
// begin.
func gaps(operations []operation) (g Gaps) {
	var all []uint64
	end := operations[0].to
	for _, one := range operations[1:] {
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

// shares fills in each member's share and Jain's index of them, over the members
// whose journals are at hand.
func (a *auditor) shares(r *Resource, presence map[ident.Member]uint64) {
	var operations, held, present []float64
	for _, m := range sortedMembers(a.journals) {
		s := r.share(m)
		s.Present = presence[m]
		operations, held = append(operations, float64(s.Operations)), append(held, float64(s.Held))
		present = append(present, float64(s.Present))
	}
	r.JainOperations, r.JainHeld = jain(operations, present), jain(held, present)
	for _, m := range sortedMembers(r.byMember) {
		r.Shares = append(r.Shares, *r.byMember[m])
	}
}

// presence is for how long a member took part, as far as its journals tell: they
// need not have a record of late, since who waits writes none. Then it was there up to the
// end, unless it has departed or others have stated it failed since.
func (a *auditor) presence(m ident.Member) (total uint64) {
	last := uint64(0)
	for _, r := range a.journals[m] {
		for _, c := range r.covered() {
			total += a.clip(c.From, c.To)
		}
		last = max(last, r.last)
	}
	if failed := a.failed[m]; a.departed(m) || failed > 0 && fromMillis(failed)+a.Skew >= last {
		return total
	}
	end := last
	for other, list := range a.journals {
		for _, r := range list {
			if at := int64(r.last) + a.leadOf(other, m, r.last).least; at > int64(end) {
				end = uint64(at)
			}
		}
	}
	return total + a.clip(last, end)
}

// jain is the fairness index of R. Jain, D. Chiu and W. Hawe, "A Quantitative
// Measure of Fairness and Discrimination" (1984), of what each member had per time
// that it was present, weighed by that time: 1 when all had the same part of their
// time, 1/n when one of n that were always there had everything, 0 when nobody had
// anything. A member that was there for an instant counts for as little.
func jain(x, present []float64) float64 {
	sum, weight, squares := 0.0, 0.0, 0.0
	for i, v := range x {
		if present[i] == 0 {
			continue
		}
		sum += v
		weight += present[i]
		squares += v * v / present[i]
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / (weight * squares)
}
