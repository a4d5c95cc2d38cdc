package keeper

import (
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// witnesses are two members that wait, as they have said to this one, the slot's keeper. It counts the time for which a holder keeps
// its token only while the first one says that it has waited without a break since the holder was told of it (P-74, 3): members
// say seldom that they wait, and never that they have ceased to.
//
// When the first one ceases, the second one takes its place if the holder was told of it while the first one still waited. So a
// holder is also late where no member waits for as long as that takes.
type witnesses struct {
	*common
	first, second witness
	holder        ident.Member  // that is told of them; zero: nobody is
	of            custody       // that it has
	seen          clock.Instant // the first one has waited until then since the holder was told of it, as it says; longAgo: it has not said so
	asked         clock.Instant // since when it has not answered; clock.Never: it has
	next          clock.Instant // when to ask it; clock.Never: never
}

// witness is one of them, and when the holder was told of it first.
type witness struct {
	member ident.Member
	told   clock.Instant // clock.Never: it was not
}

func newWitnesses(c *common) witnesses {
	w := witnesses{common: c}
	w.anew(ident.Member{})
	return w
}

// anew begins to count: another holder is to be told, or none.
func (w *witnesses) anew(holder ident.Member) {
	w.holder, w.first.told, w.second.told = holder, clock.Never, clock.Never
	w.seen, w.asked, w.next = longAgo, clock.Never, clock.Never
}

// clear forgets both, as nobody waits.
func (w *witnesses) clear() {
	w.first, w.second = witness{}, witness{}
	w.anew(ident.Member{})
}

// waits notes that a member has said of itself that it waits.
func (w *witnesses) waits(m ident.Member) {
	switch {
	case m == w.first.member || m == w.second.member:
	case w.first.member.IsZero():
		w.first = witness{m, clock.Never}
	case w.second.member.IsZero():
		w.second = witness{m, clock.Never}
	}
}

// ends notes that a member does not wait any more, or does not answer.
func (w *witnesses) ends(m ident.Member) {
	switch {
	case m.IsZero():
	case m == w.second.member:
		w.second = witness{}
	case m == w.first.member:
		next := w.second
		goesOn := !next.member.IsZero() && w.haveWaited() && next.told <= w.seen
		w.first, w.second = next, witness{}
		w.seen, w.asked, w.next = longAgo, clock.Never, w.Now
		if !goesOn {
			w.anew(w.holder)
		}
	}
}

// isCounted reports whether the time of the holder goes on: it was told of the first one.
func (w *witnesses) isCounted() bool { return !w.first.member.IsZero() && w.first.told != clock.Never }

// haveWaited reports whether they have waited since the holder was told, as the first one has said in the last L.
func (w *witnesses) haveWaited() bool { return w.Now < w.seen.Add(w.timeout(w.silence)) }

// tells tells the holder of those that it was not told of.
func (w *witnesses) tells(of custody) {
	w.of = of
	for _, one := range []*witness{&w.first, &w.second} {
		if !one.member.IsZero() && one.told == clock.Never {
			one.told = w.Now
			w.tellsOf(one.member)
		}
	}
	if w.next == clock.Never && w.isCounted() {
		w.next = w.Now
		w.onTimer()
	}
}

func (w *witnesses) tellsOf(m ident.Member) {
	w.send(w.holder, &message{kind: ask, custody: w.of, member: m})
}

// onTimer asks the first one whether it still waits, and goes on without it if it does not answer.
func (w *witnesses) onTimer() {
	if w.asked != clock.Never && w.Now >= w.asked.Add(w.timeout(w.silence)) {
		w.ends(w.first.member)
	}
	if w.Now >= w.next && w.isCounted() {
		w.asked, w.next = min(w.asked, w.Now), w.Now.Add(w.retry)
		w.send(w.first.member, &message{kind: lasts})
	}
}

// hears takes in since when a member waits without a break, as it says. The holder is told of it again: it remembers the last
// one of which it is told while a program runs there.
func (w *witnesses) hears(from ident.Member, m *message) {
	switch {
	case m.span == 0:
		w.ends(from)
	case from != w.first.member || !w.isCounted(): // it was asked because of another holder
	case w.Now.Add(-span(m.span)) > w.first.told:
		w.ends(from)
		w.waits(from)
	default:
		w.seen, w.asked, w.next = w.Now, clock.Never, w.Now.Add(w.half)
		w.tellsOf(from)
	}
}
