package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// News of the same stay changes neither since when the token is there nor that a program runs; news of another stay changes both.
func TestObservation_Later_SameStay_BeginningKept(t *testing.T) {
	runs := policy.Observation{Holder: ident.Member{1}, Token: ident.Token{1}, Hop: 5, At: 10, Ends: 90, Runs: 10}
	told := policy.Observation{Holder: ident.Member{1}, Token: ident.Token{1}, Hop: 5, At: 30, Born: 7}
	for _, o := range []policy.Observation{runs.Later(told), told.Later(runs)} {
		assert.Equal(t, clock.Instant(10), o.First())
		assert.Equal(t, clock.Instant(90), o.Ends)
		assert.Equal(t, clock.Instant(10), o.At, "that is how old the news of the program is")
		assert.Equal(t, uint64(7), o.Born)
	}
	again := told
	again.At = 50
	o := told.Later(again)
	assert.Equal(t, clock.Instant(50), o.At)
	assert.Equal(t, clock.Instant(30), o.First())
	next := told
	next.Hop, next.Holder, next.At = 6, ident.Member{2}, 60
	o = runs.Later(next)
	assert.Equal(t, clock.Instant(60), o.First())
	assert.Zero(t, o.Ends)
	back := told
	back.Hop, back.At = 7, 70
	assert.Equal(t, clock.Instant(70), o.Later(back).First(), "the same member, and another stay")
}
