package member

import (
	"bytes"
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

// killMargin is from the instant at which a grant's program is killed to the
// one from which it counts as dead: what a kill may take on a busy machine.
const killMargin = 250 * time.Millisecond

// grant is a permission in force, or one that the gate is asked for.
type grant struct {
	id       ident.Grant
	hold     *hold
	deadline clock.Instant // from which its program counts as dead
	// killing is set when this member has seen that the program is being killed. A
	// machine may have slept over the deadline: then the killer has only just woken
	// up, too, and needs killMargin from now on.
	killing bool
	record  *journal.Started // nil before the gate has opened
	entry   *entry           // its session at the gate; nil: there is none
	resumed bool             // from before a restart or another policy: the slot's does not know of it
	found   bool             // past its deadline, or of an earlier boot, at a restart
}

// grants are the permissions in force.
type grants struct {
	*core
	slots   *slotTable
	custody *custody
	demands *demands
	entries *entries
	hours   *schedule
	events  *events
	inForce map[ident.Grant]*grant
}

// demand takes in that a program waits, or refuses it.
func (l *grants) demand(d Demand) {
	switch {
	case l.revoked:
		l.emit(effect.Refuse{Request: d.Request, Reason: ErrRevoked})
	case l.stopping:
		l.emit(effect.Refuse{Request: d.Request, Reason: ErrStopping})
	case l.demands.expired() != nil:
		l.emit(effect.Refuse{Request: d.Request, Reason: l.demands.expired()})
	case l.slots.configured(d.Resource, 0) == nil:
		l.emit(effect.Refuse{Request: d.Request, Reason: ErrResource})
	case d.Across && !l.cfg.Durable:
		l.emit(effect.Refuse{Request: d.Request, Reason: ErrVolatile})
	case l.holdsOneOf(d.Held, d.Resource):
		l.emit(effect.Refuse{Request: d.Request, Reason: ErrHeld})
	case l.demands.waiting(d.Resource) >= MaxWaiters:
		l.emit(effect.Refuse{Request: d.Request, Reason: ErrWaiters})
	default:
		l.demands.list = append(l.demands.list, &demand{d.Request, d.Resource, d.MaxHold, d.OncePer, d.Asker, d.Across, l.now.Boot})
		l.demands.hasChanged(d.Resource)
	}
}

// holdsOneOf reports whether one of the grants is in force here for the resource.
func (l *grants) holdsOneOf(grants []ident.Grant, resource string) bool {
	return slices.ContainsFunc(grants, func(id ident.Grant) bool {
		g := l.inForce[id]
		return g != nil && g.hold.slot.key.resource == resource
	})
}

// run grants a token to the program that has waited longest, to be killed at an instant
// at the latest, unless that is zero, and when the resource's window closes. If the resource has a gate, the program waits until that has
// opened.
func (l *grants) run(h *hold, latest clock.Instant) {
	if h.grant != nil {
		return
	}
	if latest == 0 {
		latest = clock.Never
	}
	latest = min(latest, l.hours.closes(h.slot))
	var d *demand
	if latest > l.now.Boot && l.entries.admits(h) && !h.slot.shut(l.now.Boot) {
		d = l.demands.take(h.slot)
	}
	if d == nil {
		l.events.notify(h.slot, policy.Event{Kind: policy.OperationEnded, Token: l.custody.describe(h)})
		return
	}
	g := &grant{hold: h}
	h.grant = g
	l.custody.handoff.SetBusy(h.token, h.hop, true)
	if l.entries.gated(h.slot) {
		l.entries.signIn(g, d, latest)
	} else {
		l.begin(g, d, latest, 0, 0)
	}
	l.demands.hasChanged(d.resource)
}

// begin lets a program run under a session at the gate, or under none. The grant is durable before the program
// starts.
func (l *grants) begin(g *grant, d *demand, latest clock.Instant, session, entry uint64) {
	h := g.hold
	length := h.slot.resource.MaxHold
	if d.maxHold > 0 {
		length = min(length, d.maxHold)
	}
	length = min(length, latest.Sub(l.now.Boot))
	killed := l.now.Boot.Add(length)
	g.deadline = killed.Add(killMargin)
	_, _ = l.sources.member.Read(g.id[:]) // never fails
	l.inForce[g.id] = g
	h.slot.passages.began(l.now.Boot)
	g.record = &journal.Started{
		Grant: g.id, Token: h.token, Hop: h.hop, Resource: h.slot.key.resource,
		Deadline: uint64(g.deadline), Length: uint64(g.deadline.Sub(l.now.Boot)), Boot: l.cfg.Boot, Machine: l.cfg.Machine,
		Asker: d.asker,
	}
	if d.across {
		g.record.Across = uint64(l.now.Wall.Add(g.deadline.Sub(l.now.Boot)).UnixMilli())
	}
	l.persist(g.record, true)
	l.tellsAway(g)
	l.emit(effect.Grant{
		Request: d.request, Grant: g.id, Resource: h.slot.key.resource, Slot: h.slot.key.number,
		Token: h.token, Hop: h.hop, Fence: token.Fence(l.custody.describe(h).Born, h.hop), Deadline: killed, Length: length,
		Session: session, Entry: entry,
	})
}

// reported ends a grant by the word of what ran its program.
func (l *grants) reported(e Ended) {
	r := &journal.Ended{Grant: e.Grant, Operated: e.Operated, Cause: journal.EndReported}
	if e.Operated && 0 < e.SeenFrom && e.SeenFrom <= e.SeenTo && e.SeenTo <= l.now.Boot {
		if from, to := l.stamp(e.SeenFrom)+1, l.stamp(e.SeenTo)-1; 0 < from && from <= to { // rounded inwards
			r.SeenFrom, r.SeenTo = from, to
		}
	}
	l.ended(r)
}

// stamp is an instant of the past by the wall clock as it is set now.
func (l *grants) stamp(at clock.Instant) uint64 {
	return max(1, l.now.Micros()-min(l.now.Micros(), uint64(l.now.Boot.Sub(at).Microseconds())))
}

// ended is the end of a grant's program: by its own word, or because its
// deadline has come and it is dead with or without this member.
func (l *grants) ended(r *journal.Ended) {
	g := l.inForce[r.Grant]
	if g == nil {
		return
	}
	delete(l.inForce, r.Grant)
	l.persist(r, false)
	if g.entry != nil {
		l.entries.signOut(g.entry, r.Operated)
		return
	}
	l.over(g, r.Operated)
}

// over lets a token go under which nothing runs any more, and its gate has let go.
func (l *grants) over(g *grant, operated bool) {
	h := g.hold
	h.grant = nil
	if h.lost {
		return
	}
	if operated {
		if title, ok := l.custody.handoff.Title(h.token, h.hop); ok {
			l.slots.visit(h.slot, title, true)
		}
	}
	l.custody.handoff.SetBusy(h.token, h.hop, false)
	if h.slot.leaving {
		l.custody.finishLeaving(h)
		return
	}
	if g.resumed && operated { // the policy has not been told that it ran
		l.events.notify(h.slot, policy.Event{Kind: policy.Recalled, At: l.now.Boot, Operated: true, Token: l.custody.describe(h)})
	}
	l.events.notify(h.slot, policy.Event{Kind: policy.OperationEnded, Operated: operated, Token: l.custody.describe(h)})
	if g.resumed {
		l.events.notify(h.slot, policy.Event{Kind: policy.Resumed, Token: l.custody.describe(h)})
	}
}

func (l *grants) tick() {
	for _, g := range l.inOrder() {
		if g.next() > l.now.Boot {
			continue
		}
		if !g.killing {
			g.killing = true
			g.deadline = max(g.deadline, l.now.Boot.Add(killMargin))
		}
		if g.deadline <= l.now.Boot {
			cause := journal.EndDeadline
			if g.found {
				cause = journal.EndRestarted
			}
			l.ended(&journal.Ended{Grant: g.id, Operated: true, Cause: cause})
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

// runs reports whether a program runs under the grant.
func (g *grant) runs() bool { return g != nil && (g.entry == nil || g.entry.state == open) }

func (l *grants) inOrder() []*grant {
	if len(l.inForce) == 0 {
		return nil
	}
	return slices.SortedFunc(maps.Values(l.inForce), func(a, b *grant) int { return bytes.Compare(a.id[:], b.id[:]) })
}

// resume waits for programs that may still run: of this boot, before
// their deadline. Those of an earlier boot are dead.
func (l *grants) resume(started map[ident.Grant]*journal.Started) {
	for id, r := range started {
		h := l.custody.holds[r.Token]
		if h == nil || h.hop != r.Hop {
			continue
		}
		g := &grant{id: id, hold: h, deadline: clock.Instant(r.Deadline), record: r, resumed: true}
		l.inForce[id] = g
		h.grant = g
		if left := g.acrossLeft(l.now); r.Boot != l.cfg.Boot && left > 0 {
			g.deadline = l.now.Boot.Add(left)
		} else if r.Boot != l.cfg.Boot {
			g.deadline, g.killing = l.now.Boot, true // the first tick ends it
		}
		g.found = g.deadline <= l.now.Boot
		l.custody.handoff.SetBusy(h.token, h.hop, true)
	}
}

// runsLost reports whether a program still runs under a token of a memory that was given
// up.
func (l *grants) runsLost() bool {
	for _, g := range l.inForce {
		if g.hold.lost {
			return true
		}
	}
	return false
}

// next is when tick has something to do.
func (l *grants) next() clock.Instant {
	next := clock.Never
	for _, g := range l.inForce {
		next = min(next, g.next())
	}
	return next
}
