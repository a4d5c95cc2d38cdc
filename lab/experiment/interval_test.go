package experiment

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The ranks are the known ones: those of up to 50 samples are in textbooks'
// tables of confidence intervals of the median.
func TestMedianRank_PublishedTable_Equal(t *testing.T) {
	for n, want := range map[int]int{
		1: 0, 2: 0, 5: 0, 6: 1, 8: 1, 9: 2, 10: 2, 11: 2, 12: 3, 15: 4, 17: 5, 20: 6, 25: 8, 30: 10, 40: 14, 50: 18, 100: 40, 1000: 469,
	} {
		assert.Equal(t, want, medianRank(n), n)
	}
	assert.Positive(t, medianRank(MaxSeeds))
}

// The probabilities are the binomial's: of 5 tosses, of 20, and of 40 up to 13,
// which is what the interval of 40 samples leaves out on each side.
func TestHalves_Binomial_Equal(t *testing.T) {
	for k, ways := range []float64{1, 5, 10, 10, 5, 1} {
		assert.InDelta(t, ways/32, halves(5, k), 1e-12)
	}
	assert.InDelta(t, 184756.0/1048576, halves(20, 10), 1e-12)
	outside := 0.0
	for k := range medianRank(40) {
		outside += halves(40, k)
	}
	assert.InDelta(t, 0.019239, outside, 1e-6)
	assert.InDelta(t, 0.040345, outside+halves(40, medianRank(40)), 1e-6, "one more would be too many")
}

func TestMedianInterval_Samples_OrderStatistics(t *testing.T) {
	var sorted []float64
	for i := range 40 {
		sorted = append(sorted, float64(i+1))
	}
	low, high := medianInterval(sorted)
	assert.Equal(t, [2]float64{14, 27}, [2]float64{low, high})
	low, high = medianInterval(sorted[:5])
	assert.Equal(t, [2]float64{math.Inf(-1), math.Inf(1)}, [2]float64{low, high})
}

// The interval contains the median as often as it says, whatever is drawn.
func TestMedianInterval_RandomSamples_Covers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for name, c := range map[string]struct {
		draw   func() float64
		median float64
	}{
		"exponential": {rng.ExpFloat64, math.Ln2},
		"coin":        {func() float64 { return float64(rng.IntN(2)) + rng.Float64()/1e9 }, 1},
	} {
		const rounds = 4000
		covered := 0
		for range rounds {
			samples := make([]float64, 40)
			for i := range samples {
				samples[i] = c.draw()
			}
			row := newRow(Claim{Holds: Reported()}, samples)
			if row.Low <= c.median && c.median <= row.High {
				covered++
			}
		}
		assert.InDelta(t, 0.9615, float64(covered)/rounds, 0.012, name)
	}
}

// What the tolerances of the checks are when they are halved and doubled.
func TestCheck_Scaled_Limits(t *testing.T) {
	for name, c := range map[string]struct {
		check, half, double Check
	}{
		"about":        {About(100, 0.2), About(100, 0.1), About(100, 0.4)},
		"between":      {Between(12, 16), Between(13, 15), Between(10, 18)},
		"a factor":     {Between(0.5, 2), Between(math.Sqrt(0.5), math.Sqrt2), Between(0.25, 4)},
		"a bound":      {AtMost(10).ours(), AtMost(5).ours(), AtMost(20).ours()},
		"at least":     {AtLeast(7200).ours(), AtLeast(14400).ours(), AtLeast(3600).ours()},
		"nearly all":   {AtLeast(0.9).ours(), AtLeast(0.95).ours(), AtLeast(0.8).ours()},
		"a quotient":   {AtMost(1.2).trend().ours(), AtMost(1.1).trend().ours(), AtMost(1.4).trend().ours()},
		"smaller":      {AtMost(0.5).trend().ours(), AtMost(0).trend().ours(), AtMost(0.75).trend().ours()},
		"the paper's":  {AtMost(10), AtMost(10), AtMost(10)},
		"one number":   {Exactly(2), Exactly(2), Exactly(2)},
		"any":          {Reported(), Reported(), Reported()},
		"more or less": {AtLeast(1).trend(), AtLeast(1).trend(), AtLeast(1).trend()},
	} {
		half, double := c.check.scaled(0.5), c.check.scaled(2)
		assert.InDeltaSlice(t, ends(c.half), ends(half), 1e-9, "%s halved", name)
		assert.InDeltaSlice(t, ends(c.double), ends(double), 1e-9, "%s doubled", name)
	}
}

// ends are the finite limits of a check.
func ends(c Check) (all []float64) {
	for _, x := range []float64{c.low, c.high} {
		if !math.IsInf(x, 0) {
			all = append(all, x)
		}
	}
	return all
}

// A row tells which verdicts its samples have with other tolerances.
func TestRow_OtherTolerances_Changes(t *testing.T) {
	samples := []float64{104, 105, 106, 107, 108, 109}
	row := newRow(Claim{Holds: About(100, 0.1)}, samples)
	assert.Equal(t, Reproduced, row.Verdict)
	assert.Equal(t, []Change{{toleranceName, "halved", Open}}, row.Tolerance)
	row = newRow(Claim{Holds: About(100, 0.02)}, samples)
	assert.Equal(t, NotReproduced, row.Verdict)
	assert.Equal(t, []Change{{toleranceName, "doubled", Open}}, row.Tolerance)
	assert.Empty(t, newRow(Claim{Holds: AtMost(110)}, samples).Tolerance, "the limit is the paper's")
}

// The kinds that the headline counts.
func TestKindOf_Claims_ByDataOrRule(t *testing.T) {
	for want, claims := range map[Kind][]Claim{
		TwoSided:   {{Holds: About(1, 0.1)}, {Holds: Between(0.5, 2)}, {Holds: Exactly(600), Unit: Seconds}},
		OneSided:   {{Holds: AtMost(1)}, {Holds: Exactly(1), Unit: Share}, {Holds: Exactly(0), Unit: Number}},
		Trend:      {{Holds: AtMost(1).trend()}},
		Own:        {{Source: fromThisProject, Holds: AtMost(1)}, {Source: fromNoPaper}, {Source: fromGoals}, {Source: fromPolicies}},
		NoNumber:   {{Holds: Reported()}},
		Arithmetic: {{Holds: AtMost(1), Kind: Arithmetic}},
		Corrected:  {{Holds: AtMost(1), Kind: Corrected}},
	} {
		for _, c := range claims {
			assert.Equal(t, want, kindOf(&c), "%+v", c)
		}
	}
}

func TestMinSeeds_Fewer_NoInterval(t *testing.T) {
	assert.Positive(t, medianRank(MinSeeds))
	assert.Zero(t, medianRank(MinSeeds-1))
}
