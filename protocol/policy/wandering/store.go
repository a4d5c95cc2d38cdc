package wandering

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

const (
	// storeMost bounds the members whose turns one keeps: four times as many as
	// on average, which rendezvous hashing never comes near.
	storeMost = 4 * policy.MaxTimekeepers
)

// turnRecord is when a member was served, as its timekeeper knows.
type turnRecord struct {
	member ident.Member
	served clock.Instant
	sure   bool // a member that came after it said so; otherwise it has only announced itself
	wants  bool
	ranked clock.Instant         // when this member was found to keep its turns last
	marks  [denialsMost + 1]mark // the members that say when it was served: the last of each that said so last

	// denied are those that said it was served, which it denies. They are not believed
	// about it any more; it is not believed about others.
	denied [denialsMost]ident.Member
}

// denialsMost is how many others a member may contradict that say it was served: as
// many liars as cannot keep it from its turns. A member that lies gains a turn of each.
const denialsMost = 2

// mark is one member, and when it did or said something.
type mark struct {
	by ident.Member
	at clock.Instant
}

// mark notes that a member was served, unless that one is not believed about it.
func (t *turnRecord) mark(by ident.Member, at clock.Instant) {
	if contains(t.denied[:], by) {
		return
	}
	place := &t.marks[0]
	for i := range t.marks {
		if m := &t.marks[i]; m.by == by || m.by.IsZero() {
			place = m
			break
		} else if m.at < place.at {
			place = m
		}
	}
	if place.by != by || at > place.at {
		*place = mark{by, at}
	}
	if !t.sure || at >= t.served {
		t.served, t.sure = at, true
	}
}

// deny is what the member itself says: it was not served after an instant, whatever
// others say. It is believed about at most so many of them, and never about the
// timekeeper itself.
func (t *turnRecord) deny(since clock.Instant, keeper ident.Member, most int) {
	denied := t.denied
	n := 0
	for n < len(denied) && !denied[n].IsZero() {
		n++
	}
	rest, served := t.marks, since
	for i := range rest {
		switch m := &rest[i]; {
		case m.by.IsZero():
		case m.at <= since:
			served = max(served, m.at)
		case n >= most || m.by == keeper:
			return
		default:
			denied[n], n = m.by, n+1
			*m = mark{}
		}
	}
	if rest != t.marks {
		t.marks, t.denied, t.served = rest, denied, served
	}
}

// store is what one member knows as a timekeeper. What members say about themselves
// is only whether they want the token.
type store struct {
	list [storeMost]turnRecord
	n    int
	// marks are the members that said last that one was served: none holds a token again
	// so soon that it could say much.
	marks marks
	// errands are at whose word something was told to a third member last: none
	// spends another one's messages, and dials, as it likes.
	errands marks
	// reports and demands are those for whom timekeepers were looked up last, which takes
	// time that grows with the group.
	reports, demands marks
}

// marks are the members that did something last, and when.
type marks struct {
	list [2 * policy.MaxTimekeepers]mark
	next int
}

// may reports whether a pause has gone by since a member did it last, and notes that
// it does it again.
func (m *marks) may(by ident.Member, now clock.Instant, pause time.Duration) bool {
	for i := range m.list {
		if m.list[i].by == by && now < m.list[i].at.Add(pause) {
			return false
		}
	}
	m.list[m.next] = mark{by, now}
	m.next = (m.next + 1) % len(m.list)
	return true
}

func (s *store) find(m ident.Member) *turnRecord {
	for i := range s.list[:s.n] {
		if s.list[i].member == m {
			return &s.list[i]
		}
	}
	return nil
}

// add makes room for a member, where there is any; otherwise in place of the one
// that was served last.
func (s *store) add(m ident.Member) *turnRecord {
	if s.n < storeMost {
		s.n++
		s.list[s.n-1] = turnRecord{member: m}
		return &s.list[s.n-1]
	}
	last := &s.list[0]
	for i := range s.list {
		if s.list[i].served > last.served {
			last = &s.list[i]
		}
	}
	*last = turnRecord{member: m}
	return last
}

func (s *store) remove(m ident.Member) {
	for i := range s.list[:s.n] {
		if s.list[i].member == m {
			s.n--
			s.list[i] = s.list[s.n]
			return
		}
	}
}
