package member

import (
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/wire"
)

// notice passes on to the policy what happened to custody, and evidence to the
// driver.
func (c *circulation) notice(n *handoff.Notice) {
	if n.Kind == handoff.Convicted {
		c.prosecutor.convict(n.Peer, n.Objects[0], n.Objects[1])
		return
	}
	t := n.Title.Token()
	g := n.Title.Genesis.Body()
	s := c.slots.configured(g.Resource, g.Slot)
	if s == nil {
		c.noticeUnconfigured(slotKey{g.Resource, g.Slot}, n)
		return
	}
	switch n.Kind {
	case handoff.Gained:
		if c.custody.endsFork(s, t, n.Hop) {
			return
		}
		h := c.custody.hold(s, n.Title, n.Hop)
		c.slots.visit(s, n.Title, false)
		s.passages.arrived(t, n.Hop, c.now.Boot)
		// What the token says of the future is a wrong clock's.
		s.lastOperation = max(s.lastOperation, min(n.Title.Transfer.Body().LastOperation(), c.now.Millis())*1000)
		arrival := policy.Event{Kind: policy.Arrival, From: n.Peer, Belated: n.Belated, Token: c.custody.describe(h)}
		if s.resource.Policy == catalog.Ring {
			arrival.Skipped = c.ring.findSkipped(n.Peer, n.Giver)
		}
		c.events.notify(s, arrival)
	case handoff.Returned:
		c.unwilling(n.Peer)
		if c.custody.endsFork(s, t, n.Hop) {
			return
		}
		h := c.custody.hold(s, n.Title, n.Hop)
		c.events.notify(s, policy.Event{Kind: policy.PassEnded, Outcome: policy.Returned, Token: c.custody.describe(h)})
	case handoff.Unwanted:
		c.unwilling(n.Peer)
		if h := c.custody.holds[t]; h != nil && !c.stopping {
			c.events.notify(s, policy.Event{Kind: policy.PassEnded, Outcome: policy.Returned, Token: c.custody.describe(h)})
		}
	case handoff.Parted:
		delete(c.custody.holds, t)
		if _, kept := s.policy.(policy.Admitter); !kept { // only a keeper looks after what has left
			return
		}
		c.events.notify(s, policy.Event{Kind: policy.Parted, From: n.Peer, Token: policy.Token{ID: t, Born: g.Time, Generator: g.Generator, Hop: n.Hop}})
	case handoff.Delivered, handoff.Abandoned:
		if c.custody.holds[t] != nil { // it has come back meanwhile, and the policy knows it as new
			if n.Kind == handoff.Delivered {
				c.events.notify(s, policy.Event{Kind: policy.Parted, From: n.Peer, Body: n.Receipt, Token: policy.Token{ID: t, Born: g.Time, Generator: g.Generator, Hop: n.Hop}})
			}
			return
		}
		outcome, receiver := policy.Delivered, n.Peer
		if n.Kind == handoff.Delivered {
			s.passages.departed(c.self, receiver, g.Time, t, n.Hop, c.now.Boot)
		}
		if n.Kind == handoff.Abandoned {
			outcome, receiver = policy.Abandoned, ident.Member{}
		}
		c.events.notify(s, policy.Event{Kind: policy.PassEnded, Outcome: outcome, From: receiver, Body: n.Receipt, Token: policy.Token{ID: t, Born: g.Time, Generator: g.Generator, Hop: n.Hop}})
	}
}

// noticeUnconfigured drops a token whose slot is not configured when custody of it is
// here again.
func (c *circulation) noticeUnconfigured(k slotKey, n *handoff.Notice) {
	if n.Kind == handoff.Gained || n.Kind == handoff.Returned {
		c.custody.drop(k, n.Title.Token(), n.Hop, policy.Unconfigured)
	}
}

// unwilling notes that a member did not take a token. If it is the neighbour, the
// policies learn of another one before they decide anew. If a token was to go back to it, none
// does for a while.
func (c *circulation) unwilling(id ident.Member) {
	if (id == c.ring.id || id == c.ring.skipped) && !id.IsZero() {
		c.live.absences.unwilling(id)
		c.lookAround()
	}
}

// refused looks at the one refusal that concerns a token's age: a token still
// at its generator that was made by a wrong clock is dropped and
// made anew (rule H-41). One that was elsewhere nobody honest refuses for that.
func (c *circulation) refused(msg *wire.Refuse) {
	h := c.custody.holds[msg.Token]
	if msg.Reason != wire.RefuseClock || h == nil || h.grant != nil {
		return
	}
	title, ok := c.custody.handoff.Title(h.token, h.hop)
	if !ok || h.hop > 0 || c.admission.clocks.distance(c.now, title.Genesis.Body().Time) <= c.settings.ClockAllowance/2 {
		return
	}
	s, t := h.slot, c.custody.describe(h)
	if c.custody.drop(s.key, h.token, h.hop, policy.Superseded) {
		delete(c.custody.holds, h.token)
		c.mint.generate(s, false)
		c.events.notify(s, policy.Event{Kind: policy.PassEnded, Outcome: policy.Abandoned, Token: t})
	}
}
