package member

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

const (
	// freeHops and hopEvery bound the hops of a token by its age, so that it comes
	// nowhere near the highest hop number. Two members of one machine
	// need more than half a millisecond for a hop. A token that makes its hops
	// faster for a quarter of an hour waits for its age then.
	freeHops = 1 << 20
	hopEvery = time.Millisecond
)

// admission says which tokens may come here, and of which time a new one is.
type admission struct {
	*core
	slots  *slotTable
	events *events
	clocks peerClocks
}

// isTimely reports whether a token was made at a time from which it can come here by a
// hop (rule H-41). The first member that receives it compares the time with its own
// clock. Others allow for the error of that one's clock.
func (a *admission) isTimely(g token.GenesisBody, hop uint64) bool {
	allowed := a.settings.ClockAllowance
	if hop == 1 {
		return a.now.Wall.Sub(clock.FromMillis(g.Time)).Abs() <= allowed
	}
	return a.age(g) >= -2*allowed
}

// admitsNewborn reports whether the slot's policy takes a token from the member that has just
// made it (rule P-69).
func (a *admission) admitsNewborn(made token.Genesis) bool {
	g := made.Body()
	p, ok := a.slots.configured(g.Resource, g.Slot).policy.(policy.Admitter)
	return !ok || p.Admits(a.now.Boot, newborn(made.ID(), g))
}

// newborn is what a policy may know of a token that its generator offers.
func newborn(id ident.Token, g token.GenesisBody) policy.Token {
	return policy.Token{ID: id, Born: g.Time, Generator: g.Generator}
}

// accepted tells a policy that refuses some newborn tokens of one that this member has accepted (rule P-69, 7): what
// speaks for that may be over when the token comes. Only its generator can hand it over.
func (a *admission) accepted(from ident.Member, msg *wire.Offer) {
	g, h, err := token.PeekGenesis(a.cfg.Group.ID(), msg.Genesis)
	if err != nil || g.Generator != from || ident.Token(h) != msg.Token {
		return
	}
	if s := a.slots.configured(g.Resource, g.Slot); s != nil {
		if _, ok := s.policy.(policy.Admitter); ok {
			a.events.notify(s, policy.Event{Kind: policy.Accepted, From: from, Token: newborn(msg.Token, g)})
		}
	}
}

// mostHops is how many hops a token of this age can have made (rule H-41).
func (a *admission) mostHops(g token.GenesisBody) uint64 {
	return freeHops + uint64(max(0, a.age(g)+a.settings.ClockAllowance)/hopEvery)
}

// age is how long ago a token was made, by the later of this member's clock and the time that
// it reckons; below 0 if its time is still to come. A member whose own clock is slow
// is not left without tokens so.
func (a *admission) age(g token.GenesisBody) time.Duration {
	now := max(a.now.Millis(), a.clocks.reckon(a.now))
	return clock.FromMillis(now).Sub(clock.FromMillis(g.Time))
}

// birthTime is the time of a genesis that is made now for a slot: what time it is, but
// later than that of any token of the slot that was here. So its fences are greater than
// theirs. One so far in the future that nobody would take the next token counts as none.
func (a *admission) birthTime(s *slot) uint64 {
	now := a.clocks.reckon(a.now)
	if s.newest > now+uint64(a.settings.ClockAllowance.Milliseconds()) {
		return now
	}
	return max(now, s.newest+1)
}
