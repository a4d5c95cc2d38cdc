package wandering

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// timekeeper records when other members had their turns, and reports those that have waited longest.
type timekeeper struct {
	*common
	store store
}

// testify notes that a member says that another one was served, if this one keeps
// the turns of that.
func (k *timekeeper) testify(by, m ident.Member, at clock.Instant) {
	t := k.store.find(m)
	if t == nil {
		if !k.isTimekeeper(m, k.self) {
			return
		}
		t = k.store.add(m)
		t.wants, t.ranked = true, k.Now
	}
	t.mark(by, at)
}

// longest finds the members in the store that want the token and have waited for more ms than that, as waits are weighed, at
// most reportMost, the longest first. Members that do not take part any more are
// forgotten.
func (k *timekeeper) longest(than uint32, found *[reportMost]*turnRecord) int {
	for {
		n, gone := k.oldest(time.Duration(than)*time.Millisecond, found), ident.Member{}
		for _, t := range found[:n] {
			if !k.isStill(t) {
				gone = t.member
				break
			}
		}
		if gone.IsZero() {
			return n
		}
		k.store.remove(gone)
	}
}

// isStill reports whether this member keeps the turns of one in its store. That is
// looked up once in a freshness: members come and go more seldom, and a member that asks again
// and again costs nothing.
func (k *timekeeper) isStill(t *turnRecord) bool {
	if k.Now >= t.ranked.Add(k.freshness) {
		if !k.isTimekeeper(t.member, k.self) {
			return false
		}
		t.ranked = k.Now
	}
	return true
}

// oldest are those that want the token and have waited for longer than that, at most reportMost, the longest first.
func (k *timekeeper) oldest(than time.Duration, found *[reportMost]*turnRecord) (n int) {
	var waits [reportMost]time.Duration
	for i := range k.store.list[:k.store.n] {
		t := &k.store.list[i]
		if !t.wants {
			continue
		}
		wait := k.waited(t.served, k.weightOf(t.member))
		if wait <= than {
			continue
		}
		at := n
		for at > 0 && wait > waits[at-1] {
			at--
		}
		if at == reportMost {
			continue
		}
		n = min(n+1, reportMost)
		copy(found[at+1:n], found[at:])
		copy(waits[at+1:n], waits[at:])
		found[at], waits[at] = t, wait
	}
	return n
}

// report tells a member which ones have waited for more ms than that, as waits are weighed.
func (k *timekeeper) report(to ident.Member, than uint32) {
	var found [reportMost]*turnRecord
	m := body{kind: report}
	for _, t := range found[:k.longest(than, &found)] {
		if t.member != to {
			m.records[m.n] = waiter{t.member, millis(k.Now.Sub(t.served))}
			m.n++
		}
	}
	if m.n > 0 {
		k.tell(to, &m)
	}
}

// demanded notes whether a member wants the token, and since when it has not had it.
// A new one counts as one that may operate at once, and has waited less than all
// others that may. It reports whether that one wants the token,
// and this member keeps its turns.
func (k *timekeeper) demanded(from ident.Member, wants bool, served clock.Instant) bool {
	s := &k.store
	t := s.find(from)
	if t != nil {
		t.wants = wants
	}
	switch {
	case !wants || !s.demands.may(from, k.Now, k.gather):
	case t != nil:
		k.contradict(t, served)
	case k.isTimekeeper(from, k.self):
		t = s.add(from)
		t.served, t.wants, t.ranked = k.Now-clock.Instant(k.minOf(k.weightOf(from))), true, k.Now
	}
	return wants && t != nil
}

// contradict hears a member out that says when it had the token last.
func (k *timekeeper) contradict(t *turnRecord, served clock.Instant) {
	since := served.Add(k.operation + wordTime)
	if t.served <= since {
		return
	}
	t.deny(since, k.self, max(1, min(len(k.timekeepersOf(t.member))/6, denialsMost)))
}

// lookedAt takes down that a member is served, and returns the one that is to hear what this member knows: the sender,
// the member that is served, or none.
func (k *timekeeper) lookedAt(from ident.Member, m *body) (to ident.Member) {
	third := m.member
	if third.IsZero() || third == from || third == k.self {
		return from
	}
	if k.store.marks.may(from, k.Now, k.minOf(k.weightOf(from))/4) {
		k.testify(from, third, before(k.Now, m.age))
	}
	if m.older != nothingOlder && k.store.errands.may(from, k.Now, k.gather) {
		to = third
	}
	return to
}

// answerAbout is what this member knows of another one's turns.
func (k *timekeeper) answerAbout(m ident.Member) body {
	a := body{kind: answer, member: m, what: unserved}
	if t := k.store.find(m); t != nil && t.sure {
		a.what, a.age = unwilling, millis(k.Now.Sub(t.served))
		if t.wants {
			a.what = willing
		}
	}
	return a
}
