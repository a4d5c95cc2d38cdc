package experiment

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/lab/gossip"
	"github.com/wandertoken/wander/sim/circulation"
)

func TestFitLine(t *testing.T) {
	slope, explained := fitLine([][2]float64{{0, 1}, {1, 3}, {2, 5}, {5, 11}})
	assert.InDelta(t, 2, slope, 1e-12)
	assert.InDelta(t, 1, explained, 1e-12)
	_, explained = fitLine([][2]float64{{0, 1}, {1, 0}, {2, 0}, {3, 1}})
	assert.InDelta(t, 0, explained, 1e-12)
}

// TestSpans: the figures about a distribution, on two that are known.
func TestSpans(t *testing.T) {
	const bin, wave = 10 * time.Millisecond, 200 * time.Millisecond
	rng := rand.New(rand.NewPCG(1, 1))
	poisson := circulation.NewHistogram(bin, gridLimit)
	wavy := circulation.NewHistogram(bin, gridLimit)
	for range 400_000 {
		poisson.Add(time.Duration(rng.ExpFloat64() * float64(2*time.Second)))
		wavy.Add(time.Duration(rng.IntN(8)+1) * gridTarget / 3)
		wavy.Add(time.Duration(rng.Int64N(int64(9 * time.Second))))
	}
	slope, explained := decayOf(poisson, 100*time.Millisecond)
	assert.InDelta(t, -0.5, slope, 0.01)
	assert.Greater(t, explained, 0.99)
	assert.InDelta(t, 1, deviationOf(poisson), 0.01)
	assert.InDelta(t, 1, wavesOf(poisson, wave), 0.02)
	assert.Greater(t, wavesOf(wavy, wave), 3.0)
	assert.InDelta(t, gridTarget.Seconds()/3, math.Mod(modeOf(wavy), gridTarget.Seconds()/3)+gridTarget.Seconds()/3, 0.01)
}

func TestMeanKnown(t *testing.T) {
	mean, share := meanKnown([]float64{1, 3})
	assert.Equal(t, []float64{2, 1}, []float64{mean, share})
	mean, share = meanKnown([]float64{1, math.NaN()})
	assert.Equal(t, []float64{math.Inf(1), 0.5}, []float64{mean, share})
}

// smallRamp is a ramp of a few members.
func smallRamp(registry gossip.Config) ramp {
	r := paperRamp(nil)
	r.members, r.registry = 12, registry
	return r
}

// TestRamp: the books of a ramp fit together, with and without a snapshot.
func TestRamp(t *testing.T) {
	plain, err := smallRamp(gossip.Config{}).run(1)
	require.NoError(t, err)
	snapshot, err := smallRamp(gossip.Config{Snapshot: true}).run(1)
	require.NoError(t, err)
	for _, o := range []*ramped{plain, snapshot} {
		assert.Len(t, o.joins.everybody, 11, "the first member did not join")
		for i, s := range o.joins.everybody {
			assert.GreaterOrEqual(t, s, o.joins.present[i])
			assert.GreaterOrEqual(t, o.joins.present[i], o.joins.most[i])
			last := gridRamp.Seconds() - float64(i+1)*gridRamp.Seconds()/11
			assert.GreaterOrEqual(t, s, last-1e-3, "before the last one has joined")
		}
		assert.Len(t, o.series, int(gridEnd/time.Second))
		assert.EqualValues(t, o.series[len(o.series)-1], o.after.Generated-o.after.Dropped[2])
		assert.Greater(t, o.tokens(o.from, gridEnd), 1.0)
	}
	assert.Zero(t, snapshot.joins.complete[11], "its contact knew all")
	assert.Positive(t, plain.joins.complete[11])
	again, err := smallRamp(gossip.Config{}).run(1)
	require.NoError(t, err)
	assert.Equal(t, plain.series, again.series, "the seed decides everything")
}

// TestControl: the plain model answers as §2.1 says where that is plain to
// see: without a token one is made, and with too many each use is as early as
// permitted.
func TestControl(t *testing.T) {
	none := control{places: 3}.run(1, 2, 0, 20*time.Second)
	assert.Positive(t, none.uses[len(none.uses)-1], "silences bring tokens")
	for seed := range uint64(3) {
		c := control{places: 3, tokens: 60}.run(seed, 2, 0, 10*time.Minute)
		for _, n := range c.tokens[1:] {
			assert.LessOrEqual(t, n, 2*3+2, "three wait at each member, and one is on the way to it")
		}
		interval := 2 / meanCount(c.uses)
		assert.InDelta(t, gridTarget.Seconds()/3, interval, 0.03)
	}
}

// TestPaperRamp: one run of the paper's experiment, by the policy, shows what
// was published.
func TestPaperRamp(t *testing.T) {
	o, err := paperRamp(nil).run(1)
	require.NoError(t, err)
	assert.InEpsilon(t, 1.71, usesOf(o).Mean().Seconds(), 0.03)
	assert.InDelta(t, 50, o.tokens(o.from, gridEnd), 5)
	assert.InDelta(t, 0.875, modeOf(usesOf(o)), 1e-9)
	assert.InDelta(t, 0.008, usesOf(o).ShareAbove(3*gridTarget), 0.002)
	assert.InDelta(t, 0.138, usesOf(o).ShareAbove(3*time.Second), 0.01, "and not below 1 %")
}

// TestMultitokenVerdicts runs what is quick with one seed and looks at the
// claims that everything else rests on.
func TestMultitokenVerdicts(t *testing.T) {
	var quick []Experiment
	for _, name := range []string{"multitoken-setup", "multitoken-control", "multitoken-coldstart"} {
		e, known := Find(name)
		require.True(t, known, name)
		quick = append(quick, e)
	}
	results, err := Run(context.Background(), quick, Options{Seeds: Seeds(1, 1)})
	require.NoError(t, err)
	verdicts := map[string]Verdict{}
	for _, r := range results {
		for _, row := range r.Rows {
			verdicts[row.ID] = row.Verdict
		}
	}
	for id, want := range map[string]Verdict{
		"multitoken-expected": Reproduced, "multitoken-mean/model": Reproduced, "multitoken-tokens/model": Reproduced,
		"multitoken-tokens/ewma-eighth": NotReproduced, "multitoken-target": Reproduced,
		"multitoken-coldstart-step/paper": Reproduced, "multitoken-coldstart-step/jittered": Reproduced,
		"multitoken-smooth": Reproduced, "multitoken-convergence": NotReproduced,
	} {
		assert.Equal(t, want, verdicts[id], id)
	}
}
