package audit

import (
	"cmp"
	"slices"

	"github.com/wandertoken/wander/protocol/ident"
)

// summary sums up what the journals say, by members and by resources.
type summary struct{ *concurrency }

// sumUp fills in what is counted: members, resources, and the bounds of the
// audit.
func (sm *summary) sumUp() {
	sm.report.Findings = slices.DeleteFunc(sm.report.Findings, func(f Finding) bool { return !sm.asked(f.Token, f.At, f.At) })
	sm.report.Tokens = slices.DeleteFunc(sm.report.Tokens, func(t Token) bool { return !sm.asked(t.ID, t.At, t.At) })
	sm.report.Custodies = slices.DeleteFunc(sm.report.Custodies, func(c Custody) bool { return !sm.asked(c.Token, c.Begin, sm.endOf(&c)) })
	sm.operations = slices.DeleteFunc(sm.operations, func(o operation) bool {
		return sm.Resource != "" && o.resource != sm.Resource || !sm.asked(ident.Token{}, o.from, o.to)
	})
	resources := make(map[string]*Resource)
	members := sm.everybody()
	sm.sumTokens(resources)
	sm.sumCustodies(resources, members)
	sm.sumSigned(members)
	sm.countKept(members)
	sm.sumOperations(resources, members)
	present := make(map[ident.Member]uint64)
	for m := range sm.journals {
		present[m] = sm.presence(m)
	}
	for _, r := range resources {
		sm.shares(r, present)
		sm.report.Resources = append(sm.report.Resources, *r)
	}
	slices.SortFunc(sm.report.Resources, func(x, y Resource) int { return cmp.Compare(x.Name, y.Name) })
	for _, m := range sortedMembers(members) {
		sm.report.Members = append(sm.report.Members, *members[m])
	}
}

// everybody is every member that the journals name.
func (sm *summary) everybody() map[ident.Member]*Member {
	all := make(map[ident.Member]*Member)
	add := func(m ident.Member) {
		if all[m] == nil {
			all[m] = &Member{ID: m, Name: sm.trust.Name(m)}
		}
	}
	for m, i := range sm.trust.members {
		add(m)
		all[m].Revoked, all[m].Left = i.revoked > 0, i.left > 0
	}
	for m, list := range sm.journals {
		add(m)
		for _, r := range list {
			all[m].Spans = append(all[m].Spans, r.covered()...)
		}
	}
	for _, t := range sm.transfers {
		if t.read {
			add(t.from)
			add(t.to)
			all[t.to].Named++
		}
	}
	return all
}

