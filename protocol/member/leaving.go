package member

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// A slot leaves when the configuration in force lacks it. From then on nothing is
// granted in it, its offers are refused and its transfers declined, and it has no
// policy. A token here is dropped at once, or, if a program runs under it, when that
// has ended. Then the slot is forgotten. A token under way is up to the handoff:
// should custody come back by a VOID, it is dropped.

// slotsNamed is how many slots that leave a report names.
const slotsNamed = 8

// configuredSlot is a slot of the configuration in force, or nil.
func (m *Member) configuredSlot(resource string, number uint64) *slot {
	if s := m.slots[slotKey{resource, number}]; s != nil && !s.leaving {
		return s
	}
	return nil
}

// leaveSlots has every slot leave that is not configured, and refuses those who wait
// for a resource that has none.
func (m *Member) leaveSlots(configured map[slotKey]bool) {
	var running []string
	for _, s := range m.order {
		if configured[s.key] {
			continue
		}
		if m.leaveSlot(s); m.slots[s.key] != nil {
			running = append(running, s.key.String())
		}
	}
	m.sortSlots() // once: there may be thousands
	if len(running) > 0 {
		m.emit(effect.Report{
			Kind: "slots leaving", About: m.self,
			Detail: fmt.Sprintf("the group configuration lacks them, and %d programs still run: %s",
				len(running), strings.Join(running[:min(len(running), slotsNamed)], "; ")),
		})
	}
	m.demands = slices.DeleteFunc(m.demands, func(d *demand) bool {
		gone := !configured[slotKey{d.resource, 0}]
		if gone {
			m.emit(effect.Refuse{Request: d.request, Reason: ErrResource})
		}
		return gone
	})
}

func (m *Member) leaveSlot(s *slot) {
	m.timers.set(s, clock.Never)
	m.live.monitors.unwatchAll(s)
	s.leaving, s.policy, s.demand, s.founding = true, nil, false, founding{}
	for _, h := range m.holdsOf(s) {
		m.handoff.Keep(h.token, h.hop) // whoever has accepted it is told
		m.dropLeaving(h)
	}
	m.forgetSlot(s)
}

// dropLeaving drops a token of a slot that is leaving, unless a program runs under it.
func (m *Member) dropLeaving(h *hold) {
	if h.grant == nil && m.drop(h.slot.key, h.token, h.hop, policy.Unconfigured) {
		delete(m.holds, h.token)
	}
}

// drop removes a token for a reason that is this member's, not a policy's.
func (m *Member) drop(k slotKey, t ident.Token, hop uint64, reason policy.DropReason) bool {
	if !m.handoff.Drop(t, hop, uint64(reason)) {
		return false
	}
	m.dropped++
	if o := m.cfg.Observer; o != nil {
		o.Dropped(k.resource, k.number, t, reason)
	}
	return true
}

// forgetSlot ends a slot that is leaving when no token of it is here any more. The
// caller sorts the slots.
func (m *Member) forgetSlot(s *slot) {
	if !s.leaving || len(m.holdsOf(s)) > 0 {
		return
	}
	delete(m.slots, s.key)
}

// finishLeaving ends a slot that is leaving with the program that ran in it.
func (m *Member) finishLeaving(h *hold) {
	m.dropLeaving(h)
	m.forgetSlot(h.slot)
	m.sortSlots()
	m.emit(effect.Report{Kind: "slot gone", About: m.self, Detail: "its program has ended: " + h.slot.key.String()})
}

// noticeUnconfigured drops a token whose slot is not configured when custody of it is
// here again.
func (m *Member) noticeUnconfigured(k slotKey, n *handoff.Notice) {
	if n.Kind == handoff.Gained || n.Kind == handoff.Returned {
		m.drop(k, n.Title.Token(), n.Hop, policy.Unconfigured)
	}
}

// resumeLeaving is the slot of a token under which a program may still run since before
// a restart, though the configuration lacks the slot.
func (m *Member) resumeLeaving(k slotKey) *slot {
	s := &slot{key: k, resource: group.Resource{Name: k.resource}, leaving: true, timer: clock.Never, place: -1}
	m.slots[k] = s
	m.sortSlots()
	return s
}
