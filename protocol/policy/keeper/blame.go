package keeper

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// accuses finds out, as the keeper that makes a token, what became of the one that is lost, and
// lets the others do so, if a member that lives has had it last.
func (k *Keeper) accuses() {
	s := &k.search
	i := inquest{custody: s.last.custody, member: s.last.holder, from: s.last.from, began: k.now, waited: clock.Never}
	switch t := &s.trail; {
	case t.token != i.token || t.hop < i.hop:
	case t.moving:
		i.custody, i.member, i.from = custody{t.token, t.hop + 1}, t.to, t.holder
	default:
		i.custody, i.member, i.from = t.custody, t.holder, t.from
	}
	if i.hop == 0 || !slices.Contains(s.answers, i.member) {
		return
	}
	k.blames(i.custody, i.member, i.from)
	k.opens(i)
}

// blames tells all members who had a token last that was lost, and from whom. None of them
// believes it.
func (k *Keeper) blames(c custody, m, from ident.Member) {
	if k.verify == nil || m.IsZero() || m == k.self {
		return
	}
	k.order = k.everyone(k.order[:0])
	k.order.remove(m)
	k.order.remove(k.self)
	k.question(k.order, &message{kind: blame, custody: c, member: m, second: from})
}

// blamed finds out itself what another member says. A member is heard once in L: who blames
// without a reason costs each member two questions in that time.
func (k *Keeper) blamed(by ident.Member, m *message) {
	s := &k.inquests
	s.blamed = slices.DeleteFunc(s.blamed, func(b lastBlame) bool { return k.now >= b.at.Add(k.silence) })
	if m.hop <= newbornHop || len(s.blamed) >= maxInquests || slices.ContainsFunc(s.blamed, func(b lastBlame) bool { return b.by == by }) {
		return
	}
	s.blamed = append(s.blamed, lastBlame{by, k.now})
	place := int(k.self[0])<<8 | int(k.self[1])
	wait := time.Duration(place%max(1, k.roster.Size()/maxInquests)) * spreadInquests
	k.opens(inquest{custody: m.custody, member: m.member, from: m.second, began: k.now.Add(wait), waited: clock.Never})
}

// replaced finds out what became of the last custody that this member has passed on itself, when
// another token comes: the keeper may lie, and name others.
func (k *Keeper) replaced(t *policy.Token) {
	s := &k.inquests
	before := s.arrived
	s.arrived = t.ID
	if before == t.ID || before == (ident.Token{}) {
		return
	}
	if h := k.holder.find(&before); h != nil && h.parted {
		due := max(k.now, h.since.Add(k.silence+k.retry)) // the answer
		k.opens(inquest{custody: custody{h.token, h.hop + 1}, member: h.keeper, from: k.self, began: due, waited: clock.Never})
		return
	}
	for n := len(k.holder.passed) - 1; n >= 0; n-- {
		if p := &k.holder.passed[n]; p.token == before && !p.dropped {
			k.opens(inquest{custody: custody{p.token, p.hop + 1}, member: p.to, from: k.self, began: k.now, waited: clock.Never})
			return
		}
	}
}
