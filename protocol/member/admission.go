package member

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
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

// isTimely reports whether a token was made at a time from which it can come here by a
// hop (rule H-41). The first member that receives it compares the time with its own
// clock. Others allow for the error of that one's clock.
func (m *Member) isTimely(g token.GenesisBody, hop uint64) bool {
	allowed := m.settings.ClockAllowance
	if hop == 1 {
		return m.now.Wall.Sub(clock.FromMillis(g.Time)).Abs() <= allowed
	}
	return m.age(g) >= -2*allowed
}

// mostHops is how many hops a token of this age can have made (rule H-41).
func (m *Member) mostHops(g token.GenesisBody) uint64 {
	return freeHops + uint64(max(0, m.age(g)+m.settings.ClockAllowance)/hopEvery)
}

// age is how long ago a token was made, by the later of this member's clock and the time that
// it reckons; below 0 if its time is still to come. A member whose own clock is slow
// is not left without tokens so.
func (m *Member) age(g token.GenesisBody) time.Duration {
	now := max(m.now.Millis(), m.clocks.reckon(m.now))
	return clock.FromMillis(now).Sub(clock.FromMillis(g.Time))
}

// refused looks at the one refusal that concerns a token's age: a token still
// at its generator that was made by a wrong clock is dropped and
// made anew (rule H-41). One that was elsewhere nobody honest refuses for that.
func (m *Member) refused(msg *wire.Refuse) {
	h := m.holds[msg.Token]
	if msg.Reason != wire.RefuseClock || h == nil || h.grant != nil {
		return
	}
	title, ok := m.handoff.Title(h.token, h.hop)
	if !ok || h.hop > 0 || m.clocks.distance(m.now, title.Genesis.Body().Time) <= m.settings.ClockAllowance/2 {
		return
	}
	s, t := h.slot, m.describe(h)
	if m.drop(s.key, h.token, h.hop, policy.Superseded) {
		delete(m.holds, h.token)
		m.generate(s, false)
		m.events.notify(s, policy.Event{Kind: policy.PassSettled, Outcome: policy.Abandoned, Token: t})
	}
}
