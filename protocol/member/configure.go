package member

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

// A slot leaves when the configuration in force lacks it. From then on nothing is
// granted in it, its offers are refused and its transfers declined, and it has no
// policy. A token here is dropped at once, or, if a program runs under it, when that
// has ended. Then the slot is forgotten. A token in progress is up to the handoff:
// should custody come back by a VOID, it is dropped.

// slotsNamed is how many slots that leave a report names.
const slotsNamed = 8

// configure makes the slots that the group configuration asks for, and returns
// those with a new policy, which are to be resumed. Slots that it lacks leave.
func (c *circulation) configure() (fresh []*slot, err error) {
	settings := c.cfg.Group.Config().Settings()
	for _, r := range settings.Resources { // all or nothing
		if err := catalog.Check(r.Policy, r.PolicyParams()); err != nil {
			return nil, fmt.Errorf("resource %q: %w", r.Name, err)
		}
	}
	c.settings = settings
	c.dir.SetLimit(c.settings.MembersMax)
	c.dir.SetQuorum(c.settings.FailureQuorum)
	c.dir.ForgetRevocations(c.settings.RevocationFloor)
	configured := make(map[slotKey]bool)
	c.limits = newLimits(c.settings.Slots())
	for _, r := range c.settings.Resources {
		params := c.settings.PolicyParams(r)
		hours := c.schedule.of(r)
		for n := range uint64(r.Slots) {
			k := slotKey{r.Name, n}
			configured[k] = true
			old := c.slots.byKey[k]
			if old != nil && !old.leaving && old.resource.Policy == r.Policy && old.params == params {
				old.resource = r
				c.schedule.set(old, hours)
				c.entries.refresh(old)
				continue
			}
			former := time.Duration(0) // the longest program under the configuration before
			if old != nil {
				former = old.resource.MaxHold
			}
			p, err := c.makePolicy(k, r, params, former)
			if err != nil {
				return nil, err
			}
			if old == nil {
				old = &slot{key: k, timer: clock.Never, place: -1}
				c.slots.byKey[k] = old
			} else if old.resource.Policy != r.Policy || old.resource.Preset != r.Preset {
				c.custody.clearFields(old)
			}
			old.resource, old.params, old.policy, old.demand, old.leaving = r, params, p, false, false
			old.closed = c.entries.isClosed(old)
			c.schedule.set(old, hours)
			c.slots.timers.set(old, clock.Never)
			c.live.monitors.unwatchAll(old)
			fresh = append(fresh, old)
		}
	}
	c.leaveSlots(configured)
	c.schedule.look()
	c.changed = true // there may be a ring now, or none any more
	return fresh, nil
}

// makePolicy makes the policy of a slot. Programs may run from before it for as long as the
// former configuration lets them.
func (c *circulation) makePolicy(k slotKey, r group.Resource, params policy.Params, former time.Duration) (policy.Policy, error) {
	seed, slot := c.nextSeed(), directory.SlotID(k.resource, k.number)
	p, err := c.cfg.policies(r.Policy, params, policy.Surroundings{
		Self: c.self, Random: rand.NewChaCha8(seed), Roster: roster{c.candidates, k}, Slot: slot, Class: c.dir.Class,
		Electorate: electorate{c.dir, slot}, Longest: former, Patience: c.live.own.multiplier, Forgetful: !c.cfg.Durable,
		Young: former == 0, Receipt: c.receipts.read, Serial: func() uint64 { return c.custody.handoff.Position().Serial },
	})
	if err != nil {
		return nil, fmt.Errorf("resource %q: %w", r.Name, err)
	}
	if o := c.cfg.Observer; o != nil {
		o.PolicyMade(r.Name, k.number, r.Policy, params, seed)
	}
	return p, nil
}

