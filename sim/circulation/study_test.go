package circulation_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/sim/circulation"
)

// table1 is the case study of the journal paper (§3, table 1).
var table1 = policy.Params{OperationTime: 4 * time.Second, MembersMax: 300, SkipDelay: 100 * time.Millisecond}

// TestCaseStudy: the journal paper's run gives what the simulation in
// protocol/policy/wandering gives, which shares no code with this one (40 runs
// of it: idle 9.1 % ± 1.6, two 6.7 % ± 0.7, more 0.25 % ± 0.13, visits within
// 1200 s 87.3 % ± 0.5, operations 63.3 % ± 0.8).
func TestCaseStudy(t *testing.T) {
	const runs = 4
	var idle, two, more, visits, operations float64
	for seed := range uint64(runs) {
		w, err := circulation.New(circulation.Config{
			Policy: catalog.Wandering, Params: table1, Members: 300, Found: 1, Seed: seed, LossEvery: 10_000 * time.Second,
		})
		require.NoError(t, err)
		m := circulation.NewMeter(circulation.MeterConfig{})
		w.Observe(m)
		w.Run(clock.Instant(100_000 * time.Second))
		require.NoError(t, w.Err())
		idle += m.Concurrency(0) / runs
		two += m.Concurrency(2) / runs
		more += (1 - m.Concurrency(0) - m.Concurrency(1) - m.Concurrency(2)) / runs
		visits += m.Visits.ShareBelow(1200*time.Second) / runs
		operations += m.Operations.ShareBelow(1200*time.Second) / runs
	}
	t.Logf("idle %.4f, two %.4f, more %.4f, visits %.4f, operations %.4f", idle, two, more, visits, operations)
	assert.InDelta(t, 0.091, idle, 0.025)
	assert.InDelta(t, 0.067, two, 0.012)
	assert.InDelta(t, 0.0025, more, 0.002)
	assert.InDelta(t, 0.873, visits, 0.01)
	assert.InDelta(t, 0.633, operations, 0.015)
}
