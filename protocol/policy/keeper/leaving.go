package keeper

import (
	"cmp"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// What a holder does about tokens that leave, and with those that come back.

// parted notes to which member a token has left, or a receipt that has come after the token came back.
func (h *holder) parted(e *policy.Event) {
	t := h.held.find(&e.Token.ID)
	switch {
	case len(e.Body) > 0:
		if p := h.pass(e.Token.ID, e.Token.Hop); p != nil && p.hop == e.Token.Hop {
			p.receipt = keep(e.Body)
		}
	case t != nil && t.isLeaving():
		t.late = !t.keeper.IsZero() && t.keeper != e.From
		t.keeper, t.parted, t.since = e.From, true, h.Now
	}
}

// passEnded is the end of a pass. It reports whether the policy is not to know.
func (h *holder) passEnded(e *policy.Event) (hidden bool) {
	t := h.held.find(&e.Token.ID)
	if t != nil && e.Outcome != policy.Returned && e.Token.Hop < t.hop { // of an earlier custody: it has come back before the answer
		h.proves(e)
		return true
	}
	left := t != nil && t.state == leaving
	if t != nil && t.state < passing && t.action.Kind == policy.Run { // for the policy it runs
		h.step(policy.Event{Kind: policy.OperationEnded, Token: e.Token})
	}
	if e.Outcome == policy.Returned {
		return h.returned(e, t, left)
	}
	if t != nil {
		if e.Outcome == policy.Abandoned && !t.parted { // the driver has removed it
			h.dropped(t.custody, t.born, h.Now)
		} else {
			h.went(passed{custody: t.custody, born: t.born, to: cmp.Or(e.From, t.keeper), since: t.since, receipt: h.keptReceipt(e.Body), told: t.told})
		}
		if e.Outcome == policy.Delivered {
			if !t.late {
				h.refusers.forget(e.From)
			}
			h.links.delivered(t.next(), e.From)
		}
		h.held.remove(&e.Token.ID)
	}
	return left
}

// returned takes a token back that no member took. It reports whether the policy is not to know.
func (h *holder) returned(e *policy.Event, t *held, left bool) (hidden bool) {
	if t != nil && t.state == passing && !t.keeper.IsZero() && t.hop > 0 { // a newborn token may be refused rightly (P-69)
		h.links.untaken(t.keeper)
	}
	late := h.exclusive && !left && (t == nil || t.hasGone(h.Now, h.silence))
	if late { // for the policy it is gone, as it may be for all others
		h.step(policy.Event{Kind: policy.PassEnded, Outcome: policy.Abandoned, Token: e.Token})
	}
	before := held{came: e.Token.Hop, known: longAgo}
	if t != nil {
		t.parted = false
		before = *t
	}
	t = h.gained(&e.Token)
	t.goesOn(&before)
	if left || late { // no member took it
		h.withholds(t, policy.Resumed, e, h.Now)
	}
	return left || late
}

// leaves sends a token to the member that has the other one: where they meet one is dropped. The policy
// does not have it any more, and runs nothing under it.
func (h *holder) leaves(t *held, to ident.Member) {
	if t.event != nil {
		h.left = held{custody: t.custody, born: t.born, since: h.Now}
	}
	known, runs, token, field := t.event == nil, t.action.Kind == policy.Run, policy.Token{ID: t.token, Hop: t.hop}, t.field
	t.state, t.since = leaving, h.Now
	t.action, t.event = policy.Action{}, nil
	t.keeper = to
	h.Do(policy.Action{Kind: policy.Pass, Token: token.ID, To: to, Field: field, Firm: true})
	if known && runs {
		h.step(policy.Event{Kind: policy.OperationEnded, Token: token})
	}
	if known {
		h.step(policy.Event{Kind: policy.PassEnded, Outcome: policy.Abandoned, Token: token})
	}
}

// joins sends the first token here to a member that has another one, if there is one: of two that are asked
// back one goes to the other.
func (h *holder) joins(token ident.Token, at ident.Member) {
	if t := h.held.first(func(t *held) bool { return !t.isLeaving() && t.token != token }); t != nil {
		h.leaves(t, at)
	}
}

// contests takes a token that the policy is not to know, and sends it to a member that has another one.
func (h *holder) contests(e *policy.Event, to ident.Member) {
	t := h.gained(&e.Token)
	t.event = e
	h.leaves(t, to)
}
