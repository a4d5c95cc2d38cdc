package member

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
)

// MaxWaiters bounds the local programs that wait for one resource: more than
// anybody can serve, few enough to look through.
const MaxWaiters = 1024

// killMargin is from the instant at which a grant's program is killed to the
// one from which it is taken for dead: what a kill may take on a busy machine.
const killMargin = 250 * time.Millisecond

// demand is a local program that waits for a resource.
type demand struct {
	request  uint64
	resource string
	maxHold  time.Duration
	oncePer  time.Duration
}

// grant is a permission in force.
type grant struct {
	id       ident.Grant
	hold     *hold
	deadline clock.Instant // from which its program is taken for dead
	// killing is set when this member has seen that the program is being killed. A
	// machine may have slept over the deadline: then the killer has only just woken
	// up, too, and needs killMargin from now on.
	killing bool
	record  *journal.Started
	resumed bool // from before a restart or another policy: the slot's does not know of it
	found   bool // past its deadline, or of an earlier boot, at a restart
}

func (m *Member) demand(d Demand) {
	switch {
	case m.revoked:
		m.emit(effect.Refuse{Request: d.Request, Reason: ErrRevoked})
	case m.stopping:
		m.emit(effect.Refuse{Request: d.Request, Reason: ErrStopping})
	case m.expired() != nil:
		m.emit(effect.Refuse{Request: d.Request, Reason: m.expired()})
	case m.configuredSlot(d.Resource, 0) == nil:
		m.emit(effect.Refuse{Request: d.Request, Reason: ErrResource})
	case m.holdsOneOf(d.Held, d.Resource):
		m.emit(effect.Refuse{Request: d.Request, Reason: ErrHeld})
	case m.waiting(d.Resource) >= MaxWaiters:
		m.emit(effect.Refuse{Request: d.Request, Reason: ErrWaiters})
	default:
		m.demands = append(m.demands, &demand{d.Request, d.Resource, d.MaxHold, d.OncePer})
		m.demandChanged(d.Resource)
	}
}

// holdsOneOf reports whether one of the grants is in force here for the resource.
func (m *Member) holdsOneOf(grants []ident.Grant, resource string) bool {
	return slices.ContainsFunc(grants, func(id ident.Grant) bool {
		g := m.grants[id]
		return g != nil && g.hold.slot.key.resource == resource
	})
}

// expired is nil while this member's own certificate is valid.
func (m *Member) expired() error {
	if err := m.cfg.Certificate.ValidAt(m.now.Wall); err != nil {
		return fmt.Errorf("%w: %w", ErrExpired, err)
	}
	return nil
}

// lapse refuses all who wait once this member's own certificate has run out:
// nobody hands it a token any more, and what it holds it may not use. It goes
// on otherwise, since it may be its clock that is wrong.
func (m *Member) lapse() {
	if len(m.demands) == 0 {
		return
	}
	reason := m.expired()
	if reason == nil {
		return
	}
	m.refuseAll(reason)
}

// refuseAll refuses all who wait.
func (m *Member) refuseAll(reason error) {
	for _, d := range m.demands {
		m.emit(effect.Refuse{Request: d.request, Reason: reason})
	}
	m.demands = nil
	for _, s := range m.order {
		m.tellDemand(s)
	}
}

func (m *Member) withdraw(request uint64) {
	for i, d := range m.demands {
		if d.request == request {
			m.demands = slices.Delete(m.demands, i, i+1)
			m.demandChanged(d.resource)
			return
		}
	}
}

// waiting is how many programs wait for a resource.
func (m *Member) waiting(resource string) int {
	n := 0
	for _, d := range m.demands {
		if d.resource == resource {
			n++
		}
	}
	return n
}

func (m *Member) demandChanged(resource string) {
	for _, s := range m.order {
		if s.key.resource == resource {
			m.tellDemand(s)
		}
	}
}

// tellDemand tells a slot's policy whether anybody waits, when that is news.
func (m *Member) tellDemand(s *slot) {
	if m.recalling {
		return // it is told at the end of that
	}
	wanted := m.waiting(s.key.resource) > 0
	if wanted != s.demand {
		s.demand = wanted
		m.events.notify(s, policy.Event{Kind: policy.DemandChanged, Demand: wanted})
	}
}

