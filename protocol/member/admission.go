package member

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/token"
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
