package keeper

import (
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// What a holder answers to the messages of others, and does when they connect or fall silent.

// released is a keeper's answer: the promise is given back, or another token circulates.
func (h *holder) released(from ident.Member, m *message) {
	t := h.held.find(&m.token)
	if t == nil || !t.expects(from, m) {
		return
	}
	if m.kind == other {
		if m.member != h.self { // or it is in transit to this member
			h.reporter.sent = sending{t.custody, from}
			h.leaves(t, m.member)
		}
		return
	}
	if t.asked.remove(from); len(t.asked) == 0 || t.event == nil {
		h.reporter.givesBack(t, from) // others may still count on the promise
		h.frees(t)
	}
}

// youngAnswers notes that a member that was asked about a token has just begun its work. After the last
// answer the policy goes on.
func (h *holder) youngAnswers(from ident.Member) {
	t := h.held.first(func(t *held) bool { return t.event != nil && t.state == asking && t.asked.has(from) })
	if t != nil && h.reporter.youngAnswers(t, from) {
		h.frees(t)
	}
}

// tellsToken says that a token of the slot is here, and reports whether one is.
func (h *holder) tellsToken(from ident.Member, m *message) bool {
	if t := h.held.first(func(t *held) bool { return t.event != nil && t.state == asking }); t != nil {
		h.reporter.also(t, from)
		return true
	}
	t := h.held.busy()
	if t == nil {
		if t = h.held.stays(); t == nil {
			return false
		}
	}
	s := h.reporter.statement(t)
	h.send(from, &s)
	if !h.isStruck(from) {
		t.asker = from
		if w := m.member; !w.IsZero() && w != h.self { // who names nobody keeps no other one from being heard of
			t.waiter = w
		}
		if s.span > 0 && h.exclusive {
			t.answers(from)
		}
		if t.isLeaving() {
			h.warns(m.member) // it may come back
		} else {
			h.wakes(m.member)
		}
	}
	return true
}

// warns tells the policy that another member waits for a token that the policy has let go.
func (h *holder) warns(m ident.Member) {
	if !m.IsZero() && m != h.self {
		h.step(policy.Event{Kind: policy.Wanted, From: m})
	}
}

// tellsWay says where the token went that is asked for, and reports whether this member knows. No token is here.
func (h *holder) tellsWay(from ident.Member, m *message) bool {
	h.step(policy.Event{Kind: policy.Sought, Token: policy.Token{ID: m.token}})
	if t := h.held.find(&m.token); t != nil {
		h.reporter.tellsPass(from, t)
		if !h.isStruck(from) { // the token may come back
			h.warns(m.member)
		}
		return true
	}
	if p := h.lastPass(func(p *passed) bool { return p.token == m.token && (m.hop == anyHop || p.hop >= m.hop) }); p != nil {
		h.send(from, &message{kind: went, custody: p.custody, member: p.to})
		return true
	}
	if len(h.held) > 0 {
		h.reporter.tellsPass(from, &h.held[0])
		return true
	}
	return false
}

// givesAccount answers what became of a custody of this member's.
func (h *holder) givesAccount(from ident.Member, m *message) {
	t, p := h.held.find(&m.token), h.pass(m.token, m.hop)
	switch {
	case p.isProved(), t == nil, !t.isBy(m.custody):
		answer := h.account(m.custody, h.Now)
		h.send(from, &answer)
	case t.parted && h.isBack(t.keeper, t.since):
		// A cut or a restart explains it, which others have not seen. The answer may come yet.
	case t.parted:
		answer := message{kind: sent, custody: t.custody, member: t.keeper}
		if due := t.hasGone(h.Now, h.silence); !due || h.isSteady(t.keeper, t.since) {
			answer.span = max(1, millis(h.Now.Sub(t.since)))
			t.told = t.told || due
		}
		h.send(from, &answer)
	case t.event != nil || t.hidden:
		// It waits for the word of others since a restart, and says nothing yet.
	default:
		h.send(from, &message{kind: still, custody: m.custody})
		if h.isStruck(from) {
			return
		}
		if t.state == running && t.waiter.IsZero() {
			t.waiter = from
		}
		h.wakes(from)
	}
}

// otherThan is the member that has a token other than one that is asked back, or zero. A token that is here,
// or has just left, counts if it is later, or if a program runs under it.
func (h *holder) otherThan(m *message) ident.Member {
	for i := range h.held {
		t := &h.held[i]
		switch {
		case t.token == m.token || !t.origin().later(m.origin()) && t.state != running:
		case !t.parted:
			return h.self
		case !t.hasGone(h.Now, h.silence):
			return t.keeper
		}
	}
	return ident.Member{}
}

// receiverSilent has the tokens looked for that are on their way to a silent member. The keeper may know
// only of an earlier holder's program, and wait for its end.
func (h *holder) receiverSilent(m ident.Member) {
	for i := range h.held {
		if t := &h.held[i]; t.parted && t.keeper == m {
			t.since = min(t.since, h.Now.Add(-h.silence))
			h.reporter.tellsPass(h.firstOther(), t)
		}
	}
}

// keeperSilent tells the next keeper of the tokens that a silent one knew.
func (h *holder) keeperSilent(m ident.Member) {
	t := h.held.first(func(t *held) bool { return t.state == asking && t.event == nil && t.asked.has(m) })
	if t == nil {
		h.tellsAgain(m)
		return
	}
	if h.reporter.without(t, m) {
		h.frees(t)
	}
}

// tellsAgain tells the keeper, whichever it is now, of the tokens that a member knew. That one
// is silent, or may have forgotten them in a restart.
func (h *holder) tellsAgain(m ident.Member) {
	for i := range h.held {
		switch t := &h.held[i]; {
		case t.keeper != m:
		case t.state == running:
			t.untold = true
		case t.state == resting:
			h.reporter.rests(t)
		}
	}
	h.tells()
}

// appendAwaited appends the members whose answers a holder awaits, and the keepers that know its tokens. It
// watches them: a member that only dials out could not be asked otherwise.
func (h *holder) appendAwaited(to members) members {
	for i := range h.held {
		switch t := &h.held[i]; {
		case t.state == asking:
			to = append(to, t.asked[:min(len(t.asked), ranks)]...)
		case h.isLong(t):
			to = append(to, t.keeper)
		}
	}
	return to
}
