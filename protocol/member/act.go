package member

import (
	"fmt"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// votersNamed bounds the members that one report names whose votes are missing.
const votersNamed = 4

// decide lets a policy answer one event and performs its actions.
func (c *circulation) decide(h policyEvent) {
	if h.slot.leaving {
		return
	}
	c.actions = h.slot.policy.Step(c.now.Boot, h.event, c.actions[:0])
	if o := c.cfg.Observer; o != nil {
		o.PolicyStepped(h.slot.key.resource, h.slot.key.number, c.now.Boot, h.event, c.actions)
	}
	for i := range c.actions {
		c.act(h.slot, &c.actions[i])
	}
	c.slots.timers.set(h.slot, h.slot.policy.Deadline())
	c.noteIsolated(h.slot)
	if held := c.custody.holds[h.event.Token.ID]; held != nil && c.stopping && held.grant == nil {
		c.custody.handoff.Release(held.token, held.hop, ident.Member{}, held.field)
	}
}

// noteIsolated reports that votes are missing, and that they come again.
func (c *circulation) noteIsolated(s *slot) {
	v, ok := s.policy.(policy.Isolated)
	if !ok {
		return
	}
	_, missing, is := v.Isolated()
	if is == s.isolated {
		return
	}
	s.isolated = is
	if !is {
		c.emit(effect.Report{Kind: "votes are back", About: c.self, Detail: s.key.String() + ": a program begins"})
		return
	}
	why := fmt.Sprintf("no vote has come from %d members, among them %v", len(missing), missing[:min(len(missing), votersNamed)])
	if c.dir.Sampled() {
		why = "this member keeps a sample of the group only, and does not know who votes: leave directory.sample out"
	}
	c.emit(effect.Report{
		Kind: "votes missing", About: c.self,
		Detail: fmt.Sprintf("%v: no program begins (on_isolated = %q); %s", s.key, s.params.OnIsolated.String(), why),
	})
}

func (c *circulation) act(s *slot, a *policy.Action) {
	switch a.Kind {
	case policy.Generate:
		c.mint.generate(s, false)
	case policy.Tell:
		c.messenger.sendFor(s, a)
	case policy.Watch:
		c.live.monitors.watch(s, a.To)
	case policy.Unwatch:
		c.live.monitors.unwatch(s, a.To)
	case policy.Shun:
		c.candidates.shun(s, a)
	case policy.Complain:
		c.complaints.write(s, a)
	default:
		if h := c.custody.holds[a.Token]; h != nil && h.slot == s {
			c.actOn(h, a)
		}
	}
}

// actOn performs an action on a token in custody.
func (c *circulation) actOn(h *hold, a *policy.Action) {
	switch a.Kind {
	case policy.Run:
		c.grants.run(h, a.At)
	case policy.Prepare:
		if !c.cfg.NoPreOffer {
			c.custody.handoff.Prepare(h.token, h.hop, a.To)
		}
	case policy.Pass:
		if h.grant == nil {
			if a.Firm {
				c.custody.handoff.Keep(h.token, h.hop)
			}
			c.custody.handoff.Release(h.token, h.hop, a.To, a.Field)
		}
	case policy.Drop:
		if c.custody.handoff.Drop(h.token, h.hop, uint64(a.Reason)) {
			c.custody.dropped++
			delete(c.custody.holds, h.token)
		}
	}
}
