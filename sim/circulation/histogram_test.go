package circulation

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestHistogram(t *testing.T) {
	h := NewHistogram(time.Second, 10*time.Second)
	assert.Zero(t, h.Mean())
	assert.Zero(t, h.Min())
	assert.Zero(t, h.Max())
	assert.Zero(t, h.Quantile(0.5))
	assert.Zero(t, h.ShareBelow(time.Second))
	assert.Zero(t, h.ShareAbove(time.Second))

	for _, s := range []float64{-1, 0.5, 1.5, 1.5, 9.5, 10, 30} {
		h.Add(time.Duration(s * 1e9))
	}
	assert.Equal(t, uint64(7), h.Count())
	assert.Equal(t, []uint64{2, 2, 0, 0, 0, 0, 0, 0, 0, 1}, h.Bins())
	assert.Equal(t, uint64(2), h.beyond)
	assert.Equal(t, time.Duration(0), h.Min())
	assert.Equal(t, 30*time.Second, h.Max())
	assert.InDelta(t, 53.0/7, h.Mean().Seconds(), 1e-6)
	assert.InDelta(t, 2.0/7, h.ShareBelow(time.Second), 1e-9)
	assert.InDelta(t, 3.0/7, h.ShareBelow(1500*time.Millisecond), 1e-9, "half of a bin")
	assert.InDelta(t, 5.0/7, h.ShareBelow(10*time.Second), 1e-9)
	assert.InDelta(t, 2.0/7, h.ShareAbove(10*time.Second), 1e-9)
	assert.InDelta(t, 6.0/7, h.ShareBelow(20*time.Second), 1e-9, "between limit and longest")
	assert.InDelta(t, 1, h.ShareBelow(31*time.Second), 0)
	assert.Equal(t, time.Second, h.Quantile(2.0/7))
	assert.Equal(t, 30*time.Second, h.Quantile(1))
	assert.Equal(t, 10*time.Second, h.Limit())
	assert.Equal(t, time.Second, h.Width())
}

func TestHistogramMerge(t *testing.T) {
	a, b, both := NewHistogram(time.Second, time.Minute), NewHistogram(time.Second, time.Minute), NewHistogram(time.Second, time.Minute)
	for i := range 200 {
		d := time.Duration(i*i%97) * time.Second
		both.Add(d)
		[]*Histogram{a, b}[i%2].Add(d)
	}
	require.NoError(t, a.Merge(b))
	assert.Equal(t, both, a)
	assert.ErrorIs(t, a.Merge(NewHistogram(time.Second, time.Hour)), ErrShape)
	assert.ErrorIs(t, a.Merge(NewHistogram(time.Minute, time.Minute)), ErrShape)
}

// TestHistogram_AnyValues_AgreesWithSorted: shares and quantiles are within a bin of those
// of the sorted spans.
func TestHistogram_AnyValues_AgreesWithSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		h := NewHistogram(100, 5000)
		spans := make([]time.Duration, rapid.IntRange(1, 500).Draw(t, "n"))
		for i := range spans {
			spans[i] = time.Duration(rng.ExpFloat64() * 1500)
			h.Add(spans[i])
		}
		slices.Sort(spans)
		assert.Equal(t, spans[len(spans)-1], h.Max())
		assert.Equal(t, spans[0], h.Min())
		last := time.Duration(0)
		for i, exact := range spans {
			q := float64(i+1) / float64(len(spans))
			got := h.Quantile(q)
			require.GreaterOrEqual(t, got, last)
			last = got
			if exact < h.Limit() {
				require.InDelta(t, float64(exact), float64(got), 100, "%v", q)
			}
		}
		for x := time.Duration(0); x <= 5000; x += 100 {
			i, _ := slices.BinarySearch(spans, x)
			require.InDelta(t, float64(i)/float64(len(spans)), h.ShareBelow(x), 1e-9)
		}
	})
}
