package wandering

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
)

// Demand that is told again is announced again a gathering time after the last
// announcement: the first may be lost, and the next one by itself is 1.5 rounds away.
func TestWalker_DemandToldAgain_AnnouncedAgain(t *testing.T) {
	w := walkerAt(t, 18, Fair, policy.Params{
		OperationTime: 4 * time.Second, MembersMax: 8, SkipDelay: time.Second, MinInterval: time.Second, RegenerationMean: time.Hour,
	})
	demand := policy.Event{Kind: policy.DemandChanged, Demand: true}
	said := func(from, to clock.Instant) (n int) {
		for now := from; now < to; now += clock.Instant(10 * time.Millisecond) {
			n += len(kinds(w.Step(now, policy.Event{Kind: policy.Timer}, nil), policy.Tell))
		}
		return n
	}
	w.Step(2*second, demand, nil)
	first := said(2*second, 7*second)
	assert.Positive(t, first)
	assert.Zero(t, said(7*second, 10*second), "once is enough")
	for range 3 {
		w.Step(10*second, demand, nil)
	}
	assert.Equal(t, first, said(10*second, 15*second))
}
