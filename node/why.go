package node

import (
	"iter"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/forecast"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
)

// maxAddressed bounds the members that are looked at for one that can be dialled: in a group where
// so many only dial out, nearly all do.
const maxAddressed = 1024

// invalidity is why this member's certificate does not count, or empty.
func invalidity(n *Node, s member.Status) string {
	if s.Revoked {
		return "revoked"
	}
	if err := n.authority.certificate().ValidAt(n.now().Wall); err != nil {
		return stateOf(err)
	}
	return ""
}

// link is what this member knows of the way to the others.
func link(n *Node, s member.Status, now clock.Instant) api.LinkStatus {
	c := &n.contacts
	heard := clock.Instant(c.heard.Load())
	l := api.LinkStatus{
		Unanswered: c.missed.Load(), Silent: !c.refused.Load(), Others: s.Others, ClockAheadS: s.ClockAhead.Seconds(),
		Isolated: n.isolated() && !c.unasked(),
	}
	if heard > 0 {
		l.LastHeardS = api.AgeOf(now.Sub(heard))
	}
	switch connected := n.transport.Stats().Connections; {
	case connected > 0:
		l.SilentS = n.transport.Unanswered().Seconds()
	case heard > 0 && l.Unanswered > 0:
		l.SilentS = *l.LastHeardS
	}
	if l.Isolated && s.Others > 0 {
		n.engine.look(func(m *member.Member) {
			l.NobodyLeft = nobodyLeft(n.ID(), m.States(ident.Member{}))
			l.NoAddresses = n.cfg.Listen == "" && !canBeDialled(m)
		})
	}
	return l
}

// nobodyLeft reports whether none but this one of the members takes part, whose states say why they do not.
func nobodyLeft(self ident.Member, states iter.Seq2[ident.Member, error]) bool {
	for id, hinders := range states {
		if id != self && hinders == nil {
			return false
		}
	}
	return true
}

// canBeDialled reports whether a member that this one knows has an address.
func canBeDialled(m *member.Member) bool {
	looked := 0
	for k := range m.Members() {
		if k.Eligible == nil && len(k.Addresses) > 0 {
			return true
		}
		if looked++; looked == maxAddressed {
			return true // as far as anybody has looked
		}
	}
	return false
}

// whereabouts fills in where a slot's token is, and when it comes. It is called with the member's engine held.
func whereabouts(n *Node, m *member.Member, s *member.SlotStatus, now clock.Instant, to *api.SlotStatus) {
	nameOf := func(id ident.Member) string {
		if c, known := m.Certificate(id); known {
			return c.Body().Name
		}
		return id.String()
	}
	to.Founding = s.Founding
	o := &s.Observed
	var begun clock.Instant // of the program here
	if s.Executing {
		begun = n.programs.held.begun(s.Resource, s.Token)
	}
	if l, is := forecast.LongOf(s, begun, now); is {
		to.Long = &api.LongStatus{TookS: l.Took.Seconds(), UsualS: l.Usual.Seconds()}
	}
	switch {
	case s.Held:
		to.Holder = &api.HolderStatus{Member: n.self, Name: n.cfg.Certificate.Body().Name, Hop: s.Hop, Fence: token.Fence(s.Born, s.Hop), How: api.Here}
		if s.Executing {
			to.Holder.ProgramEndsS = api.AgeOf(s.Ends.Sub(now))
			if s.Across {
				to.Holder.AwayS = to.Holder.ProgramEndsS
			}
			if begun > 0 {
				to.Holder.ProgramS = api.AgeOf(now.Sub(begun))
			}
		}
		return
	case !o.Holder.IsZero() && o.Holder != n.self:
		to.Holder = &api.HolderStatus{Member: o.Holder, Name: nameOf(o.Holder), Hop: o.Hop, How: howKnown(o, n.self), By: o.By, ByName: nameOf(o.By), AgeS: *api.AgeOf(now.Sub(o.At)), SinceS: api.AgeOf(now.Sub(o.First()))}
		if o.Born > 0 {
			to.Holder.Fence = token.Fence(o.Born, o.Hop)
		}
		if o.Ends > now {
			to.Holder.ProgramEndsS = api.AgeOf(o.Ends.Sub(now))
			if o.Runs > 0 {
				to.Holder.ProgramS = api.AgeOf(now.Sub(o.Runs))
			}
		}
		if o.Away > now {
			to.Holder.AwayS = api.AgeOf(o.Away.Sub(now))
		}
	}
	switch o.Search {
	case policy.Asking:
		to.Search = &api.SearchStatus{Stage: "asking"}
	case policy.Lost:
		to.Search = &api.SearchStatus{Stage: "lost", DueS: api.AgeOf(o.Due.Sub(now))}
	}
	if p, ok := forecast.Of(s, now); ok {
		to.Eta = &api.EtaStatus{P50S: p.P50.Seconds(), P95S: p.P95.Seconds(), Basis: string(p.Basis), Before: p.Before, Overdue: p.Overdue}
	}
}

func howKnown(o *policy.Observation, self ident.Member) api.How {
	switch o.By {
	case self:
		return api.Proved
	case o.Holder:
		return api.Said
	}
	return api.Told
}

// begun is when the program began that runs under a token of a resource; 0 if that is not known.
func (hs *heldGrants) begun(resource string, t ident.Token) clock.Instant {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	for _, h := range hs.byID {
		if h.grant.Resource == resource && h.grant.Token == t {
			return h.begun
		}
	}
	return 0
}
