package member

import (
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// passagesKept bounds the arrivals that a slot remembers to predict the next one: a median of fewer
// swings with each, and older ones are of another load.
const passagesKept = 16

// passages are when the slot's tokens have come to this member and left it, since it was made. They
// are for people, and decide nothing.
type passages struct {
	came []Passage          // oldest first
	left policy.Observation // this member's last pass that has a receipt
}

// Passage is one arrival of a token.
type Passage struct {
	Token ident.Token
	Hop   uint64
	At    clock.Instant
}

func (p *passages) arrived(t ident.Token, hop uint64, at clock.Instant) {
	if len(p.came) == passagesKept {
		p.came = append(p.came[:0], p.came[1:]...)
	}
	p.came = append(p.came, Passage{t, hop, at})
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