// run grants a token to the program that has waited longest, to be killed at an instant
// at the latest, unless that is zero. The grant is durable before the program starts.
func (m *Member) run(h *hold, latest clock.Instant) {
	if h.grant != nil {
		return
	}
	left := clock.Never.Sub(m.now.Boot)
	if latest != 0 {
		left = latest.Sub(m.now.Boot)
	}
	var d *demand
	if left > 0 {
		d = m.nextDemand(h.slot)
	}
	if d == nil {
		m.events.notify(h.slot, policy.Event{Kind: policy.OperationEnded, Token: m.describe(h)})
		return
	}
	length := h.slot.resource.MaxHold
	if d.maxHold > 0 {
		length = min(length, d.maxHold)
	}
	length = min(length, left)
	killed := m.now.Boot.Add(length)
	g := &grant{hold: h, deadline: killed.Add(killMargin)}
	_, _ = m.sources.member.Read(g.id[:]) // never fails
	m.grants[g.id] = g
	h.grant = g
	m.handoff.SetBusy(h.token, h.hop, true)
	g.record = &journal.Started{
		Grant: g.id, Token: h.token, Hop: h.hop, Resource: h.slot.key.resource,
		Deadline: uint64(g.deadline), Length: uint64(g.deadline.Sub(m.now.Boot)), Boot: m.cfg.Boot, Machine: m.cfg.Machine,
	}
	m.persist(g.record, true)
	m.emit(effect.Grant{
		Request: d.request, Grant: g.id, Resource: h.slot.key.resource, Slot: h.slot.key.number,
		Token: h.token, Hop: h.hop, Fence: token.Fence(m.describe(h).Born, h.hop), Deadline: killed, Length: length,
	})
	m.demandChanged(d.resource)
}

// nextDemand takes the demand that has waited longest. Those that the slot's
// last operation, as far as it is known here, is too recent for are refused.
func (m *Member) nextDemand(s *slot) *demand {
	for i := 0; i < len(m.demands) && !m.stopping; {
		d := m.demands[i]
		if d.resource != s.key.resource {
			i++
			continue
		}
		m.demands = slices.Delete(m.demands, i, i+1)
		if m.due(s, d.oncePer) {
			return d
		}
		m.emit(effect.Refuse{Request: d.request, Reason: ErrNotDue})
		m.demandChanged(d.resource)
	}
	return nil
}

// due reports whether the slot's last operation was so long ago. One of the
// future, which only a clock that was set back can tell of, counts as one of now:
// a wrong clock delays nobody for longer than that.
func (m *Member) due(s *slot, oncePer time.Duration) bool {
	now := m.now.Micros()
	s.lastOperation = min(s.lastOperation, now)
	return s.lastOperation == 0 || now-s.lastOperation >= uint64(oncePer.Microseconds())
}

// reported ends a grant by the word of what ran its program.
func (m *Member) reported(e Ended) {
	r := &journal.Ended{Grant: e.Grant, Operated: e.Operated, Cause: journal.EndReported}
	if e.Operated && 0 < e.SeenFrom && e.SeenFrom <= e.SeenTo && e.SeenTo <= m.now.Boot {
		if from, to := m.stamp(e.SeenFrom)+1, m.stamp(e.SeenTo)-1; 0 < from && from <= to { // rounded inwards
			r.SeenFrom, r.SeenTo = from, to
		}
	}
	m.ended(r)
}

// stamp is an instant of the past by the wall clock as it is set now.
func (m *Member) stamp(at clock.Instant) uint64 {
	return max(1, m.now.Micros()-min(m.now.Micros(), uint64(m.now.Boot.Sub(at).Microseconds())))
}

// ended is the end of a grant's program: by its own word, or because its
// deadline has come and it is dead with or without this member.
func (m *Member) ended(r *journal.Ended) {
	g := m.grants[r.Grant]
	if g == nil {
		return
	}
	delete(m.grants, r.Grant)
	m.persist(r, false)
	h := g.hold
	h.grant = nil
	if h.lost {
		return
	}
	if r.Operated {
		if title, ok := m.handoff.Title(h.token, h.hop); ok {
			m.visit(h.slot, title, true)
		}
	}
	m.handoff.SetBusy(h.token, h.hop, false)
	if h.slot.leaving {
		m.finishLeaving(h)
		return
	}
	if g.resumed && r.Operated { // the policy does not know that it ran
		m.events.notify(h.slot, policy.Event{Kind: policy.Recalled, At: m.now.Boot, Operated: true, Token: m.describe(h)})
	}
	m.events.notify(h.slot, policy.Event{Kind: policy.OperationEnded, Operated: r.Operated, Token: m.describe(h)})
	if g.resumed {
		m.events.notify(h.slot, policy.Event{Kind: policy.Resumed, Token: m.describe(h)})
	}
}

func (m *Member) expireGrants() {
	for _, g := range m.grantsInOrder() {
		if g.next() > m.now.Boot {
			continue
		}
		if !g.killing {
			g.killing = true
			g.deadline = max(g.deadline, m.now.Boot.Add(killMargin))
		}
		if g.deadline <= m.now.Boot {
			cause := journal.EndDeadline
			if g.found {
				cause = journal.EndRestarted
			}
			m.ended(&journal.Ended{Grant: g.id, Operated: true, Cause: cause})
		}
	}
}

// next is when there is something to do about a grant.
func (g *grant) next() clock.Instant {
	if g.killing {
		return g.deadline
	}
	return g.deadline.Add(-killMargin)
}

func (m *Member) grantsInOrder() []*grant {
	if len(m.grants) == 0 {
		return nil
	}
	return slices.SortedFunc(maps.Values(m.grants), func(a, b *grant) int { return bytes.Compare(a.id[:], b.id[:]) })
}
