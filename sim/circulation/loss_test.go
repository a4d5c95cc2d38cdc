package circulation_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/ring"
	"github.com/wandertoken/wander/sim/circulation"
)

// footprints are where tokens were.
type footprints struct {
	circulation.Ignore
	visited []int
}

func (o *footprints) Visit(_ clock.Instant, m int, _ ident.Token) { o.visited = append(o.visited, m) }

// afterLoss is how long it takes until a token is made when one is lost together with all
// that had it last. It is the only one.
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
	before := w.Stats().Generated
	for w.Stats().Generated == before && w.Now() < 2*lost {
		w.Run(w.Now().Add(100 * time.Millisecond))
	}
	took := w.Now().Sub(lost)
	w.Run(2 * lost)
	require.Equal(t, before+1, w.Stats().Generated)
	return took
}

// TestMeasureSearch measures by flags how long that takes.
func TestMeasureSearch(t *testing.T) {
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

// TestLoss_WithLastHolders_Replaced: nobody that is left knows who had the token.
func TestLoss_WithLastHolders_Replaced(t *testing.T) {
	for _, preset := range []string{"light", "fair"} {
		require.Less(t, afterLoss(t, preset, 60, 1), 15*time.Second, preset)
	}
}

// TestQuiet_TokenFasterThanQuestions_OneToken: among many members a token that goes round in a
// ring is always some members ahead of the keeper that looks for it. It is not lost.
func TestQuiet_TokenFasterThanQuestions_OneToken(t *testing.T) {
	const members = 300
	for _, preset := range []string{ring.E.String(), ring.Q.String()} {
		w, err := circulation.New(circulation.Config{
			Policy: catalog.Ring, Members: members, Found: 1, Seed: 1,
			Params: policy.Params{
				Preset: preset, OperationTime: 4 * time.Second, MembersMax: members, SkipDelay: 100 * time.Millisecond,
			},
			Passing: circulation.Constant(30 * time.Millisecond), Telling: circulation.Constant(10 * time.Millisecond),
			Demand: circulation.Every(2 * members * 4 * time.Second),
		})
		require.NoError(t, err)
		w.Run(clock.Instant(4000 * time.Second))
		require.EqualValues(t, 1, w.Stats().Generated, preset)
		require.Greater(t, w.Stats().Operations, uint64(300), preset)
	}
}
