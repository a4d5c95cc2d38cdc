package keeper

import (
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// witnesses are two members that wait, as they have said to this one, the slot's keeper. It counts a holder late only as long as
// one of them says that it has waited without a break since the holder was told of it (P-74). Members say seldom that they
// wait, and never that they have ceased to.
//
// When the first one ceases, the second one takes its place if it has waited since the holder was told of it. So a holder is late, too,
// where no member waits for as long as that takes.
type witnesses struct {
	*common
	first, second witness
}

// witness is one of them.
type witness struct {
	member ident.Member  // zero: nobody
	told   clock.Instant // when the holder was told of it; clock.Never: it was not
	seen   clock.Instant // until then it has waited since, as it says itself; longAgo: it has not said so
	asked  clock.Instant // since when it has not answered; clock.Never: it has
	next   clock.Instant // when to ask it; clock.Never: the holder was not told of it
}

func newWitness(m ident.Member) witness {
	return witness{member: m, told: clock.Never, seen: longAgo, asked: clock.Never, next: clock.Never}
}

// nobody is no witness.
func nobody() witness { return newWitness(ident.Member{}) }

// waits notes that a member has said that it waits.
func (w *witnesses) waits(m ident.Member) {
	switch {
	case m == w.first.member || m == w.second.member:
	case w.first.member.IsZero():
		w.first = newWitness(m)
	case w.second.member.IsZero():
		w.second = newWitness(m)
	}
}

// anew has the holder be told again: it is another one, or has been told of nobody.
func (w *witnesses) anew() {
	w.first, w.second = newWitness(w.first.member), newWitness(w.second.member)
}

// clear forgets both, as nobody waits.
func (w *witnesses) clear() { w.first, w.second = nobody(), nobody() }

// ends notes that a member does not wait any more, or does not answer.
func (w *witnesses) ends(m ident.Member) {
	switch {
	case m.IsZero():
	case m == w.second.member:
		w.second = nobody()
	case m == w.first.member:
		w.first, w.second = w.second, nobody()
		if !w.isSeen(&w.first) {
			w.first = newWitness(w.first.member)
		}
	}
}

// isCounted reports whether the time of the holder goes on: it was told of the first one.
func (w *witnesses) isCounted() bool { return !w.first.member.IsZero() && w.first.told != clock.Never }

// isSeen reports whether a witness has said lately that it has waited since the holder was told of it: it is asked an L after its
// last answer, and may take another one for the next.
func (w *witnesses) isSeen(of *witness) bool { return w.Now < of.seen.Add(2*w.timeout(w.silence)) }

// tells tells the holder of those that it has not been told of, and asks all of whom it knows.
func (w *witnesses) tells(holder ident.Member, c custody) {
	for _, of := range []*witness{&w.first, &w.second} {
		if !of.member.IsZero() && of.told == clock.Never {
			of.told, of.next = w.Now, w.Now
			w.send(holder, &message{kind: ask, custody: c, member: of.member})
		}
	}
	w.onTimer()
}

// onTimer asks both whether they still wait, and goes on without one that does not answer.
func (w *witnesses) onTimer() {
	for _, m := range []ident.Member{w.second.member, w.first.member} {
		if of := w.find(m); of != nil && of.asked != clock.Never && w.Now >= of.asked.Add(w.timeout(w.silence)) {
			w.ends(m)
		}
	}
	for _, of := range []*witness{&w.first, &w.second} {
		if w.Now >= of.next {
			of.asked, of.next = min(of.asked, w.Now), w.Now.Add(w.retry)
			w.send(of.member, &message{kind: lasts})
		}
	}
}

// deadline is when one of them is asked next.
func (w *witnesses) deadline() clock.Instant { return min(w.first.next, w.second.next) }

// find is the witness that is a member, or nil.
func (w *witnesses) find(m ident.Member) *witness {
	switch {
	case m.IsZero():
	case m == w.first.member:
		return &w.first
	case m == w.second.member:
		return &w.second
	}
	return nil
}

// hears takes in since when a member waits without a break, as it says.
func (w *witnesses) hears(from ident.Member, m *message) {
	of := w.find(from)
	switch {
	case of == nil:
	case m.span == 0:
		w.ends(from)
	case of.told == clock.Never: // it was asked because of another holder
	case w.Now.Add(-span(m.span)) > of.told:
		w.ends(from)
		w.waits(from)
	default:
		of.seen, of.asked, of.next = w.Now, clock.Never, w.Now.Add(w.silence)
	}
}
