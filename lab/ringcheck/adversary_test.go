package ringcheck

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/policy/ring"
)

var sizes = []int{3, 4, 5, 6, 7, 16, 33, 64}

// perMore is what further rounds of a run cost for each request.
func perMore(t *testing.T, run func(rounds int) (*Run, error)) float64 {
	t.Helper()
	few, err := run(10)
	require.NoError(t, err)
	many, err := run(30)
	require.NoError(t, err)
	assert.Equal(t, 1, many.MostInside)
	assert.Equal(t, many.Requests, many.Served)
	return float64(many.Sent-few.Sent) / float64(many.Requests-few.Requests)
}

// TestDearestRequests: for large rings, too, there are runs as dear as the
// dearest of small ones.
func TestDearestRequests(t *testing.T) {
	for _, n := range sizes {
		assert.InDelta(t, n, perMore(t, func(k int) (*Run, error) { return FarRequests(ring.Q, n, k) }), 0)
		assert.InDelta(t, 2*n-1, perMore(t, func(k int) (*Run, error) { return FarRequests(ring.D, n, k) }), 0)
		assert.InDelta(t, float64(5*n-4)/2, perMore(t, func(k int) (*Run, error) { return VainSearches(n, k) }), 0)
		assert.InDelta(t, 2*n-2, perMore(t, func(k int) (*Run, error) { return NearRequests(ring.E, n, k) }), 0)
	}
}

func TestServiceTraffic_Longest_Bounded(t *testing.T) {
	worst := func(run *Run, err error) *Run {
		t.Helper()
		require.NoError(t, err)
		assert.Equal(t, 1, run.MostInside)
		return run
	}
	for _, n := range sizes {
		assert.Equal(t, (3*n*n-5*n+2)/2, worst(Chasing(n)).WorstDelivered)
		assert.Equal(t, 2*n*n-3*n+1, worst(OldRequests(n)).WorstDelivered)
		assert.Equal(t, 3*n-3, worst(BothWays(ring.E, n)).WorstSent)
		assert.Equal(t, 3*n-3, worst(BothWays(ring.D, n)).WorstSent)
		assert.Equal(t, 3*n-2, worst(AskingBehind(n)).WorstSent)
	}
}

// bounds are what exhausting small rings gives, as functions of n.
var bounds = map[ring.Algorithm]struct{ perRequest, sent func(n float64) float64 }{
	ring.Q: {func(n float64) float64 { return n }, func(n float64) float64 { return 2*n*n - 3*n + 1 }},
	ring.D: {func(n float64) float64 { return 2.5*n - 2 }, func(n float64) float64 { return 3*n - 2 }},
	ring.E: {func(n float64) float64 { return 2*n - 2 }, func(n float64) float64 { return 3*n - 3 }},
}

// TestRandomRuns_Any_BoundsKept of small rings in large ones.
func TestRandomRuns_Any_BoundsKept(t *testing.T) {
	for alg, bound := range bounds {
		for _, n := range []int{2, 3, 8, 64} {
			for _, asking := range []float64{0.01, 0.2} {
				for seed := range uint64(5) {
					run, err := Random(alg, n, 4000, asking, seed)
					require.NoError(t, err)
					name := fmt.Sprintf("%v of %d, seed %d", alg, n, seed)
					assert.Equal(t, 1, run.MostInside, name)
					assert.Equal(t, run.Requests, run.Served, name)
					assert.True(t, run.quiet(alg), name)
					assert.LessOrEqual(t, run.PerRequest(), bound.perRequest(float64(n)), name)
					assert.LessOrEqual(t, float64(run.WorstSent), bound.sent(float64(n)), name)
				}
			}
		}
	}
}

func TestRandomRuns_SameSeed_Same(t *testing.T) {
	one, err := Random(ring.E, 9, 5000, 0.1, 7)
	require.NoError(t, err)
	same, err := Random(ring.E, 9, 5000, 0.1, 7)
	require.NoError(t, err)
	other, err := Random(ring.E, 9, 5000, 0.1, 8)
	require.NoError(t, err)
	assert.Equal(t, one, same)
	assert.NotEqual(t, one.Sent, other.Sent)
}

func TestAdversaries_TwoMembers_Refused(t *testing.T) {
	for name, run := range map[string]func() (*Run, error){
		"far":   func() (*Run, error) { return FarRequests(ring.E, 2, 1) },
		"near":  func() (*Run, error) { return NearRequests(ring.E, 2, 1) },
		"idle":  func() (*Run, error) { return IdleTours(2, 1) },
		"vain":  func() (*Run, error) { return VainSearches(2, 1) },
		"both":  func() (*Run, error) { return BothWays(ring.E, 2) },
		"after": func() (*Run, error) { return AskingBehind(2) },
		"chase": func() (*Run, error) { return Chasing(2) },
		"old":   func() (*Run, error) { return OldRequests(2) },
		"none":  func() (*Run, error) { return Random(ring.E, 1, 1, 1, 1) },
	} {
		_, err := run()
		assert.ErrorIs(t, err, ErrProcessors, name)
	}
}
