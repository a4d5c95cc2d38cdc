package keeper

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// waiter is what a member does that wants a token and has none.
type waiter struct {
	demand bool
	waits  bool
	keeper ident.Member   // who has answered last; zero: the first one is told
	heard  clock.Instant  // when it did
	next   clock.Instant  // when to say so, or to say so once more
	until  clock.Instant  // until then the keeper needs no word from this member
	told   []ident.Member // who has been told and has not answered, the first one first
	since  clock.Instant  // when that one was told
	said   int            // how often it was said in this wait
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
// of those that can be the keeper is told each time. The second one is told now and then
// in any case, and the third: one that says that all is well may lie.
func (k *Keeper) says() {
	w := &k.waiter
	k.unanswered()
	list := k.keepers()
	if len(list) == 0 {
		list = append(list, k.self)
	}
	first := max(0, slices.Index(list, w.keeper))
	if len(w.told) == 0 {
		w.since = k.now
		w.said++
		for n := w.said; n%secondOpinion == 0; n /= secondOpinion {
			first++
		}
	} else {
		first = max(0, slices.Index(list, w.told[0]))
	}
	tries := min(len(w.told)+1, len(list))
	w.next = k.now.Add(k.retry)
	if tries == 1 { // the first one may have died with the token, and the next one knows
		w.next = k.now.Add(min(k.retry, nextPause))
	}
	w.told = w.told[:0]
	for i := range tries {
		w.told = append(w.told, list[(first+i)%len(list)])
		k.tell(w.told[i], &message{kind: want})
	}
}

// unanswered takes the first one for silent that was told, L after that. The one behind it
// was told L / retries later.
func (k *Keeper) unanswered() {
	w := &k.waiter
	if len(w.told) == 0 || k.now < w.since.Add(k.bears(k.silence)) {
		return
	}
	k.fellSilent(w.told[0])
	w.told, w.since = slices.Delete(w.told, 0, 1), w.since.Add(k.retry)
}

// keeperSilent goes on to the next keeper, for a member that waits.
func (k *Keeper) keeperSilent(m ident.Member) {
	w := &k.waiter
	if w.waits && (slices.Contains(w.told, m) || m == w.keeper) {
		w.told = without(w.told, m)
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

// turns is how far apart those that wait say so, and how long all members take for that.
func (k *Keeper) turns() (turn, all time.Duration) {
	members := min(k.roster.Size()+1, maxMembers)
	turn = min(max(k.silence*time.Duration(members)/crowd, k.half), 2*k.silence)
	return turn, min(turn*time.Duration(members), maxAgain)
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
	if !w.waits || !slices.Contains(w.told, from) {
		return
	}
	if w.told = w.told[:0]; w.said%secondOpinion != 0 {
		w.keeper = from
	}
	w.heard, w.until = k.now, k.now.Add(max(span(m.span), k.half))
	w.next = k.turnAt()
}
