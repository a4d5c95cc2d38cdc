package circulation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
)

// quiet are the events that tests of watches do not look at.
var quiet = []string{"neighbour", "demand", "timer", "recalled"}

func (s *stage) watch(m int, kind policy.ActionKind, to int) {
	s.agents.act(int32(m), &policy.Action{Kind: kind, To: MemberID(to)})
}

// TestSilent: who watches hears of a fall DetectAfter later, once, and not of one
// that is over by then, nor after Unwatch.
func TestSilent(t *testing.T) {
	s := newStage(t, Config{Members: 5, DetectAfter: 3 * time.Second}, nil)
	for m := range 4 {
		s.watch(m, policy.Watch, 4)
	}
	s.watch(0, policy.Watch, 4)
	s.watch(1, policy.Unwatch, 4)
	s.Crash(4, 2*time.Second)
	assert.Empty(t, s.run(time.Minute, quiet...), "it came back in time")

	s.Crash(4, time.Hour)
	s.Crash(3, time.Second)
	assert.Equal(t, []string{"1m3s m0 silent m4", "1m3s m2 silent m4"}, s.run(2*time.Minute, quiet...), "m3 forgot its watch")
	s.watch(0, policy.Watch, 4)
	assert.Equal(t, []string{"2m0s m0 silent m4"}, s.run(3*time.Minute, quiet...), "it is known to be dead")
	s.watch(0, policy.Watch, 3)
	require.True(t, s.Leave(3))
	s.Crash(0, time.Second)
	assert.Empty(t, s.run(4*time.Minute, quiet...))
	s.watch(0, policy.Watch, 77)
	s.watch(0, policy.Watch, 0)
	assert.Empty(t, s.run(5*time.Minute, quiet...), "strangers and oneself")
}

// TestWatches_Many_Bounded: one more ends the oldest.
func TestWatches_Many_Bounded(t *testing.T) {
	s := newStage(t, Config{Members: policy.MaxWatched + 2}, nil)
	for m := range policy.MaxWatched + 1 {
		s.watch(0, policy.Watch, m+1)
	}
	for m := range policy.MaxWatched + 1 {
		s.Crash(m+1, forever)
	}
	got := s.run(time.Minute, quiet...)
	require.Len(t, got, policy.MaxWatched)
	assert.Equal(t, "10s m0 silent m2", got[0])
}

// TestFalseSuspicion: as often as the Config says, while the operation would run,
// and the two do not reach each other for a while.
func TestFalseSuspicion(t *testing.T) {
	s := newStage(t, Config{Members: 3, FalseSuspicion: 0.25, Operation: Constant(4 * time.Second)}, nil)
	const watches = 400
	for i := range watches {
		s.At(clock.Instant(i)*clock.Instant(time.Minute), func(*Simulation) { s.watch(0, policy.Watch, 1) })
		s.At(clock.Instant(i)*clock.Instant(time.Minute)+clock.Instant(5*time.Second), func(*Simulation) {
			s.watch(0, policy.Unwatch, 1)
			for _, to := range []int{1, 2} {
				s.agents.act(0, &policy.Action{Kind: policy.Tell, To: MemberID(to)})
			}
		})
	}
	got := s.run(watches*time.Minute, quiet...)
	var silent, parted, reached int
	last := -1
	for i, line := range got {
		switch {
		case line[len(line)-len("silent m1"):] == "silent m1":
			silent++
			last = i
		case line[len(line)-len(`m1 message m0 ""`):] == `m1 message m0 ""`:
			reached++
		}
	}
	parted = watches - reached
	require.Positive(t, last)
	assert.InDelta(t, watches/4, silent, 4*9, "four standard deviations")
	assert.Equal(t, silent, parted)
	assert.Len(t, got, silent+reached+watches, "m2 is always reached")
}
