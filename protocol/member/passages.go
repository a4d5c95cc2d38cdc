package member

import (
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// passagesKept bounds the arrivals that a slot remembers to predict the next one: a median of fewer
// swings with each, and older ones are of another load.
const passagesKept = 16

// passages are when the slot's tokens have come to this member and left it, and when programs began here, since it was
// made. They are for people and programs, and decide nothing.
type passages struct {
	came  []Passage          // oldest first
	left  policy.Observation // this member's last pass that has a receipt
	turns []clock.Instant    // when programs began here, oldest first
}

// Passage is one arrival of a token.
type Passage struct {
	Token ident.Token
	Hop   uint64
	At    clock.Instant
}

func (p *passages) arrived(t ident.Token, hop uint64, at clock.Instant) {
	p.came = appendKept(p.came, Passage{t, hop, at})
}

// began notes that a program begins here.
func (p *passages) began(at clock.Instant) { p.turns = appendKept(p.turns, at) }

// appendKept appends to a list, and forgets the oldest of more than passagesKept.
func appendKept[T any](list []T, last T) []T {
	if len(list) == passagesKept {
		list = append(list[:0], list[1:]...)
	}
	return append(list, last)
}

// departed notes the receipt of a pass.
func (p *passages) departed(self, to ident.Member, born uint64, t ident.Token, hop uint64, at clock.Instant) {
	p.left = policy.Observation{Holder: to, By: self, Token: t, Born: born, Hop: hop + 1, At: at, Since: at}
}

// observed is what is known of a token of the slot that is not here, of so many other members as policies may draw.
func (s *slot) observed(others int) (o policy.Observation) {
	if v, ok := s.policy.(policy.Observant); ok {
		o = v.Observed(others)
	}
	return o.Later(s.passages.left)
}

// Observations are what a member knows of the token of each slot that is not here.
func Observations(m *Member, each func(resource string, slot uint64, o policy.Observation)) {
	others := m.circ.candidates.size()
	for _, s := range m.circ.slots.order {
		each(s.key.resource, s.key.number, s.observed(others))
	}
}

// Turns are when the last programs of a resource began here, under whichever slot, oldest first, and at most as many as
// predict the next one.
func Turns(m *Member, resource string) (turns []clock.Instant) {
	for _, s := range m.circ.slots.order {
		if s.key.resource == resource {
			turns = append(turns, s.passages.turns...)
		}
	}
	slices.Sort(turns)
	return turns[max(0, len(turns)-passagesKept):]
}