// countKept counts the tokens that members without a journal have had last.
func (sm *summary) countKept(all map[ident.Member]*Member) {
	type slot struct {
		resource string
		number   uint64
	}
	used := make(map[slot]uint64) // until when a token of the slot was in a custody that is known
	for _, t := range sm.report.Tokens {
		s := slot{t.Resource, t.Slot}
		used[s] = max(used[s], t.At)
	}
	for _, t := range sm.report.Tokens {
		if (t.Fate == UnderWay || t.Fate == OutOfSight) && t.Receipted && sm.journals[t.To] == nil && used[slot{t.Resource, t.Slot}] > t.At {
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

func (sm *summary) sumTokens(resources map[string]*Resource) {
	for _, t := range sm.report.Tokens {
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

func (sm *summary) sumCustodies(resources map[string]*Resource, members map[ident.Member]*Member) {
	for i := range sm.report.Custodies {
		c := &sm.report.Custodies[i]
		name := ""
		if g := sm.tokens[c.Token]; g != nil {
			name = g.resource
		}
		r, held := resource(resources, name), sm.clip(c.Begin, sm.endOf(c))
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
func (sm *summary) sumSigned(members map[ident.Member]*Member) {
	type custody struct {
		member ident.Member
		hop
	}
	known := make(map[custody]bool)
	for _, c := range sm.custodies {
		known[custody{c.Member, hop{c.Token, c.Hop}}] = true
	}
	count := func(m ident.Member, t ident.Token, number, at uint64) {
		if one := (custody{m, hop{t, number}}); members[m] != nil && !known[one] && sm.asked(t, at, at) {
			known[one] = true
			members[m].Custodies++
		}
	}
	for _, g := range sm.tokens {
		if g.verified {
			count(g.generator, g.token, 0, fromMillis(g.born))
		}
	}
	for _, t := range sm.transfers {
		if t.verified && t.hop > 0 {
			count(t.from, t.token, t.hop-1, fromMillis(t.time))
		}
		if t.read && t.receipt.Seq > 0 {
			count(t.to, t.token, t.hop, t.closedAt)
		}
	}
}

func (sm *summary) sumOperations(resources map[string]*Resource, members map[ident.Member]*Member) {
	slices.SortFunc(sm.operations, func(x, y operation) int {
		return cmp.Or(cmp.Compare(x.resource, y.resource), cmp.Compare(x.from, y.from), cmp.Compare(x.to, y.to), x.member.Compare(y.member),
			cmp.Compare(x.in.Journal, y.in.Journal), cmp.Compare(x.in.Seq, y.in.Seq))
	})
	of := make(map[string][]operation)
	for start := 0; start < len(sm.operations); {
		end := start + 1
		for end < len(sm.operations) && sm.operations[end].resource == sm.operations[start].resource {
			end++
		}
		r := resource(resources, sm.operations[start].resource)
		of[r.Name] = sm.operations[start:end]
		r.sum(of[r.Name], members)
		start = end
	}
	countUsers(sm.operations, members)
	unseen := make(map[string][]stretch)
	for _, s := range sm.unseen {
		name := sm.tokens[s.token].resource
		unseen[name] = append(unseen[name], s)
	}
	for name, r := range resources {
		sm.overlaps(r, of[name], unseen[name])
	}
}

// countUsers counts the operations of each local user that is known.
func countUsers(operations []operation, members map[ident.Member]*Member) {
	of := make(map[ident.Member]map[uint64]int)
	for _, o := range operations {
		if o.asker == nil {
			continue
		}
		if of[o.member] == nil {
			of[o.member] = make(map[uint64]int)
		}
		of[o.member][o.asker.User]++
	}
	for id, counts := range of {
		users := make([]User, 0, len(counts))
		for user, n := range counts {
			users = append(users, User{user, n})
		}
		slices.SortFunc(users, func(x, y User) int { return cmp.Or(cmp.Compare(y.Operations, x.Operations), cmp.Compare(x.ID, y.ID)) })
		members[id].Users = users[:min(len(users), maxUsers)]
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
func (sm *summary) shares(r *Resource, presence map[ident.Member]uint64) {
	var operations, held, present []float64
	for _, m := range sortedMembers(sm.journals) {
		s := r.share(m)
		s.Present = presence[m]
		operations, held = append(operations, float64(s.Operations)), append(held, float64(s.Held))
		present = append(present, float64(s.Present))
	}
	r.JainOperations, r.JainHeld = jain(operations, present), jain(held, present)
	for _, m := range sortedMembers(r.byMember) {
		r.Shares = append(r.Shares, *r.byMember[m])
	}
	sm.classes(r)
}

// presence is for how long a member took part, as far as its journals tell: they
// need not have a record of late, since who waits writes none. Then it was there up to the
// end, unless it has departed or others have declared it failed since.
func (sm *summary) presence(m ident.Member) (total uint64) {
	last := uint64(0)
	for _, r := range sm.journals[m] {
		for _, c := range r.covered() {
			total += sm.clip(c.From, c.To)
		}
		last = max(last, r.last)
	}
	if failed := sm.failed[m]; sm.departed(m) || failed > 0 && fromMillis(failed)+sm.Skew >= last {
		return total
	}
	end := last
	for other, list := range sm.journals {
		for _, r := range list {
			if at := int64(r.last) + sm.leads.of(other, m, r.last).least; at > int64(end) {
				end = uint64(at)
			}
		}
	}
	return total + sm.clip(last, end)
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
