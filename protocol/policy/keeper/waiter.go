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
	to := k.ranked(k.keepers(), w.rank)
	if w.since == clock.Never {
		w.since = k.now
		k.watch(to)
	}
	w.next = k.now.Add(k.retry)
	k.tell(to, &message{kind: want})
}

// waiterDue says so once more, to the next keeper if this one does not answer.
func (k *Keeper) waiterDue() {
	w := &k.waiter
	switch {
	case !w.waits || w.next > k.now:
	case w.since != clock.Never && k.now >= w.since.Add(k.silence):
		k.keeperSilent(k.ranked(k.keepers(), w.rank))
	default:
		k.says()
	}
}

// keeperSilent goes on to the next keeper, for who waits and for who has promised.
func (k *Keeper) keeperSilent(m ident.Member) {
	if w := &k.waiter; w.waits && w.since != clock.Never && m == k.ranked(k.keepers(), w.rank) {
		w.rank, w.since = (w.rank+1)%max(1, len(k.order)), clock.Never
		k.says()
	}
	for i := range k.holder.held {
		if h := &k.holder.held[i]; h.state == asking && h.keeper == m {
			k.asksNext(h)
			return // the policy may have let tokens go
		}
	}
}

// noted is the keeper's word that it has heard this member.
func (k *Keeper) noted(from ident.Member, m *message) {
	w := &k.waiter
	if !w.waits || from != k.ranked(k.keepers(), w.rank) {
		return
	}
	if w.since != clock.Never {
		w.since = clock.Never
		k.unwatch(from)
	}
	w.next = k.now.Add(min(max(span(m.span), k.half), maxAgain))
}
