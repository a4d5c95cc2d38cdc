package experiment

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/sim/circulation"
)

func at(seconds int) clock.Instant { return clock.Instant(time.Duration(seconds) * time.Second) }

// A first token is lost, the next one comes 100 s later; then a spurious one
// lives for 30 s and another one is lost.
func TestTokenWatch(t *testing.T) {
	a, b, c, d := ident.Token{1}, ident.Token{2}, ident.Token{3}, ident.Token{4}
	w := newTokenWatch()
	w.TokenBorn(at(0), 0, a)
	w.TokenGone(at(1000), a, circulation.LostInTransit)
	w.TokenBorn(at(1100), 0, b)
	w.TokenBorn(at(1200), 0, c)
	w.TokenGone(at(1230), c, circulation.Dropped)
	w.TokenBorn(at(5000), 0, d)
	w.TokenGone(at(5600), d, circulation.LostInTransit)
	w.Advanced(at(6000))
	assert.Equal(t, []clock.Instant{at(1100), at(1200), at(5000)}, w.made)
	assert.Equal(t, []time.Duration{30 * time.Second}, w.lives, "what is lost was not removed")
	assert.Equal(t, []time.Duration{30 * time.Second, 600 * time.Second}, w.crowds)
	// After the recovery at 1100 s come 1200 s, 30 s of them with two tokens.
	assert.Equal(t, crowding{one: 1200 * time.Second, more: 30 * time.Second}, w.settling.after)
	// Before, there was a token for 1000 s, and afterwards for 3700 s.
	assert.Equal(t, crowding{one: 4700 * time.Second, more: 600 * time.Second}, w.settling.other)
	assert.InDelta(t, 1950, betweenGenerations(&outcome{watch: w}), 1e-9)
	assert.InDelta(t, 315, meanSeconds(w.crowds), 1e-9)
	assert.True(t, math.IsNaN(meanSeconds(nil)))
}

func TestLinearity(t *testing.T) {
	assert.InDelta(t, 1, linearity([]int{1, 2, 3}, []float64{10, 12, 14}), 1e-12)
	assert.InDelta(t, 1, linearity([]int{1, 2, 3}, []float64{3, 2, 1}), 1e-12)
	assert.InDelta(t, 0, linearity([]int{1, 2, 3}, []float64{1, 5, 1}), 1e-12)
	assert.InDelta(t, 0.25, linearity([]int{1, 2, 3}, []float64{1, 3, 2}), 1e-12)
}

// Everybody knows two others for each ring, and is known by as many.
func TestAcquaintances(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	a := newAcquaintances(50, 3, rng)
	for m, known := range a.known {
		assert.Len(t, known, 6)
		assert.NotContains(t, known, m)
		for range 20 {
			to, ok := a.Choose(m, rng)
			assert.True(t, ok)
			assert.Contains(t, known, to)
			assert.Contains(t, a.known[to], m)
		}
	}
}

// short is the case study with a tenth of the members, in a tenth of the time.
func short() setting {
	s := caseStudy(30)
	s.Params.MembersMax = 30
	s.length = runLength / 2
	return s
}

func TestLoss_Readings_Distinct(t *testing.T) {
	for name, c := range map[string]struct {
		s         setting
		low, high uint64
	}{
		"none":      {func() setting { s := short(); s.LossEvery = 0; return s }(), 0, 0},
		"one":       {short(), 4, 5}, // the fifth comes at the very end
		"all":       {short().loseAll(), 4, 12},
		"at random": {short().loseAtRandom(), 1, 15},
	} {
		o, err := c.s.run(1)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, o.stats.Lost, c.low, name)
		assert.LessOrEqual(t, o.stats.Lost, c.high, name)
	}
	one, err := short().loseAtRandom().run(1)
	require.NoError(t, err)
	other, err := short().loseAtRandom().run(2)
	require.NoError(t, err)
	assert.NotEqual(t, one.Gaps(), other.Gaps())
}

// From a cold start the first token comes after Δmin + γ/N on the average,
// which is 2·Δmin (journal §2).
func TestColdStart(t *testing.T) {
	s := short()
	s.Found, s.LossEvery = 0, 0
	got, err := firstGeneration(s, 1, 200)
	require.NoError(t, err)
	assert.InEpsilon(t, 120, got, 0.1)
}

// Without coordination the number of operations at once is nearly Poisson
// distributed with mean 1.
func TestBenchmark_Arrivals_Poisson(t *testing.T) {
	o, err := journalBenchmark().run(1)
	require.NoError(t, err)
	for k, want := range []float64{math.Exp(-1), math.Exp(-1), math.Exp(-1) / 2, math.Exp(-1) / 6} {
		assert.InDelta(t, want, exactly(k)(o), 0.01)
	}
	assert.InDelta(t, 1-2.5*math.Exp(-1), moreThan(2)(o), 0.01)
	assert.InDelta(t, 2.0/3, falls(o), 0.05)
}

func TestColumns(t *testing.T) {
	a, b := []float64{1, 5, 3}, []float64{2, 4, 3}
	assert.Equal(t, []float64{2, 5, 3}, worst(a, b))
	assert.Equal(t, []float64{1, 4, 3}, least(a, b))
	assert.Equal(t, []float64{0.5, 1.25, 1}, ratio(a, b))
	assert.Equal(t, []float64{1, 1, 0}, difference(a, b))
	assert.Equal(t, a, slices.Clone(column(a, func(v float64) float64 { return v })))
}
