package forecast_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/node/forecast"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
)

// A member heard at 100 s of a turn at another one; turns took 2 s before.
func TestLongOf(t *testing.T) {
	other := policy.Observation{Holder: ident.Member{2}, At: at(100), Known: 1}
	runs := policy.Observation{Holder: ident.Member{2}, At: at(110), Since: at(100), Runs: at(101), Ends: at(400), Known: 1}
	part, lost := other, runs
	part.Known, lost.Search = 0.25, policy.Lost
	for name, c := range map[string]struct {
		slot  member.SlotStatus
		begun clock.Instant
		from  float64 // when the turn is called long; 0: never
		took  time.Duration
	}{
		"a program runs there":            {slot: member.SlotStatus{Observed: runs}, from: 107, took: 7 * time.Second},
		"the configuration expects more":  {slot: member.SlotStatus{Observed: runs, Expected: 20 * time.Second}, from: 121, took: 21 * time.Second},
		"only the token is known of":      {slot: member.SlotStatus{Observed: other, Waiting: 1}, from: 106, took: 7 * time.Second},
		"it may rest, as nobody waits":    {slot: member.SlotStatus{Observed: other}},
		"it may have rested before":       {slot: member.SlotStatus{Observed: other, Waiting: 1, WaitingSince: at(120)}, from: 126, took: 7 * time.Second},
		"a part of the turns is heard of": {slot: member.SlotStatus{Observed: part, Waiting: 1}, from: 124, took: 25 * time.Second},
		"it is lost":                      {slot: member.SlotStatus{Observed: lost, Waiting: 1}},
		"a program runs here":             {slot: member.SlotStatus{Held: true, Executing: true}, begun: at(101), from: 107, took: 7 * time.Second},
		"that ran before a restart":       {slot: member.SlotStatus{Held: true, Executing: true}},
		"the token rests here":            {slot: member.SlotStatus{Held: true}, begun: at(101)},
	} {
		c.slot.Passages = rounds(20, 20, 20)
		if c.from == 0 {
			_, is := forecast.LongOf(&c.slot, c.begun, at(399))
			assert.False(t, is, name)
			continue
		}
		_, is := forecast.LongOf(&c.slot, c.begun, at(c.from-0.5))
		assert.False(t, is, name)
		l, is := forecast.LongOf(&c.slot, c.begun, at(c.from+1))
		assert.True(t, is, name)
		assert.InDelta(t, c.took.Seconds(), l.Took.Seconds(), 1.01, name)
		assert.Equal(t, 2*time.Second, l.Usual, name)
		_, predicted := forecast.Of(&c.slot, at(c.from+1))
		assert.False(t, predicted, name)
	}
	away := member.SlotStatus{Observed: runs, Passages: rounds(20, 20, 20)}
	away.Observed.Away = at(400)
	here := member.SlotStatus{Held: true, Executing: true, Across: true, Passages: rounds(20, 20, 20)}
	for _, s := range []member.SlotStatus{away, here} {
		_, is := forecast.LongOf(&s, at(101), at(399))
		assert.False(t, is, "a machine that restarts")
		_, predicted := forecast.Of(&s, at(399))
		assert.False(t, predicted)
	}
	few := member.SlotStatus{Observed: runs, Passages: rounds(20, 20)}
	_, is := forecast.LongOf(&few, 0, at(399))
	assert.False(t, is, "nobody knows how long turns take")
}

// Turns of milliseconds make no second a long one.
func TestLongOf_ShortTurns_AFewSecondsBorne(t *testing.T) {
	s := member.SlotStatus{Observed: policy.Observation{Holder: ident.Member{2}, At: at(100), Ends: at(400), Known: 1}, Passages: rounds(0.1, 0.1, 0.1)}
	_, is := forecast.LongOf(&s, 0, at(104.9))
	assert.False(t, is)
	_, is = forecast.LongOf(&s, 0, at(105.1))
	assert.True(t, is)
}
