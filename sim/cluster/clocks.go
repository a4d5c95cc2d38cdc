package cluster

import "time"

// wrongBy is how wrong the wall clock of a member may be.
const wrongBy = time.Hour

// clockAllowance bears two clocks that are wrong in opposite directions, and the
// time that a token may stay where it was made.
const clockAllowance = 3 * wrongBy

// wrongClock is an error of a wall clock: none, an hour, or anything between.
func (c *cluster) wrongClock() time.Duration {
	switch c.rng.IntN(4) {
	case 0:
		return 0
	case 1:
		return wrongBy
	case 2:
		return -wrongBy
	}
	return c.random(2*wrongBy) - wrongBy
}

// setSomeClock sets somebody's wall clock, forwards or back. The clock that
// counts from the start of the machine goes on.
func (c *cluster) setSomeClock() {
	n := c.somebody()
	n.skew = c.wrongClock()
	c.count.clocks++
	c.log(n, "has its clock set to be wrong by %v", n.skew)
}
