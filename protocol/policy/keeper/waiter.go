package keeper

import (
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// waiter is what a member does that wants a token and has none.
type waiter struct {
	demand bool
	waits  bool
	keeper ident.Member  // who has answered last; zero: the first one is told
	heard  clock.Instant // when it did
	next   clock.Instant // when to say so, or to say so once more
	until  clock.Instant // until then the keeper needs no word from this member
	told   []told        // who has been told and has not answered, the first one first
	reach  int           // how many of those that can be the keeper are told, from the first one on
	said   int           // how often it was said in this wait
}

// told is a member that has been told that this one waits.
type told struct {
	member ident.Member
	since  clock.Instant // when it was told first
}

// tells reports whether a member has been told, and has not answered.
func (w *waiter) tells(m ident.Member) bool {
	return slices.ContainsFunc(w.told, func(t told) bool { return t.member == m })
}

func (w *waiter) reset() {
	w.waits, w.next, w.told, w.said = false, clock.Never, w.told[:0], 0
}

// look begins or ends the wait of this member. In a small group the keeper is told at once
// of one that begins, but once in a turn.
func (k *Keeper) look() {
	w := &k.waiter
	switch waits := w.demand && !k.has(); {
	case waits == w.waits:
	case !waits:
		w.reset()
	default:
		w.waits, w.next = true, k.now
		if turn, _ := k.turns(); turn == k.half && k.now >= w.heard.Add(turn) {
			w.until = k.now
		}
		k.waiterDue()
	}
}

// waiterDue says so once more.
func (k *Keeper) waiterDue() {
	switch w := &k.waiter; {
	case !w.waits || w.next > k.now:
	case len(w.told) > 0 || k.turnAt() <= k.now:
		k.says()
	default:
		w.next = k.turnAt()
	}
}

// says tells the keeper that this member waits. As long as it does not answer, one more
// of those that can be the keeper is told each time, and twice as many when one of them has
// been silent for L: many may have died at once. When there are no more, this member is its
// own keeper. The second one is told now and then in any case, and the third: one that says
// that all is well may lie.
func (k *Keeper) says() {
	w := &k.waiter
	begins := len(w.told) == 0
	switch silent := k.unanswered(); {
	case begins:
		w.reach = 1
		w.said++
	case silent, w.reach > ranks:
		w.reach *= 2
	default:
		w.reach = min(w.reach+1, ranks)
	}
	list := k.firstOf(max(ranks, w.reach))
	if len(list) < w.reach && !slices.Contains(list, k.self) {
		list = append(list, k.self)
	}
	w.reach = min(w.reach, len(list))
	w.next = k.now.Add(k.retry)
	if w.reach == 1 { // the first one may have died with the token, and the next one knows
		w.next = k.now.Add(min(k.retry, nextPause))
	}
	first := max(0, slices.Index(list, w.keeper))
	if len(w.told) > 0 {
		first = max(0, slices.Index(list, w.told[0].member))
	}
	for n := w.said; begins && n%secondOpinion == 0; n /= secondOpinion {
		first++
	}
	for i := range w.reach {
		if m := list[(first+i)%len(list)]; !w.tells(m) {
			w.told = append(w.told, told{m, k.now})
		}
	}
	for _, t := range w.told {
		k.send(t.member, &message{kind: want})
	}
}

// unanswered takes those for silent that have not answered for L since they were told, and
// reports whether there is one.
func (k *Keeper) unanswered() (some bool) {
	w := &k.waiter
	w.told = slices.DeleteFunc(w.told, func(t told) bool {
		silent := k.now >= t.since.Add(k.timeout(k.silence))
		if silent {
			k.fellSilent(t.member)
			some = true
		}
		return silent
	})
	return some
}

// keeperSilent goes on to the next keeper, for a member that waits.
func (k *Keeper) keeperSilent(m ident.Member) {
	w := &k.waiter
	if w.waits && (w.tells(m) || m == w.keeper) {
		w.told = slices.DeleteFunc(w.told, func(t told) bool { return t.member == m })
		k.says()
	}
}

// keeperLost tells the next keeper of the tokens that the one knew of that has fallen
// silent.
func (k *Keeper) keeperLost(m ident.Member) {
	for i := range k.holder.held {
		if h := &k.holder.held[i]; h.state == asking && h.event == nil && slices.Contains(h.asked, m) {
			k.silentAsked(h, m)
			return // the policy may have let tokens go
		}
	}
	k.tellsAgain(m)
}

// tellsAgain tells the keeper, whichever it is now, of the tokens that a member knew of
// that is silent, or may have forgotten them in a restart.
func (k *Keeper) tellsAgain(m ident.Member) {
	for i := range k.holder.held {
		switch h := &k.holder.held[i]; {
		case h.keeper != m:
		case h.state == running:
			h.untold = true
		case h.state == resting:
			k.promises(h)
		}
	}
	k.tells()
}

// turnAt is when this member says so next, or when to look whether it knows of fewer
// members: the turns of those that have died are nobody's.
func (k *Keeper) turnAt() clock.Instant {
	w := &k.waiter
	turn, all := k.turns()
	w.until = min(w.until, w.heard.Add(max(all, k.half)))
	return min(w.until, k.now.Add(turn))
}

// noted is the keeper's word that it has heard this member.
func (k *Keeper) noted(from ident.Member, m *message) {
	w := &k.waiter
	if !w.waits || !w.tells(from) {
		return
	}
	if w.told = w.told[:0]; w.said%secondOpinion != 0 {
		w.keeper = from
	}
	w.heard, w.until = k.now, k.now.Add(max(span(m.span), k.half))
	w.next = k.turnAt()
}
