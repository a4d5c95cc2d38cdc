package keeper

import (
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// holder is between the policy and the tokens that are here. It tells the keeper of them, and promises
// that they rest. What the policy wants done with a promised token waits until the promise is given back.
type holder struct {
	*common
	history
	reporter reporter
	links    holderLinks
	inner    policy.Policy
	scratch  []policy.Action // of the policy
	held     tokens
	left     held // the last token that left without the policy
}

// holderLinks is what a holder asks and tells the other parts.
type holderLinks interface {
	// isAvoided reports whether no token is to be passed to a member.
	isAvoided(ident.Member) bool
	// untaken: a member took no token that was for it.
	untaken(ident.Member)
	// gained: a token is here.
	gained()
	// freed: the policy has a token now that it did not know.
	freed()
	// delivered: a token has arrived at a member, by a custody.
	delivered(custody, ident.Member)
}

func newHolder(c *common, links holderLinks, inner policy.Policy, in *policy.Surroundings) holder {
	h := holder{
		common: c, links: links, inner: inner, reporter: reporter{common: c, last: longAgo, isAvoided: links.isAvoided},
		history: history{serials: in.Serial},
		left:    held{since: longAgo},
	}
	if c.exclusive { // of several tokens one comes after the other
		h.verify = in.Receipt
	}
	if h.serials == nil {
		h.serials = func() uint64 { return 0 }
	}
	if in.Forgetful && !in.Young { // its receipts name no serial
		h.whole.serial = 1
	}
	return h
}

// step lets the policy answer an event, and filters what it wants done.
func (h *holder) step(e policy.Event) {
	h.scratch = h.inner.Step(h.Now, e, h.scratch[:0])
	for i := range h.scratch {
		h.act(&h.scratch[i])
	}
	h.tells()
}

// act does what the policy wants done, unless the token is promised to rest.
func (h *holder) act(a *policy.Action) {
	switch a.Kind {
	case policy.Generate:
		if h.exclusive {
			return
		}
	case policy.Run, policy.Prepare, policy.Pass, policy.Drop:
		if t := h.held.find(&a.Token); t != nil && !h.permits(t, a) {
			return
		}
	}
	h.Do(*a)
}

// permits reports whether the policy may do now with a token what it wants.
func (h *holder) permits(t *held, a *policy.Action) bool {
	switch t.state {
	case resting, asking:
		switch a.Kind {
		case policy.Drop:
			h.discards(t)
			return true
		case policy.Prepare:
			return true
		}
		t.action = *a
		t.action.Field = keep(a.Field)
		if t.state == resting {
			h.reporter.asks(t)
		}
		return false
	case leaving:
		return false
	}
	switch a.Kind {
	case policy.Prepare:
		t.prepared = true
	case policy.Run:
		if h.exclusive && h.held.hides() {
			t.action = *a // it waits for the other program
			return false
		}
		t.prepared = false
		t.state, t.since, t.untold = running, h.Now, true
		h.tells() // before the program begins
	case policy.Pass:
		if h.links.isAvoided(a.To) {
			a.To = ident.Member{} // any other one
		}
		t.state, t.since, t.keeper = passing, h.Now, a.To
	case policy.Drop:
		h.discards(t)
	}
	return true
}

// discards notes that the policy drops a token.
func (h *holder) discards(t *held) {
	h.dropped(t.custody, t.born, h.Now)
	h.held.remove(&t.token)
}

// drops drops a token that the policy does not know.
func (h *holder) drops(c custody, born uint64) {
	h.dropped(c, born, h.Now)
	h.Drop(c.token, policy.Superseded)
}

// has reports whether a token is here, or left so little ago that nothing can be said of
// it yet.
func (h *holder) has() bool {
	for i := range h.held {
		if !h.held[i].hasGone(h.Now, h.silence) {
			return true
		}
	}
	return false
}

// gained notes that a token is here now.
func (h *holder) gained(token *policy.Token) *held {
	t := h.held.find(&token.ID)
	if t == nil {
		h.makesRoom()
		h.held = append(h.held, held{})
		t = &h.held[len(h.held)-1]
	}
	if t.parted && t.token == token.ID && t.hop < token.Hop { // it is back before its receipt
		h.went(passed{custody: t.custody, born: t.born, to: t.keeper, since: t.since, told: t.told})
	}
	h.reporter.comes(custody{token.ID, token.Hop})
	*t = held{custody: custody{token.ID, token.Hop}, came: token.Hop, born: token.Born, field: keep(token.Field), since: h.Now, untold: true, known: longAgo}
	h.links.gained()
	return t
}

// makesRoom forgets a token where there are too many. A withheld token is dropped: the policy does not
// know it, and would never pass it on.
func (h *holder) makesRoom() {
	if len(h.held) < maxHeld {
		return
	}
	i := max(0, slices.IndexFunc(h.held, func(t held) bool { return t.event != nil }))
	if t := &h.held[i]; t.event != nil {
		h.drops(t.custody, t.born)
	}
	h.held = slices.Delete(h.held, i, i+1)
}

// takes has the policy know of a token that has come, if it is to stay.
func (h *holder) takes(e *policy.Event) {
	t := h.gained(&e.Token)
	if h.exclusive && h.isSuperseded(t) {
		h.held.remove(&e.Token.ID)
		h.drops(custody{e.Token.ID, e.Token.Hop}, e.Token.Born)
		return
	}
	h.supersedes(t)
	if h.exclusive && e.Belated {
		h.withholds(h.held.find(&e.Token.ID), policy.Arrival, e, h.Now) // it may have moved
		return
	}
	h.step(*e)
}

// resumed takes a token that is here since before a restart. This member does not know any more what it has
// promised of it: it asks, before the policy hears of the token.
func (h *holder) resumed(e *policy.Event) {
	if e.Token.Hop == 0 {
		h.comes(h.self, &e.Token)
	}
	t := h.gained(&e.Token)
	if !h.exclusive {
		h.step(*e)
		return
	}
	h.withholds(t, policy.Resumed, e, h.start)
}

// withholds keeps a token from the policy until all say that it is the only one. It was
// not here, or not known, until an instant.
func (h *holder) withholds(t *held, kind policy.EventKind, e *policy.Event, until clock.Instant) {
	token := e.Token
	token.Field = t.field
	t.event, t.unknown = &policy.Event{Kind: kind, From: e.From, Token: token}, until
	h.reporter.asks(t)
}

// supersedes drops the tokens that the policy does not know yet when a later one comes here.
func (h *holder) supersedes(by *held) {
	later := by.origin()
	h.held = slices.DeleteFunc(h.held, func(t held) bool {
		drop := t.token != later.token && t.event != nil && !t.origin().later(later)
		if drop {
			h.drops(t.custody, t.born)
		}
		return drop
	})
}

// isSuperseded reports whether a later token is here, or was here just now, that the policy does not
// know. Of two that are here the later one stays.
func (h *holder) isSuperseded(by *held) bool {
	o := by.origin()
	if l := &h.left; h.Now < l.since.Add(h.hold) && l.token != o.token && l.origin().later(o) {
		return true
	}
	return h.held.first(func(t *held) bool { return (t.hidden || t.event != nil) && t.origin().later(o) }) != nil
}

// occupied notes that a program runs under a token since before a restart. The policy
// hears of that token when the program has ended.
func (h *holder) occupied(token *policy.Token) {
	t := h.gained(token)
	t.state, t.hidden = running, true
	h.tells()
}

// ended notes that a program has ended. Promises are made in the same step: the process may end with the
// program.
func (h *holder) ended(e *policy.Event) {
	h.warnsOfWaiter(&e.Token)
	if t := h.held.find(&e.Token.ID); t != nil && t.state == running {
		t.state, t.since, t.ran = idle, h.Now, true
		h.isBackFrom(t)
	}
	h.step(*e)
	h.remindsOfWaiter(&e.Token)
	h.beginsWaiting()
	h.onTimer()
}

// warnsOfWaiter tells the policy, before it hears that the operation has ended, that a member waits, as was said meanwhile. One
// that then begins another one at once would keep the token for two programs, which may be longer than others bear.
func (h *holder) warnsOfWaiter(token *policy.Token) {
	if t := h.held.find(&token.ID); t != nil && !t.waiter.IsZero() && t.waiter != h.self && !t.hidden {
		h.step(policy.Event{Kind: policy.Wanted, From: t.waiter})
	}
}

// remindsOfWaiter tells the policy that a member waits, as was said while the program ran: also a
// policy that has begun another one at once.
func (h *holder) remindsOfWaiter(token *policy.Token) {
	t := h.held.find(&token.ID)
	if t == nil || t.waiter.IsZero() {
		return
	}
	m := t.waiter
	t.waiter = ident.Member{}
	switch {
	case t.state == idle:
		h.wakes(m)
	case m == h.self:
	default:
		h.step(policy.Event{Kind: policy.Wanted, From: m})
	}
}

// beginsWaiting lets the program begin that the policy wanted while another one ran that it did not
// know.
func (h *holder) beginsWaiting() {
	if t := h.held.first(func(t *held) bool { return t.state == idle && t.action.Kind == policy.Run }); t != nil {
		a := t.action
		t.action = policy.Action{}
		h.act(&a)
	}
}

// wakes tells the policy that m waits, if a token rests here. This member may pass nothing to m. Others
// do not know that, and the token is to go on: another member gets it.
func (h *holder) wakes(m ident.Member) {
	if m == h.self {
		m = ident.Member{}
	}
	if h.held.first(func(t *held) bool { return t.state == idle || t.state == resting }) != nil {
		h.step(policy.Event{Kind: policy.Wanted, From: m})
	}
}

// onTimer promises, and asks again.
func (h *holder) onTimer() {
	for i := 0; i < len(h.held); i++ {
		t := &h.held[i]
		switch {
		case h.due(t) > h.Now:
		case t.state == asking:
			if h.reporter.again(t) {
				h.frees(t)
			}
			return // the policy may have let tokens go
		case t.state == idle && h.exclusive, t.state == resting:
			h.reporter.rests(t)
		}
	}
	h.tells()
}

// deadline is when a holder tells, promises or asks next.
func (h *holder) deadline() clock.Instant {
	next := clock.Never
	for i := range h.held {
		next = min(next, h.due(&h.held[i]))
	}
	return next
}

// due is when this member has to tell, promise or ask something because of a token.
func (h *holder) due(t *held) clock.Instant {
	switch report := h.reporter.last.Add(reportPause); t.state {
	case asking:
		return t.repeat
	case idle:
		switch {
		case h.exclusive && h.held.busy() != nil:
			return clock.Never // a promise says that no program runs here
		case h.exclusive && t.ran && !t.prepared: // the keeper counts on a program that has ended
			return max(report, t.since)
		case h.exclusive && h.inner.Deadline() >= h.Now.Add(restAfter): // the policy has no use for it until then
			return max(report, t.since)
		case h.exclusive:
			return t.since.Add(restAfter)
		case t.untold:
			return max(report, t.since.Add(restAfter))
		}
	case resting:
		if h.held.busy() == nil {
			return t.since.Add(restAgain)
		}
	case running:
		switch {
		case t.untold && t.known != longAgo && t.since > t.known.Add(reportPause):
			return h.Now // they count on an end that is too early
		case t.untold && len(h.reporter.vowed) > 0:
			return h.Now // this one came while another one rests
		case t.untold:
			return report
		case !h.isLong(t):
			return t.since.Add(restAfter)
		}
	case passing, leaving:
		if watched := t.since.Add(nextPause); h.Now < watched {
			return watched
		} else if known := t.since.Add(h.silence); t.parted && h.Now < known { // until then it counts as here
			return known
		}
	}
	return clock.Never
}

// isLong reports whether a program has run under a token for a while, and the keeper knows.
func (h *holder) isLong(t *held) bool {
	return t.state == running && !t.untold && h.Now >= t.since.Add(restAfter)
}

// tells tells the keeper of a token under which a program runs, or which stays here,
// unless it was told of one just now. What passes through here is found by following it.
func (h *holder) tells() {
	for i := range h.held {
		t := &h.held[i]
		if t.untold && (t.state == running || t.state == idle && !h.exclusive) && h.Now >= h.due(t) {
			h.reporter.reports(t)
		}
	}
}

// frees lets the policy go on with a token.
func (h *holder) frees(t *held) {
	action, event := t.action, t.event
	t.state, t.since, t.untold = idle, h.Now, true
	t.action, t.event = policy.Action{}, nil
	switch {
	case event != nil:
		h.step(*event)
		h.links.freed()
	case action.Kind != 0:
		h.act(&action)
	}
	h.tells()
}
