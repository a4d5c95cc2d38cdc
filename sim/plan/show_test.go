package plan

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

// watched is a request that has something of everything to see.
func watched() Request {
	return Request{
		Policy: catalog.Wandering, Members: 20, Every: 30 * time.Second, Latency: 20 * time.Millisecond, Loss: 0.01,
		Crash: time.Minute, DownFor: 10 * time.Second, First: 1, Seeds: 1,
		Params: policy.Params{Preset: "paper", OperationTime: 2 * time.Second, SkipDelay: 100 * time.Millisecond, MembersMax: 20},
	}
}

// However it is cut into steps, a run is the same.
func TestShow_AnySteps_SameRun(t *testing.T) {
	const length = time.Hour
	whole, err := NewShow(t.Context(), watched())
	require.NoError(t, err)
	require.NoError(t, whole.Step(length))
	cut, err := NewShow(t.Context(), watched())
	require.NoError(t, err)
	for range 60 * length / time.Minute {
		require.NoError(t, cut.Step(time.Minute/60))
		cut.Scene()
	}
	assert.Equal(t, whole.Report(), cut.Report())
	one, other := whole.Scene(), cut.Scene()
	other.Moves, other.Omitted = one.Moves, one.Omitted // of the last step
	assert.Equal(t, one, other)
}

// What is seen is what is counted.
func TestShow_Scenes_AgreeWithTheReport(t *testing.T) {
	s, err := NewShow(t.Context(), watched())
	require.NoError(t, err)
	require.Equal(t, s.Scene(), s.Scene(), "to look changes nothing")
	seen, moves := map[rune]bool{}, 0
	var last Scene
	for range 60 * 120 {
		require.NoError(t, s.Step(500*time.Millisecond))
		last = s.Scene()
		moves += len(last.Moves) + last.Omitted
		for m, letter := range last.Members {
			seen[letter] = true
			if letter != waits {
				assert.Zero(t, last.Waited[m])
			}
		}
		for _, w := range last.Moves {
			assert.NotEqual(t, w.From, w.To)
		}
	}
	assert.Equal(t, map[rune]bool{idles: true, waits: true, runs: true, down: true}, seen)
	r, length := s.Report(), last.Now
	assert.InDelta(t, 3600, length, 0)
	assert.InDelta(t, r.IdleWaiting*length, last.None, 1e-6)
	assert.InDelta(t, r.Two*length, last.Two, 1e-6)
	assert.InDelta(t, r.More*length, last.More, 1e-6)
	assert.InDelta(t, r.HandoffsPerHour, float64(moves), 1)
	assert.EqualValues(t, r.Losses, last.Lost)
	assert.NotZero(t, last.Lost)
}

func TestShow_TooMany_Refused(t *testing.T) {
	r := watched()
	r.Members = MaxShown + 1
	_, err := NewShow(t.Context(), r)
	require.ErrorIs(t, err, ErrMembers)
	r.Members = 1
	_, err = NewShow(t.Context(), r)
	require.ErrorIs(t, err, ErrMembers)
}

// A step of years does not make a scene of millions of moves.
func TestShow_LongStep_MovesBounded(t *testing.T) {
	s, err := NewShow(t.Context(), watched())
	require.NoError(t, err)
	require.NoError(t, s.Step(-time.Hour))
	assert.Zero(t, s.Scene().Now)
	require.NoError(t, s.Step(24*time.Hour))
	scene := s.Scene()
	assert.Len(t, scene.Moves, maxMoves)
	assert.Positive(t, scene.Omitted)
}
