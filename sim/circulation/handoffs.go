package circulation

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// handoffs pass tokens from member to member.
type handoffs struct {
	*group
	tokens  *tokens
	network *network
	roster  *roster
	agents  *agents
	losing  int          // so many of the next passes lose their token
	settled policy.Event // what a sender is told once its receiver was
}

// pass begins to hand a token over: to the member named, or to anybody when
// that is zero.
func (h *handoffs) pass(t *token, i int32, to ident.Member, field []byte) {
	s := &h.sites[t.holder]
	s.holds--
	t.state, t.epoch, t.to, t.tries = passing, s.epoch, -1, 0
	if len(field) > policy.MaxField {
		panic("circulation: a policy field longer than policy.MaxField")
	}
	h.network.traffic.passed(field)
	t.Token.Field = append(t.Token.Field[:0], field...)
	if !to.IsZero() {
		t.to = int32(memberIndex(to))
		if t.to < 0 || int(t.to) >= len(h.sites) {
			t.to = t.holder // a stranger is as unreachable as oneself
		}
	}
	if _, kept := s.policy.(policy.Admitter); kept { // only a keeper looks after what has left
		h.schedule(0, parted, t.holder, i, t.epoch)
	}
	if h.passIsLost() {
		h.tokens.end(t, LostInTransit)
		h.stats.Lost++
		h.schedule(abandonAfter, abandoned, t.holder, i, t.epoch)
		return
	}
	h.send(t, i)
}

// prepare begins to look for a receiver of a token that is still in use. Asking
// the same one again goes on with the search.
func (h *handoffs) prepare(t *token, to ident.Member) {
	if h.cfg.Reserving.zero() {
		return
	}
	target := int32(-1)
	if !to.IsZero() {
		target = int32(memberIndex(to))
	}
	if t.reserved != clock.Never && (t.reservedFor == target || target < 0) {
		return
	}
	t.reserved, t.reservedFor = h.now.Add(h.cfg.Reserving.draw(h.rng)), target
}

// reserving is how long a pass still waits for its receiver to accept. A receiver
// that was named takes the token also as anybody; anybody is asked again where
// one is named after that.
func (h *handoffs) reserving(t *token) time.Duration {
	if h.cfg.Reserving.zero() {
		return 0
	}
	reserved := t.reserved
	if reserved == clock.Never || t.to >= 0 && t.reservedFor != t.to {
		reserved = h.now.Add(h.cfg.Reserving.draw(h.rng))
	}
	t.reserved = clock.Never // whoever is asked next has accepted nothing
	return max(0, reserved.Sub(h.now))
}

// passIsLost decides whether the pass that begins loses its token.
func (h *handoffs) passIsLost() bool {
	if h.losing > 0 {
		h.losing--
		return true
	}
	return h.cfg.PassLoss > 0 && h.rng.Float64() < h.cfg.PassLoss
}

// send lets a token be on its way.
func (h *handoffs) send(t *token, i int32) {
	reserving, latency := h.reserving(t), h.cfg.Passing.draw(h.rng)
	to := t.to
	if to < 0 {
		if to = h.choose(t.holder); to < 0 {
			h.schedule(reserving+latency+nobodyPause, returned, 0, i, 0)
			return
		}
	} else if to == t.holder || h.sites[to].place < 0 {
		h.stats.Refused++
		h.roster.try(t.holder, to)
		h.schedule(reserving+latency, returned, 0, i, 0)
		return
	}
	h.scheduleAt(h.network.carry(t.holder, to, h.now, reserving+latency), arrival, to, i, 0)
}

// choose draws a receiver, -1 where there is nobody.
func (h *handoffs) choose(from int32) int32 {
	if h.cfg.Unstated && h.cfg.Directory == nil {
		return h.chooseUnstated(from)
	}
	if h.cfg.Directory != nil {
		to, ok := h.cfg.Directory.Choose(int(from), h.rng)
		if !ok || to < 0 || to >= len(h.sites) || to == int(from) {
			return -1
		}
		return int32(to)
	}
	place := int(h.sites[from].place)
	others := len(h.up)
	if place >= 0 {
		others--
	}
	if others == 0 {
		return -1
	}
	n := h.below(others)
	if place >= 0 && n >= place {
		n++
	}
	return h.up[n]
}

// chooseUnstated draws a receiver of all but those that the sender knows to be down.
func (h *handoffs) chooseUnstated(from int32) int32 {
	drawn := (&memberRoster{h.roster, from}).Draw(1, nil)
	if len(drawn) == 0 {
		return -1
	}
	return int32(memberIndex(drawn[0]))
}

// arrive is the end of a handoff, at the receiver and then at the sender.
func (h *handoffs) arrive(e event) {
	t := &h.tokens.list[e.ref]
	s := &h.sites[e.member]
	if s.place < 0 {
		h.stats.Refused++
		h.roster.try(t.holder, e.member)
		if t.tries++; t.to < 0 && t.tries < triesMax {
			h.send(t, e.ref) // the handoff looks for somebody else
		} else {
			h.comesBack(t, e.ref)
		}
		return
	}
	from, epoch := t.holder, t.epoch
	h.settled = t.Event // the sender's view; after the first step t may be another token
	h.settled.Kind, h.settled.Outcome, h.settled.Operated = policy.PassEnded, policy.Delivered, false
	h.settled.Token.Field, h.settled.From = nil, MemberID(int(e.member))
	t.holder, t.state, t.reserved = e.member, held, clock.Never
	t.Token.Hop++
	s.holds++
	h.stats.Hops++
	if h.cfg.Directory != nil {
		h.cfg.Directory.Passed(t.Token.ID, int(from), int(e.member))
	}
	for _, o := range h.observers {
		o.Visit(h.now, int(e.member), t.Token.ID)
	}
	h.remember(s, t, false)
	t.From = MemberID(int(from))
	h.agents.stepToken(e.member, t, policy.Arrival, false)
	if h.present(from, epoch) {
		h.agents.step(from, &h.settled)
	}
}

// comesBack is a pass that nobody took.
func (h *handoffs) comesBack(t *token, i int32) {
	s := &h.sites[t.holder]
	same := s.epoch == t.epoch
	if s.gone || !same && h.cfg.Forgetful {
		h.tokens.lose(i, LostWithHolder)
		return
	}
	s.holds++
	if s.place < 0 {
		t.state = waiting
		return
	}
	t.state = held
	e := policy.Event{Kind: policy.PassEnded, Outcome: policy.Returned, Token: t.Token}
	if !same { // the sender does not know that it passed it
		e.Kind, e.Outcome = policy.Resumed, 0
	}
	h.agents.step(t.holder, &e)
}

// part tells the sender of a token that it has left, as where its transfer is signed. Nobody is offered a token in vain for long here,
// so that it has left when the pass begins.
func (h *handoffs) part(e event) {
	t := h.tokens.list[e.ref]
	if !h.present(e.member, e.epoch) {
		return
	}
	t.Token.Field = nil
	left := policy.Event{Kind: policy.Parted, Token: t.Token}
	if t.to >= 0 {
		left.From = MemberID(int(t.to))
	}
	h.agents.step(e.member, &left)
}

// abandon tells the sender of a lost token that nobody knows about it.
func (h *handoffs) abandon(e event) {
	t := h.tokens.list[e.ref]
	h.tokens.free(e.ref)
	if h.present(e.member, e.epoch) {
		t.Token.Field = nil
		h.agents.step(e.member, &policy.Event{Kind: policy.PassEnded, Outcome: policy.Abandoned, Token: t.Token})
	}
}
