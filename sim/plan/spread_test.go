package plan

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/clock"
)

// TestQuantiles: spans that are cut off at random have the quantiles that they
// would have had, as far as one can see.
func TestQuantiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	s := newSpans(time.Second, 0).spread
	for range 50_000 {
		lasts, seen := rng.ExpFloat64(), 2*rng.Float64()
		if lasts <= seen {
			s.ended.Add(time.Duration(lasts * 1e9))
		} else {
			s.open.Add(time.Duration(seen * 1e9))
		}
	}
	for _, q := range []float64{0.1, 0.5, 0.8} {
		at, known := s.quantile(q)
		assert.True(t, known)
		assert.InEpsilon(t, -math.Log(1-q), at.Seconds(), 0.03, q)
		assert.Less(t, s.ended.Quantile(q), at, "this is what was reported")
	}
	at, known := s.quantile(0.95)
	assert.False(t, known)
	assert.InDelta(t, 2, at.Seconds(), 0.01)
	p := s.report(1, 50_000)
	assert.Equal(t, []string{"p95", "p99"}, p.LowerBounds)
	assert.Equal(t, at.Seconds(), p.P99)
	assert.Nil(t, s.report(math.NaN(), 0))
}

// TestMean is that of all spans, cut off or not, if nearly all are seen.
func TestMean(t *testing.T) {
	s := newSpans(time.Second, 0).spread
	rng := rand.New(rand.NewPCG(1, 1))
	for range 50_000 {
		lasts, seen := rng.ExpFloat64(), 10*rng.Float64()
		if lasts <= seen {
			s.ended.Add(time.Duration(lasts * 1e9))
		} else {
			s.open.Add(time.Duration(seen * 1e9))
		}
	}
	assert.InDelta(t, 1, s.mean(1), 0.02)
	assert.InDelta(t, 1, s.mean(0), 0.03, "hardly anything is left for the rate")
	assert.Less(t, s.ended.Mean().Seconds(), 0.95, "this is what was reported")
	s.open.Add(15 * time.Second)
	assert.InDelta(t, 1, s.mean(1), 0.02)
}

// TestSpans: what begins before the measurement does not count, what its end
// cuts off does.
func TestSpans(t *testing.T) {
	second := clock.Instant(time.Second)
	s := newSpans(time.Second, 0)
	s.begin(0, 0)
	s.begin(0, 1)
	s.start = second
	s.end(2*second, 0)
	s.begin(2*second, 0)
	s.end(5*second, 0)
	s.begin(6*second, 0)
	s.end(6*second, 2)
	s.begin(6*second, 2)
	s.cut(7*second, 2)
	s.close(8 * second)
	assert.EqualValues(t, 1, s.spread.ended.Count())
	assert.Equal(t, 3*time.Second, s.spread.ended.Max())
	assert.EqualValues(t, 2, s.spread.open.Count())
	assert.Equal(t, 2*time.Second, s.spread.open.Max())
}
