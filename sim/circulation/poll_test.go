package circulation_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/sim/circulation"
)

// footprints are where tokens were, and when operations began.
type footprints struct {
	circulation.Ignore
	visited []int
	began   []clock.Instant
}

func (o *footprints) Visit(_ clock.Instant, m int, _ ident.Token)  { o.visited = append(o.visited, m) }
func (o *footprints) OperationBegan(now clock.Instant, member int) { o.began = append(o.began, now) }

// afterLoss is how long nobody operates when a token is lost that nobody watches: all
// that had it last crash at once.
func afterLoss(t testing.TB, preset string, members int, seed uint64) time.Duration {
	w, err := circulation.New(walkConfig(preset, members, seed))
	require.NoError(t, err)
	o := &footprints{}
	w.Observe(o)
	lost := clock.Instant(4000 * time.Second)
	w.Run(lost)
	for _, m := range o.visited[len(o.visited)-8:] {
		if w.Up(m) {
			w.Crash(m, time.Minute)
		}
	}
	o.began = nil
	w.Run(2 * lost)
	require.NotEmpty(t, o.began)
	return o.began[0].Sub(lost)
}

// TestMeasurePoll measures by flags how long it takes to replace a token by a poll alone.
func TestMeasurePoll(t *testing.T) {
	if *walkMembers == 0 {
		t.Skip("needs -walk.members")
	}
	var gaps []time.Duration
	var sum time.Duration
	for seed := range uint64(*walkSeeds) {
		gaps = append(gaps, afterLoss(t, *walkPreset, *walkMembers, 100+seed))
		sum += gaps[seed]
	}
	t.Log(*walkPreset, *walkMembers, "mean", sum/time.Duration(len(gaps)), "longest", slices.Max(gaps))
}

// TestUnwatchedTokenIsReplaced: by a poll, which takes longer than a lease.
func TestUnwatchedTokenIsReplaced(t *testing.T) {
	for _, preset := range []string{"light", "fair"} {
		require.Greater(t, afterLoss(t, preset, 60, 1), 30*time.Second, preset)
	}
}