// leaveSlots has every slot leave that is not configured, and refuses the programs that wait
// for a resource without a slot.
func (c *circulation) leaveSlots(configured map[slotKey]bool) {
	var running []string
	for _, s := range c.slots.order {
		if configured[s.key] {
			continue
		}
		if c.leaveSlot(s); c.slots.byKey[s.key] != nil {
			running = append(running, s.key.String())
		}
	}
	c.slots.sort() // once: there may be thousands
	if len(running) > 0 {
		c.emit(effect.Report{
			Kind: "slots leaving", About: c.self,
			Detail: fmt.Sprintf("the group configuration lacks them, and %d programs still run: %s",
				len(running), strings.Join(running[:min(len(running), slotsNamed)], "; ")),
		})
	}
	c.demands.list = slices.DeleteFunc(c.demands.list, func(d *demand) bool {
		if configured[slotKey{d.resource, 0}] {
			return false
		}
		c.emit(effect.Refuse{Request: d.request, Reason: ErrResource})
		return true
	})
}

func (c *circulation) leaveSlot(s *slot) {
	c.slots.timers.set(s, clock.Never)
	c.live.monitors.unwatchAll(s)
	c.entries.giveUp(s)
	s.leaving, s.policy, s.demand, s.founding = true, nil, false, founding{}
	for _, h := range c.custody.of(s) {
		c.custody.handoff.Keep(h.token, h.hop) // a member that has accepted it is told
		c.custody.dropLeaving(h)
	}
	c.custody.forgetSlot(s)
}

// renewPolicies gives each slot a policy that knows of no token. What the old ones were
// to be told they are not.
func (c *circulation) renewPolicies() {
	c.events.clear()
	for _, s := range slices.Clone(c.slots.order) {
		if s.leaving {
			c.custody.forgetSlot(s)
			continue
		}
		p, err := c.makePolicy(s.key, s.resource, s.params, 0)
		if err != nil {
			continue // it was made before
		}
		s.policy, s.demand = p, false
		c.slots.timers.set(s, clock.Never)
		c.live.monitors.unwatchAll(s)
	}
	c.slots.sort()
}

// resumeSlots tells new policies what their slots remember and hold, and then which members are connected. Nobody would count as
// steady (P-70) in their eyes before it connects anew.
func (c *circulation) resumeSlots(slots []*slot) {
	for _, s := range slots {
		c.resumeSlot(s)
	}
	for _, id := range c.peers.inOrder {
		if c.peers.of(id).hello == nil {
			continue
		}
		for _, s := range slots {
			c.events.notify(s, policy.Event{Kind: policy.Greeted, From: id})
		}
	}
}

// resumeSlot tells a new policy what the slot remembers and holds. A token that the former
// policy released, and nobody has accepted, belongs to the new one. While the member waits
// for greetings the policy is told nothing: the end of that resumes all slots.
func (c *circulation) resumeSlot(s *slot) {
	if c.recalling {
		return
	}
	for _, v := range s.visits {
		ago := int64(c.now.Micros()) - int64(v.At)
		at := c.now.Boot - clock.Instant(max(0, ago)*1000)
		c.events.notify(s, policy.Event{
			Kind: policy.Recalled, At: at, Operated: v.Operated,
			Token: policy.Token{ID: v.Token, Born: v.Born, Generator: v.Generator},
		})
	}
	c.complaints.resume(s, func(e policy.Event) { c.events.notify(s, e) })
	c.notifyNeighbour(s)
	c.demands.notify(s)
	holds := c.custody.of(s)
	for _, h := range holds {
		c.custody.handoff.Keep(h.token, h.hop)
		if h.grant != nil {
			h.grant.resumed = true
			c.events.notify(s, policy.Event{Kind: policy.Running, Token: c.custody.describe(h)})
			c.grants.tellsAway(h.grant)
		}
	}
	for _, h := range holds {
		if h.grant == nil {
			c.events.notify(s, policy.Event{Kind: policy.Resumed, Token: c.custody.describe(h)})
		}
	}
	c.events.notify(s, policy.Event{Kind: policy.Timer}) // begin to wait for a token
}
