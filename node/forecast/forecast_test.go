package forecast_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/forecast"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
)

func at(s float64) clock.Instant { return clock.Instant(s * 1e9) }

// rounds are arrivals of one token: each after so many seconds, ten hops later.
func rounds(took ...float64) []member.Passage {
	list := []member.Passage{{Token: ident.Token{1}, Hop: 1}}
	for _, s := range took {
		last := list[len(list)-1]
		list = append(list, member.Passage{Token: last.Token, Hop: last.Hop + 10, At: last.At.Add(time.Duration(s * float64(time.Second)))})
	}
	return list
}

func TestOf_OrderKnown_TurnsCounted(t *testing.T) {
	s := &member.SlotStatus{Passages: rounds(20, 20, 20, 500, 20), Observed: policy.Observation{Holder: ident.Member{2}, At: at(590), Ahead: 3, Known: 1}}
	p, ok := forecast.Of(s, at(591))
	require.True(t, ok)
	assert.Equal(t, forecast.Order, p.Basis)
	assert.Equal(t, 3, p.Before)
	assert.InDelta(t, 4*2-1, p.P50.Seconds(), 1e-6, "four turns of 2 s, one of them begun a second ago; an idle group does not count")
	assert.Equal(t, p.P50, p.P95, "turns never varied")

	late, _ := forecast.Of(s, at(595))
	assert.InDelta(t, 3*2, late.P50.Seconds(), 1e-6, "a turn that is late ends now")
	s.Observed.At, s.Observed.Since = at(594.5), at(590)
	again, _ := forecast.Of(s, at(595))
	assert.Equal(t, late, again, "that it was told again begins no turn")
}

// From when on a turn takes longer than 19 of 20 before, a prediction counts from its end.
func TestOf_TurnTakesLonger_Overdue(t *testing.T) {
	s := &member.SlotStatus{Waiting: 1, Passages: rounds(20, 20, 20), Observed: policy.Observation{Holder: ident.Member{2}, At: at(60), Ahead: 3, Known: 1}}
	p, _ := forecast.Of(s, at(61.9))
	assert.False(t, p.Overdue)
	p, _ = forecast.Of(s, at(62.1))
	assert.True(t, p.Overdue)
	assert.InDelta(t, 3*2, p.P50.Seconds(), 1e-6, "of the three after it")
	s.Observed.Known = 0.5
	p, _ = forecast.Of(s, at(62.1))
	assert.False(t, p.Overdue, "the token may have moved on unheard")
	s.Observed.Known, s.Waiting = 1, 0
	p, _ = forecast.Of(s, at(62.1))
	assert.False(t, p.Overdue, "it may rest")
	s.Waiting, s.Passages, s.Observed.At = 1, rounds(1, 1, 1), at(3)
	p, _ = forecast.Of(s, at(3.9))
	assert.False(t, p.Overdue, "turns of milliseconds: the machine was busy")
}

func TestOf_FewTurnsKnown_Scaled(t *testing.T) {
	s := &member.SlotStatus{Passages: rounds(20, 20, 20), Observed: policy.Observation{Ahead: 3, Known: 0.25}}
	p, ok := forecast.Of(s, at(60))
	require.True(t, ok)
	assert.Equal(t, 12, p.Before)
	assert.InDelta(t, 26, p.P50.Seconds(), 1e-6)
	assert.Greater(t, p.P95, p.P50+10*time.Second, "three of a quarter may be few more or less in all")
}

// That none is ahead of those that are known does not show that none is.
func TestOf_FewTurnsKnownAndNoneAhead_NotSure(t *testing.T) {
	s := &member.SlotStatus{Passages: rounds(20, 20, 20), Observed: policy.Observation{Known: 0.2}}
	p, ok := forecast.Of(s, at(60))
	require.True(t, ok)
	assert.Greater(t, p.P95, p.P50+10*time.Second)
	s.Observed.Known = 1
	p, _ = forecast.Of(s, at(60))
	assert.Equal(t, p.P50, p.P95, "all are known, and turns never varied")
}

func TestOf_NoOrder_ReturnsCounted(t *testing.T) {
	s := &member.SlotStatus{Passages: rounds(10, 20, 30, 40)}
	p, ok := forecast.Of(s, at(100))
	require.True(t, ok)
	assert.Equal(t, forecast.Prediction{P50: 30 * time.Second, P95: 40 * time.Second, Basis: forecast.Returns}, p)
	p, _ = forecast.Of(s, at(125))
	assert.Equal(t, 15*time.Second, p.P50, "of those that took longer than 25 s")
	p, _ = forecast.Of(s, at(1000))
	assert.Equal(t, 30*time.Second, p.P50, "all were shorter: as good as any")
}

func TestOf_TooLittleKnown_Nothing(t *testing.T) {
	for name, s := range map[string]*member.SlotStatus{
		"nothing":     {},
		"two returns": {Passages: rounds(20, 20)},
		"here":        {Passages: rounds(20, 20, 20), Held: true},
		"lost":        {Passages: rounds(20, 20, 20), Observed: policy.Observation{Known: 1, Search: policy.Lost}},
		"two tokens": {Passages: []member.Passage{
			{Token: ident.Token{1}, Hop: 1}, {Token: ident.Token{2}, Hop: 5, At: 1}, {Token: ident.Token{1}, Hop: 9, At: 2}, {Token: ident.Token{2}, Hop: 15, At: 3},
		}},
	} {
		_, ok := forecast.Of(s, at(60))
		assert.False(t, ok, name)
	}
}
