package experiment_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/lab/experiment"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/sim/circulation"
)

// scenario is a small group, changed by some.
func scenario(change func(*experiment.Scenario)) experiment.Scenario {
	s := experiment.Scenario{
		Config: circulation.Config{
			Policy: catalog.Wandering, Members: 20, Found: 1,
			Params: policy.Params{Preset: "paper", OperationTime: 4 * time.Second, MembersMax: 20, SkipDelay: 100 * time.Millisecond},
		},
		Duration: 2000 * time.Second,
	}
	change(&s)
	return s
}

// measured are the medians of one run, by name.
func measured(t *testing.T, change func(*experiment.Scenario)) map[string]float64 {
	t.Helper()
	s := scenario(change)
	require.NoError(t, s.Validate())
	results, err := experiment.Run(t.Context(), []experiment.Experiment{s.Experiment()}, experiment.Options{Seeds: experiment.Seeds(1, 1)})
	require.NoError(t, err)
	values := map[string]float64{}
	for _, r := range results[0].Rows {
		assert.Equal(t, experiment.Measured, r.Verdict)
		values[r.ID] = r.Median
	}
	return values
}

func TestScenarioMeasures(t *testing.T) {
	all := measured(t, func(*experiment.Scenario) {})
	for _, name := range experiment.Measures() {
		some := measured(t, func(s *experiment.Scenario) { s.What = []string{name} })
		assert.NotEmpty(t, some)
		for id, value := range some {
			assert.True(t, strings.HasPrefix(id, name+": "), id)
			assert.True(t, math.IsNaN(value) && math.IsNaN(all[id]) || value == all[id], id)
		}
	}
	shares := 0.0
	for id, value := range all {
		if strings.HasPrefix(id, "concurrency: share") {
			shares += value
		}
	}
	assert.InDelta(t, 1, shares, 1e-9)
	assert.Equal(t, 1.0, all["tokens: share of time with 1 token"]+all["tokens: share of time with more than 1 token"])
	assert.True(t, math.IsNaN(all["gaps: mean"]), "nothing was lost")
}

// Each setting of a Scenario beside the Config does what it says.
func TestScenarioSettings(t *testing.T) {
	cold := func(s *experiment.Scenario) { s.Found = 0 }
	before := measured(t, cold)
	after := measured(t, func(s *experiment.Scenario) { cold(s); s.WarmUp = 1000 * time.Second })
	assert.Positive(t, before["tokens: share of time with no token"])
	assert.Zero(t, after["tokens: share of time with no token"], "the first token came in the warm-up")

	none := func(s *experiment.Scenario) { s.Demand = circulation.Scripted() }
	everybody, few := measured(t, none), measured(t, func(s *experiment.Scenario) { none(s); s.Acquaintances = 2 })
	assert.Greater(t, few["visits: 99th percentile"], 1.5*everybody["visits: 99th percentile"], "a walk around a ring returns late")
	assert.True(t, math.IsNaN(everybody["waits: mean"]), "nobody wanted anything")

	short := measured(t, func(s *experiment.Scenario) { s.Duration = 500 * time.Second })
	assert.Less(t, short["counts: hops"], before["counts: hops"])

	below := measured(t, func(s *experiment.Scenario) { s.Below = []time.Duration{40 * time.Second, 80 * time.Second} })
	assert.Zero(t, below["operations: share below 40 s"], "Δmin is 40 s")
	assert.Positive(t, below["operations: share below 80 s"])

	coarse := measured(t, func(s *experiment.Scenario) { s.Bin, s.Limit = 200*time.Second, 200*time.Second })
	assert.NotEqual(t, below["operations: median"], coarse["operations: median"])
	assert.Equal(t, below["operations: longest"], coarse["operations: longest"])
}

func TestScenarioValidate(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*experiment.Scenario)
		want   error
	}{
		"good":                  {func(*experiment.Scenario) {}, nil},
		"no time":               {func(s *experiment.Scenario) { s.Duration = 0 }, experiment.ErrDuration},
		"more than a life":      {func(s *experiment.Scenario) { s.Duration = policy.MaxInterval + 1 }, experiment.ErrDuration},
		"nothing but a warm-up": {func(s *experiment.Scenario) { s.WarmUp = s.Duration }, experiment.ErrDuration},
		"too many bins":         {func(s *experiment.Scenario) { s.Bin = time.Millisecond }, experiment.ErrDuration},
		"too many thresholds":   {func(s *experiment.Scenario) { s.Below = make([]time.Duration, experiment.MaxBelow+1) }, experiment.ErrMeasure},
		"unknown measure":       {func(s *experiment.Scenario) { s.What = []string{"visits", "x"} }, experiment.ErrMeasure},
		"half an acquaintance":  {func(s *experiment.Scenario) { s.Acquaintances = 3 }, experiment.ErrAcquaintances},
		"more than there are":   {func(s *experiment.Scenario) { s.Acquaintances = 20 }, experiment.ErrAcquaintances},
		"more than fit": {func(s *experiment.Scenario) {
			s.Members, s.Params.MembersMax, s.Acquaintances = policy.MaxMembers, policy.MaxMembers, policy.MaxMembers-2
		}, experiment.ErrAcquaintances},
		"nothing but crashes": {func(s *experiment.Scenario) { s.CrashEvery = time.Millisecond }, experiment.ErrFaults},
		"nothing but losses":  {func(s *experiment.Scenario) { s.LossEvery = 1 }, experiment.ErrFaults},
		"the simulator's own": {func(s *experiment.Scenario) { s.PassLoss = 2 }, circulation.ErrShare},
	} {
		s := scenario(c.change)
		assert.ErrorIs(t, s.Validate(), c.want, name)
	}
}
