package keeper

import (
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// wants is what this member, as the slot's keeper, knows of the members that wait for a token.
type wants struct {
	*common
	waiter *waiter
	again  clock.Instant // when the last of them is to send its next want
	until  clock.Instant // until then a member waits
	last   ident.Member  // the member that has said so last
	ending clock.Instant // until then the end of a program is awaited
}

func newWants(c *common, w *waiter) wants {
	return wants{common: c, waiter: w, again: longAgo, until: longAgo, ending: longAgo}
}

// hears answers a member's word that it waits for a token. Waiting members say so one after the
// other, so that their number costs nothing.
func (w *wants) hears(from ident.Member, m *message) {
	if w.last = m.member; m.member.IsZero() {
		w.last = from
	}
	turn, all := w.turns()
	w.again = min(max(w.Now.Add(w.half), w.again.Add(turn)), w.Now.Add(max(all, w.half)))
	w.until = max(w.until, w.again.Add(w.half))
	w.send(from, &message{kind: noted, span: millis(w.again.Sub(w.Now))})
}

// some reports whether a member waits, as far as is known. While a program runs, that member may have told
// the holder alone.
func (w *wants) some() bool { return max(w.until, w.ending) > w.Now }

// served notes that a member has a token: it does not wait for one.
func (w *wants) served(m ident.Member) {
	if w.last == m {
		w.last = ident.Member{}
	}
}

// by is a member that waits, as far as is known, or zero.
func (w *wants) by() ident.Member {
	if w.some() && (w.last != w.self || w.waiter.waits) {
		return w.last
	}
	return ident.Member{}
}
