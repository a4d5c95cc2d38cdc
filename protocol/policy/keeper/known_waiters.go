package keeper

import (
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// knownWaiters are two members that wait, as they have said to this one, the slot's keeper. It counts the time for which a holder
// keeps its token only while the first one says that it has waited without a break since the holder was told of it (P-74, 3): members
// say seldom that they wait, and never that they have ceased to.
//
// When the first one ceases, the second one takes its place if the holder was told of it while the first one still waited. So a
// holder is also late where no member waits for as long as that takes.
type knownWaiters struct {
	*common
	first, second knownWaiter
	holder        ident.Member // that is told of them; zero: nobody is
	of            custody      // that it has
	ended         entry        // the last one that has ceased to wait, and when
}

// knownWaiter is one of them.
type knownWaiter struct {
	member ident.Member  // zero: there is none
	told   clock.Instant // when the holder was told of it first; clock.Never: it was not
	seen   clock.Instant // the member has waited from told until then, as it says; longAgo: it has not said so
	asked  clock.Instant // since when it has not answered; clock.Never: it has
	next   clock.Instant // when to ask it; clock.Never: never
}

func newKnownWaiter(m ident.Member) knownWaiter {
	return knownWaiter{member: m, told: clock.Never, seen: longAgo, asked: clock.Never, next: clock.Never}
}

func newKnownWaiters(c *common) knownWaiters {
	w := knownWaiters{common: c, ended: entry{at: longAgo}}
	w.clear()
	return w
}

// anew begins to count: another holder is to be told, or none.
func (w *knownWaiters) anew(holder ident.Member) {
	w.holder, w.first, w.second = holder, newKnownWaiter(w.first.member), newKnownWaiter(w.second.member)
}

// clear forgets both, as nobody waits.
func (w *knownWaiters) clear() {
	w.first.member, w.second.member = ident.Member{}, ident.Member{}
	w.anew(ident.Member{})
}

// waits notes that a member has said of itself that it waits. Neither the holder itself nor one that waits for a moment, again and
// again, keeps the others out.
func (w *knownWaiters) waits(m ident.Member) {
	switch {
	case m == w.first.member || m == w.second.member || m == w.holder:
	case m == w.ended.member && w.Now < w.ended.at.Add(w.silence):
	case w.first.member.IsZero():
		w.first = newKnownWaiter(m)
	case w.second.member.IsZero():
		w.second = newKnownWaiter(m)
	}
}

// ends notes that a member does not wait any more, or does not answer.
func (w *knownWaiters) ends(m ident.Member) {
	switch {
	case m.IsZero():
	case m == w.second.member:
		w.second, w.ended = newKnownWaiter(ident.Member{}), entry{m, w.Now}
	case m == w.first.member:
		w.ended = entry{m, w.Now}
		goesOn := !w.second.member.IsZero() && w.haveWaited() && w.second.told <= w.first.seen
		w.first, w.second = w.second, newKnownWaiter(ident.Member{})
		if !goesOn {
			w.anew(w.holder)
		}
	}
}

// isCounted reports whether the time of the holder goes on: it was told of the first one.
func (w *knownWaiters) isCounted() bool {
	return !w.first.member.IsZero() && w.first.told != clock.Never
}

// haveWaited reports whether they have waited since the holder was told, as the first one has said in the last L.
func (w *knownWaiters) haveWaited() bool { return w.Now < w.first.seen.Add(w.timeout(w.silence)) }

// tells tells the holder of those that it was not told of.
func (w *knownWaiters) tells(of custody) {
	w.of = of
	for _, k := range w.both() {
		if !k.member.IsZero() && k.told == clock.Never {
			k.told, k.next = w.Now, w.Now
			w.tellsOf(k.member)
		}
	}
	w.onTimer()
}

func (w *knownWaiters) both() [2]*knownWaiter { return [...]*knownWaiter{&w.first, &w.second} }

func (w *knownWaiters) tellsOf(m ident.Member) {
	w.send(w.holder, &message{kind: ask, custody: w.of, member: m})
}

// deadline is when one of them is asked next.
func (w *knownWaiters) deadline() clock.Instant { return min(w.first.next, w.second.next) }

// onTimer asks both whether they still wait, and goes on without one that does not answer.
func (w *knownWaiters) onTimer() {
	for _, m := range [...]ident.Member{w.second.member, w.first.member} {
		if k := w.find(m); k != nil && k.asked != clock.Never && w.Now >= k.asked.Add(w.timeout(w.silence)) {
			w.ends(m)
		}
	}
	for _, k := range w.both() {
		if w.Now >= k.next {
			k.asked, k.next = min(k.asked, w.Now), w.Now.Add(w.retry)
			w.send(k.member, &message{kind: lasts})
		}
	}
}

// find is the one that is a member, or nil.
func (w *knownWaiters) find(m ident.Member) *knownWaiter {
	switch {
	case m.IsZero():
	case m == w.first.member:
		return &w.first
	case m == w.second.member:
		return &w.second
	}
	return nil
}

// hears takes in since when a member waits without a break, as it says. What it says without having been asked counts for nothing.
// The holder is told of the first one again: it remembers the last one of which it is told while a program runs there.
func (w *knownWaiters) hears(from ident.Member, m *message) {
	k := w.find(from)
	switch {
	case k == nil || k.asked == clock.Never:
	case m.span == 0:
		w.ends(from)
	case w.Now.Add(-span(m.span)) > k.told:
		w.ends(from)
		w.waits(from)
	default: // it may have said so as early as it was asked
		k.seen, k.asked, k.next = k.asked, clock.Never, w.Now.Add(w.half)
		if k == &w.first {
			w.tellsOf(from)
		}
	}
}
