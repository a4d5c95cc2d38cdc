package wandering

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// canvassMost bounds how many members one canvass asks, and so what it costs: as many as a
// group has whose members all know each other.
const canvassMost = 300

// canvass is the question to all members whether they want the token. Members whose
// witnesses have all died are found by it before the directory states the deaths.
type canvass struct {
	asked []ident.Member // who has not answered
	again clock.Instant  // no canvass begins before
	pause time.Duration  // to the next one; it doubles while nobody answers that wants the token
}

// canvass asks all members whether they want the token, if one did not answer that may. It
// reports whether it does. The operation does not begin once more until the answers are here.
func (w *walker) canvass() bool {
	f := w.fair
	c := &f.canvass
	if !f.unreached || w.now < c.again {
		return false
	}
	c.asked = w.roster.Draw(canvassMost, c.asked[:0])
	if len(c.asked) == 0 {
		f.unreached = false
		return false
	}
	first := len(w.actions)
	for _, m := range c.asked {
		w.tell(m, &body{kind: inquire, sight: w.sight(), member: m})
	}
	for i := range w.actions[first:] {
		w.actions[first+i].Question = true
	}
	c.pause = min(max(2*c.pause, w.reply), w.window)
	c.again = w.now.Add(c.pause)
	f.idle, f.looks, f.gathers = clock.Never, clock.Never, w.now.Add(w.reply)
	return true
}

// canvassed takes in what a member says that was asked with all others.
func (w *walker) canvassed(from ident.Member, m *body) {
	f := w.fair
	c := &f.canvass
	if m.member != from || !contains(c.asked, from) {
		return
	}
	if c.asked = without(c.asked, from); len(c.asked) == 0 {
		f.unreached = false
	}
	if m.what == willing {
		c.pause = 0
		w.isPresent(from, before(w.now, m.age))
	}
	if len(c.asked) == 0 {
		f.gathers = clock.Never
	}
	if f.gathers == clock.Never && !w.running {
		w.proceed()
	}
}

// late takes in the answer of a candidate that was passed over, as the line to it is long.
func (w *walker) late(from ident.Member, m *body) {
	if f := w.fair; m.member == from && m.what == willing && contains(f.silent, from) {
		f.silent = without(f.silent, from)
		w.isPresent(from, before(w.now, m.age))
		if f.gathers == clock.Never {
			w.proceed()
		}
	}
}

// isPresent makes a member a candidate that has said in this search that it wants the token.
func (w *walker) isPresent(m ident.Member, served clock.Instant) {
	f := w.fair
	f.present = keepLast(without(f.present, m), m)
	f.candidates.insert(candidate{member: m, served: served})
}

// asksBack is the word that this member wants the token again, on a token that it passes on:
// its witnesses may be among those that do not answer.
func (w *walker) asksBack(to []byte) []byte {
	if f := w.fair; w.demand && f.unreached && f.candidates.n < candidatesMost {
		to = (&waiter{member: w.self}).append(to)
	}
	return to
}

// names reports whether a member is among the candidates that a token carries.
func (b *baggage) names(m ident.Member) bool {
	for r := reader(b.records); len(r) > 0; {
		member := r.member()
		if r.u32(); member == m {
			return !m.IsZero()
		}
	}
	return false
}

// keepLast appends a member to a list of no more than candidatesMost, which the first one
// leaves.
func keepLast(list []ident.Member, m ident.Member) []ident.Member {
	if len(list) == candidatesMost {
		list = slices.Delete(list, 0, 1)
	}
	return append(list, m)
}

// without removes a member from a list.
func without(list []ident.Member, m ident.Member) []ident.Member {
	return slices.DeleteFunc(list, func(o ident.Member) bool { return o == m })
}
