package experiment

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/policy/multitoken"
	"github.com/wandertoken/wander/sim/circulation"
)

// smallGroups are quick.
var smallGroups = manyGroups{sizes: []int{60, 200}, warm: 30 * time.Second, length: 60 * time.Second}

// TestBeyond_ManyTokens_Measured: each part hands in a row for each preset, size and quantity,
// and every preset stays within some tens of percents of its goals even in a minute.
func TestBeyond_ManyTokens_Measured(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(*Lab) error
		rows int
	}{
		{"steady", smallGroups.steadyGoals, 5 * 2 * 3},
		{"stress", smallGroups.stressGoals, 3 * 2 * 3 * 3},
		{"change", smallGroups.changeGoals, 4 * 2 * 2 * 2},
		{"coldstart", smallGroups.coldGoals, 4 * 2 * 2},
	} {
		results, err := Run(t.Context(), []Experiment{{Name: "beyond-many-" + c.name, Goals: true, Run: c.run}}, Options{Seeds: Seeds(1, 1)})
		require.NoError(t, err)
		assert.Len(t, results[0].Rows, c.rows, c.name)
		for _, r := range results[0].Rows {
			if r.Holds.kind != reported {
				assert.Less(t, r.Median, 0.9, r.ID)
			}
		}
	}
}

// TestManyGroup: the counts of one run fit together, and a seed is one run.
func TestManyGroup(t *testing.T) {
	g := smallGroups.group(multitoken.T3gj, 200)
	one, err := g.run(1)
	require.NoError(t, err)
	again, err := g.run(1)
	require.NoError(t, err)
	assert.Equal(t, one, again)
	assert.InEpsilon(t, gridTarget.Seconds(), one.interval, 0.1)
	assert.InEpsilon(t, 200*gridLatency.Seconds()/one.interval, one.tokens, 0.1, "Little's law")
	assert.InDelta(t, 0, one.surplus(), 0.2)
	g.preset = multitoken.S3gj
	assert.InDelta(t, 1.5*one.least, g.least(), 1e-9)
	g.knows = 20
	few, err := g.run(1)
	require.NoError(t, err)
	assert.NotEqual(t, one.interval, few.interval)
}

// TestHeavyTail: the mean is what it is to be, and the tail is heavy.
func TestHeavyTail(t *testing.T) {
	q := paretoQuantiles(gridLatency, 1.5, 2*time.Second)
	rng := rand.New(rand.NewPCG(1, 1))
	var sum, most time.Duration
	const draws = 400_000
	for range draws {
		x := rng.Float64() * float64(len(q)-1)
		d := q[int(x)] + time.Duration((x-float64(int(x)))*float64(q[int(x)+1]-q[int(x)]))
		sum, most = sum+d, max(most, d)
	}
	assert.InEpsilon(t, gridLatency.Seconds(), sum.Seconds()/draws, 0.05)
	assert.Greater(t, most, time.Second)
	assert.Less(t, q[len(q)/2], gridLatency*2/3, "the median is far below the mean")
	assert.Equal(t, circulation.Quantiles(q), heavyTail(gridLatency, 1.5, 2*time.Second))
}
