package keeper

import (
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// waiter tells the keeper that this member wants a token and has none.
type waiter struct {
	*common
	waits  bool          // a program here does, and no token is here
	since  clock.Instant // when it began to
	keeper ident.Member  // the member that has answered last; zero: the first keeper is told
	heard  clock.Instant // when it did
	next   clock.Instant // when to send the next want
	until  clock.Instant // until then the keeper needs no word from this member
	told   roll          // the members that have not answered, and when each was told first
	reach  int           // how many of those that can be the keeper are told, from the first one on
	said   int           // how often a want was begun in this wait
}

func newWaiter(c *common) waiter {
	return waiter{common: c, next: clock.Never, until: longAgo}
}

// look begins or ends the wait of this member. In a small group a member that begins to wait tells the
// keeper at once, but only once in a turn.
func (w *waiter) look(has bool) {
	switch waits := w.Demand && !has; {
	case waits == w.waits:
	case !waits:
		w.waits, w.next, w.told, w.said = false, clock.Never, w.told[:0], 0
	default:
		w.waits, w.since, w.next = true, w.Now, w.Now
		if turn, _ := w.turns(); turn == w.half && w.Now >= w.heard.Add(turn) {
			w.until = w.Now
		}
		w.onTimer()
	}
}

// onTimer sends the want that is due.
func (w *waiter) onTimer() {
	switch {
	case !w.waits || w.next > w.Now:
	case len(w.told) > 0 || w.turnAt() <= w.Now:
		w.says()
	default:
		w.next = w.turnAt()
	}
}

// says sends wants. As long as no keeper answers, each call tells one more of the members that can be
// the keeper, and twice as many once one of them has been silent for L: many may have failed at
// once. When there are no more, this member is its own keeper. The second and the third keeper
// are told now and then in any case: a keeper that says that all is well may lie.
func (w *waiter) says() {
	begins := len(w.told) == 0
	switch silent := w.dropSilent(); {
	case begins:
		w.reach = 1
		w.said++
	case silent, w.reach > ranks:
		w.reach *= 2
	default:
		w.reach = min(w.reach+1, ranks)
	}
	list := w.firstOf(max(ranks, w.reach))
	if len(list) < w.reach {
		list.add(w.self)
	}
	w.reach = min(w.reach, len(list))
	w.next = w.Now.Add(w.retry)
	if w.reach == 1 { // it may have failed together with the token, and the next one knows
		w.next = w.Now.Add(min(w.retry, nextPause))
	}
	first := max(0, slices.Index(list, w.keeper))
	if len(w.told) > 0 {
		first = max(0, slices.Index(list, w.told[0].member))
	}
	for n := w.said; begins && n%secondOpinion == 0; n /= secondOpinion {
		first++
	}
	for i := range w.reach {
		if m := list[(first+i)%len(list)]; !w.told.has(m) {
			w.told = append(w.told, entry{m, w.Now})
		}
	}
	for _, t := range w.told {
		w.send(t.member, &message{kind: want})
	}
}

// dropSilent takes the members for silent that have not answered for L since they were told, and
// reports whether there is one.
func (w *waiter) dropSilent() (some bool) {
	w.told = slices.DeleteFunc(w.told, func(t entry) bool {
		silent := w.Now >= t.at.Add(w.timeout(w.silence))
		if silent {
			w.fellSilent(t.member)
			some = true
		}
		return silent
	})
	return some
}

// memberSilent goes on to the next keeper if m was told, or is the keeper. It gives one that it has just told the time to
// answer: two keepers that look for a lost token at once wait for each other's programs (P-58).
func (w *waiter) memberSilent(m ident.Member) {
	if !w.waits || !w.told.has(m) && m != w.keeper {
		return
	}
	w.told.remove(m)
	soonest := longAgo
	for _, t := range w.told {
		soonest = max(soonest, t.at.Add(min(w.retry, nextPause)))
	}
	if w.Now < soonest {
		w.next = min(w.next, soonest)
		return
	}
	w.says()
}

// keeperBack returns to the first keeper: another one has answered in its place.
func (w *waiter) keeperBack() { w.keeper = ident.Member{} }

// tellsSince answers a keeper that asks whether this member still waits.
func (w *waiter) tellsSince(from ident.Member) {
	answer := message{kind: lasting}
	if w.waits {
		answer.span = max(1, millis(w.Now.Sub(w.since)))
	}
	w.send(from, &answer)
}

// turnAt is when this member sends the next want, or when to look whether it knows of fewer
// members: the turns of failed members go unused.
func (w *waiter) turnAt() clock.Instant {
	turn, all := w.turns()
	w.until = min(w.until, w.heard.Add(max(all, w.half)))
	return min(w.until, w.Now.Add(turn))
}

// noted is a keeper's word that it has heard this member.
func (w *waiter) noted(from ident.Member, m *message) {
	if !w.waits || !w.told.has(from) {
		return
	}
	if w.told = w.told[:0]; w.said%secondOpinion != 0 {
		w.keeper = from
	}
	w.heard, w.until = w.Now, w.Now.Add(max(span(m.span), w.half))
	w.next = w.turnAt()
}

// appendAwaited appends the members whose answers this part awaits.
func (w *waiter) appendAwaited(to members) members {
	for _, t := range w.told[:min(len(w.told), ranks)] {
		to = append(to, t.member)
	}
	return to
}
