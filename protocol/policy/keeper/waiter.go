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
	next   clock.Instant // when to say so, or to say so once more
	tries  int           // how often it was said without an answer
	told   []ident.Member
	said   int // how often it was said in this wait
}

func (w *waiter) reset() { w.waits, w.next, w.tries, w.said = false, clock.Never, 0, 0 }

// look begins or ends the wait of this member.
func (k *Keeper) look() {
	w := &k.waiter
	switch waits := w.demand && !k.has(); {
	case waits == w.waits:
	case waits:
		w.waits = true
		k.says()
	default:
		w.reset()
	}
}

// says tells the keeper that this member waits. As long as it does not answer, one more
// of those that can be the keeper is told each time. The second one is told now and then
// in any case, and the third: one that says that all is well may lie.
func (k *Keeper) says() {
	w := &k.waiter
	list := k.keepers()
	first := max(0, slices.Index(list, w.keeper))
	if len(list) == 0 {
		list = append(list, k.self)
	}
	if w.tries >= len(list) {
		w.tries, w.keeper, first = 0, ident.Member{}, 0
	}
	if w.tries == 0 {
		w.said++
		for n := w.said; n%secondOpinion == 0; n /= secondOpinion {
			first++
		}
	}
	w.tries, w.next, w.told = w.tries+1, k.now.Add(k.retry), w.told[:0]
	for i := range w.tries {
		w.told = append(w.told, list[(first+i)%len(list)])
		k.tell(w.told[i], &message{kind: want})
	}
}

// waiterDue says so once more.
func (k *Keeper) waiterDue() {
	if w := &k.waiter; w.waits && w.next <= k.now {
		k.says()
	}
}

// keeperSilent goes on to the next keeper, for who waits and for who has promised.
func (k *Keeper) keeperSilent(m ident.Member) {
	if w := &k.waiter; w.waits && w.tries > 0 {
		k.says()
	}
	for i := range k.holder.held {
		if h := &k.holder.held[i]; h.state == asking && slices.Contains(h.asked, m) {
			k.silentAsked(h, m)
			return // the policy may have let tokens go
		}
	}
}

// noted is the keeper's word that it has heard this member.
func (k *Keeper) noted(from ident.Member, m *message) {
	w := &k.waiter
	if !w.waits || w.tries == 0 {
		return
	}
	list := k.keepers()
	if !slices.Contains(list, from) && from != k.self {
		return
	}
	if w.tries = 0; w.said%secondOpinion != 0 {
		w.keeper = from
	}
	w.next = k.now.Add(min(max(span(m.span), k.half), maxAgain))
}
