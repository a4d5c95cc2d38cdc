package cluster

import (
	"math/rand/v2"
	"time"
)

// wrongBy is how wrong the wall clock of a member may be.
const wrongBy = time.Hour

// clockAllowance bears two clocks that are wrong in opposite directions, and the
// time that a token may stay where it was made.
const clockAllowance = 3 * wrongBy

// wrongClock is an error of a wall clock: none, an hour, or anything between.
func wrongClock(r *rand.Rand) time.Duration {
	switch r.IntN(4) {
	case 0:
		return 0
	case 1:
		return wrongBy
	case 2:
		return -wrongBy
	}
	return time.Duration(r.Int64N(int64(2*wrongBy))) - wrongBy
}
