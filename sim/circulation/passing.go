package circulation

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// pass begins to hand a token over: to the member named, or to anybody when
// that is zero.
func (w *Simulation) pass(t *token, i int32, to ident.Member, field []byte) {
	s := &w.sites[t.holder]
	s.holds--
	t.state, t.epoch, t.to, t.tries = passing, s.epoch, -1, 0
	if len(field) > policy.MaxField {
		panic("circulation: a policy field longer than policy.MaxField")
	}
	w.traffic.passed(field)
	t.Token.Field = append(t.Token.Field[:0], field...)
	if !to.IsZero() {
		t.to = int32(memberIndex(to))
		if t.to < 0 || int(t.to) >= len(w.sites) {
			t.to = t.holder // a stranger is as unreachable as oneself
		}
	}
	if w.passIsLost() {
		w.end(t, LostInTransit)
		w.stats.Lost++
		w.schedule(abandonAfter, abandoned, t.holder, i, t.epoch)
		return
	}
	w.send(t, i)
}

// prepare begins to look for a receiver of a token that is still in use. Asking
// the same one again goes on with the search.
func (w *Simulation) prepare(t *token, to ident.Member) {
	if w.cfg.Reserving.zero() {
		return
	}
	target := int32(-1)
	if !to.IsZero() {
		target = int32(memberIndex(to))
	}
	if t.reserved != clock.Never && (t.reservedFor == target || target < 0) {
		return
	}
	t.reserved, t.reservedFor = w.now.Add(w.cfg.Reserving.draw(w.rng)), target
}

// reserving is how long a pass still waits for its receiver to accept. A receiver
// that was named takes the token also as anybody; anybody is asked again where
// one is named after that.
func (w *Simulation) reserving(t *token) time.Duration {
	if w.cfg.Reserving.zero() {
		return 0
	}
	reserved := t.reserved
	if reserved == clock.Never || t.to >= 0 && t.reservedFor != t.to {
		reserved = w.now.Add(w.cfg.Reserving.draw(w.rng))
	}
	t.reserved = clock.Never // whoever is asked next has accepted nothing
	return max(0, reserved.Sub(w.now))
}

// passIsLost decides whether the pass that begins loses its token.
func (w *Simulation) passIsLost() bool {
	if w.losing > 0 {
		w.losing--
		return true
	}
	return w.cfg.PassLoss > 0 && w.rng.Float64() < w.cfg.PassLoss
}

// send lets a token be on its way.
func (w *Simulation) send(t *token, i int32) {
	reserving, latency := w.reserving(t), w.cfg.Passing.draw(w.rng)
	to := t.to
	if to < 0 {
		if to = w.choose(t.holder); to < 0 {
			w.schedule(reserving+latency+nobodyPause, returned, 0, i, 0)
			return
		}
	} else if to == t.holder || w.sites[to].place < 0 {
		w.stats.Refused++
		w.roster.try(t.holder, to)
		w.schedule(reserving+latency, returned, 0, i, 0)
		return
	}
	w.meet(t.holder, to)
	w.scheduleAt(w.links.order(t.holder, to, w.now, reserving+latency), arrival, to, i, 0)
}

// choose draws a receiver, -1 where there is nobody.
func (w *Simulation) choose(from int32) int32 {
	if w.cfg.Unstated && w.cfg.Directory == nil {
		return w.chooseUnstated(from)
	}
	if w.cfg.Directory != nil {
		to, ok := w.cfg.Directory.Choose(int(from), w.rng)
		if !ok || to < 0 || to >= len(w.sites) || to == int(from) {
			return -1
		}
		return int32(to)
	}
	place := int(w.sites[from].place)
	others := len(w.up)
	if place >= 0 {
		others--
	}
	if others == 0 {
		return -1
	}
	n := w.below(others)
	if place >= 0 && n >= place {
		n++
	}
	return w.up[n]
}

// chooseUnstated draws a receiver of all but those that the sender knows to be down.
func (w *Simulation) chooseUnstated(from int32) int32 {
	drawn := (&memberRoster{&w.roster, from}).Draw(1, nil)
	if len(drawn) == 0 {
		return -1
	}
	return int32(memberIndex(drawn[0]))
}

// arrive is the end of a handoff, at the receiver and then at the sender.
func (w *Simulation) arrive(e event) {
	t := &w.tokens[e.ref]
	s := &w.sites[e.member]
	if s.place < 0 {
		w.stats.Refused++
		w.roster.try(t.holder, e.member)
		if t.tries++; t.to < 0 && t.tries < triesMax {
			w.send(t, e.ref) // the handoff looks for somebody else
		} else {
			w.comesBack(t, e.ref)
		}
		return
	}
	from, epoch := t.holder, t.epoch
	w.settled = t.Event // the sender's view; after the first step t may be another token
	w.settled.Kind, w.settled.Outcome, w.settled.Operated = policy.PassSettled, policy.Delivered, false
	w.settled.Token.Field, w.settled.From = nil, MemberID(int(e.member))
	t.holder, t.state, t.reserved = e.member, held, clock.Never
	t.Token.Hop++
	s.holds++
	w.stats.Hops++
	if w.cfg.Directory != nil {
		w.cfg.Directory.Passed(t.Token.ID, int(from), int(e.member))
	}
	for _, o := range w.observers {
		o.Visit(w.now, int(e.member), t.Token.ID)
	}
	w.remember(s, t, false)
	t.From = MemberID(int(from))
	w.stepToken(e.member, t, policy.Arrival, false)
	if w.present(from, epoch) {
		w.step(from, &w.settled)
	}
}

// comesBack is a pass that nobody took.
func (w *Simulation) comesBack(t *token, i int32) {
	s := &w.sites[t.holder]
	same := s.epoch == t.epoch
	if s.gone || !same && w.cfg.Forgetful {
		w.lose(i, LostWithHolder)
		return
	}
	s.holds++
	if s.place < 0 {
		t.state = waiting
		return
	}
	t.state = held
	e := policy.Event{Kind: policy.PassSettled, Outcome: policy.Returned, Token: t.Token}
	if !same { // the sender does not know that it passed it
		e.Kind, e.Outcome = policy.Resumed, 0
	}
	w.step(t.holder, &e)
}

// abandon tells the sender of a lost token that nobody knows about it.
func (w *Simulation) abandon(e event) {
	t := w.tokens[e.ref]
	w.free(e.ref)
	if w.present(e.member, e.epoch) {
		t.Token.Field = nil
		w.step(e.member, &policy.Event{Kind: policy.PassSettled, Outcome: policy.Abandoned, Token: t.Token})
	}
}
