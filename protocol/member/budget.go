package member

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
)

// budget is how much a peer, or this member itself, may still do at once.
type budget struct {
	left     float64
	refilled clock.Instant
}

// spend takes one out of the budget, if there is one.
func (b *budget) spend(now clock.Instant, rate, burst float64) bool {
	b.left, b.refilled = b.at(now, rate, burst), now
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// wait is after what time there is one left again, when there was none to spend.
func (b budget) wait(rate float64) time.Duration {
	return time.Duration((1-b.left)/rate*float64(time.Second)) + time.Millisecond
}

// at is how much of the budget there is at a time.
func (b budget) at(now clock.Instant, rate, burst float64) float64 {
	return min(burst, b.left+rate*now.Sub(b.refilled).Seconds())
}
