package forecast

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
)

// Next predicts after what time a member that begins its turn begins the next one: as Of does where no order of turns is known, by the
// distribution of its own last returns. turns are when its last turns began, this one among them (member.Turns). It is false when too
// few are known.
//
// The order is of no help here. It counts the members that wait now, and during a whole round others begin to wait: under fair in a group
// of 60 that always wants to run it was off by 17 % in half of all cases, and the returns by 1 %.
func Next(turns []clock.Instant) (p Prediction, ok bool) {
	var returns []ret
	for i := 1; i < len(turns); i++ {
		returns = append(returns, ret{hops: 1, took: turns[i].Sub(turns[i-1]).Seconds()})
	}
	if len(returns) < leastReturns {
		return p, false
	}
	return ofReturns(returns, time.Duration(0))
}
