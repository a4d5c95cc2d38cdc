package keeper

import (
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// waiter is what a member does that wants a token and has none.
type waiter struct {
	demand bool
	waits  bool
	rank   int           // of the keeper that it tells
	next   clock.Instant // when to say so, or to say so once more
	since  clock.Instant // since when the keeper does not answer; clock.Never: it does
}

func (w *waiter) reset() { w.waits, w.rank, w.next, w.since = false, 0, clock.Never, clock.Never }

// look begins or ends the wait of this member.
func (k *Keeper) look() {
	w := &k.waiter
	switch waits := w.demand && len(k.holder.held) == 0; {
	case waits == w.waits:
	case waits:
		w.waits = true
		k.says()
	default:
		w.reset()
	}
}

// says tells the keeper that this member waits.
func (k *Keeper) says() {
	w := &k.waiter
	if w.since == clock.Never {
		w.since = k.now
	}
	w.next = k.now.Add(k.retry)
	k.tell(k.keeperOf(w.rank), &message{kind: want})
}

// waiterDue says so once more, to the next keeper if this one does not answer.
func (k *Keeper) waiterDue() {
	w := &k.waiter
	if !w.waits || w.next > k.now {
		return
	}
	if w.since != clock.Never && k.now >= w.since.Add(k.silence) {
		w.rank, w.since = (w.rank+1)%ranks, clock.Never
	}
	k.says()
}

// noted is the keeper's word that it has heard this member.
func (k *Keeper) noted(from ident.Member, m *message) {
	w := &k.waiter
	if !w.waits || from != k.keeperOf(w.rank) {
		return
	}
	w.since = clock.Never
	w.next = k.now.Add(min(max(span(m.span), k.half), maxAgain))
}
