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
// timekeepers have all failed are found by it before the directory states the failures.
type canvass struct {
	asked []ident.Member // the members that have not answered
	again clock.Instant  // no canvass begins before
	pause time.Duration  // to the next one; it doubles while no member that wants the token answers
}

// asksAll asks all members whether they want the token, if one did not answer that may. It
// reports whether it does. The operation does not begin once more until the answers are here.
func (s *search) asksAll() bool {
	c := &s.canvass
	if !s.unreached || s.Now < c.again {
		return false
	}
	c.asked = s.roster.Draw(canvassMost, c.asked[:0])
	if len(c.asked) == 0 {
		s.unreached = false
		return false
	}
	first := len(s.Answer())
	for _, m := range c.asked {
		s.tell(m, &body{kind: inquire, sight: s.sight(), member: m})
	}
	for i := range s.Answer()[first:] {
		s.Answer()[first+i].Question = true
	}
	c.pause = min(max(2*c.pause, s.reply), s.freshness)
	c.again = s.Now.Add(c.pause)
	s.idle, s.looks, s.gathers = clock.Never, clock.Never, s.Now.Add(s.reply)
	return true
}

// canvassed takes in what a member says that was asked with all others.
func (s *search) canvassed(from ident.Member, m *body) {
	c := &s.canvass
	if m.member != from || !contains(c.asked, from) {
		return
	}
	if c.asked = without(c.asked, from); len(c.asked) == 0 {
		s.unreached = false
	}
	if m.what == willing {
		c.pause = 0
		s.isPresent(from, before(s.Now, m.age))
	}
	if len(c.asked) == 0 {
		s.gathers = clock.Never
	}
	if s.gathers == clock.Never && !s.running {
		s.proceed()
	}
}

// late takes in the answer of a candidate that was passed over, as the line to it is long.
func (s *search) late(from ident.Member, m *body) {
	if m.member == from && m.what == willing && contains(s.silent, from) {
		s.silent = without(s.silent, from)
		s.isPresent(from, before(s.Now, m.age))
		if s.gathers == clock.Never {
			s.proceed()
		}
	}
}

// isPresent makes a member a candidate that has said in this search that it wants the token.
func (s *search) isPresent(m ident.Member, served clock.Instant) {
	s.present = keepLast(without(s.present, m), m)
	s.insert(candidate{member: m, served: served})
}

// asksBack is the word that this member wants the token again, on a token that it passes on:
// its timekeepers may be among those that do not answer.
func (s *search) asksBack(to []byte) []byte {
	if s.Demand && s.unreached && s.candidates.n < candidatesMost {
		to = (&waiter{member: s.self}).append(to)
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
