package catalog_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

var params = policy.Params{OperationTime: 4 * time.Second, MembersMax: 300, SkipDelay: 100 * time.Millisecond}

// paramsOf adds what a policy requires beyond params.
func paramsOf(name string) policy.Params {
	p := params
	if name == catalog.Multitoken {
		p.TargetInterval = time.Minute
	}
	return p
}

func TestNames_Each_MakesAPolicy(t *testing.T) {
	require.Contains(t, catalog.Names(), catalog.Wandering)
	assert.True(t, slices.IsSorted(catalog.Names()))
	for _, name := range catalog.Names() {
		t.Run(name, func(t *testing.T) {
			made, err := catalog.New(name, paramsOf(name), policy.Surroundings{Random: rand.NewPCG(1, 2)})
			require.NoError(t, err)
			assert.NotPanics(t, func() { made.Step(0, policy.Event{Kind: policy.Timer}, nil) })
		})
	}
}

// A seed decides everything: this is what makes a simulation replayable.
func TestPolicies_SameSeed_SameAnswers(t *testing.T) {
	for _, name := range catalog.Names() {
		x, err := catalog.New(name, paramsOf(name), policy.Surroundings{Random: rand.NewPCG(1, 2)})
		require.NoError(t, err)
		y, err := catalog.New(name, paramsOf(name), policy.Surroundings{Random: rand.NewPCG(1, 2)})
		require.NoError(t, err)
		for now := range clock.Instant(10) {
			e := policy.Event{Kind: policy.Timer}
			assert.Equal(t, x.Step(now, e, nil), y.Step(now, e, nil))
		}
	}
}

func TestRefusals(t *testing.T) {
	made, err := catalog.New("wondering", params, policy.Surroundings{Random: rand.NewPCG(1, 2)})
	require.ErrorIs(t, err, catalog.ErrUnknownPolicy)
	assert.ErrorContains(t, err, `"wondering"`)
	assert.ErrorContains(t, err, catalog.Wandering)
	assert.Nil(t, made)

	for _, name := range catalog.Names() {
		wrong := paramsOf(name)
		wrong.MembersMax = 0
		made, err := catalog.New(name, wrong, policy.Surroundings{Random: rand.NewPCG(1, 2)})
		require.ErrorIs(t, err, policy.ErrOutOfRange)
		assert.ErrorContains(t, err, "members_max")
		assert.True(t, made == nil, "no interface around a nil pointer")
	}
}

// TestRefusals_Weights_FairAlone: presets that do not know when members were served refuse weights.
func TestRefusals_Weights_FairAlone(t *testing.T) {
	weights, err := policy.MakeWeights(map[string]int{"backup": 5})
	require.NoError(t, err)
	for _, name := range catalog.Names() {
		for _, preset := range catalog.Presets(name) {
			p := paramsOf(name)
			p.Preset, p.Weights = preset.Name, weights
			err := catalog.Check(name, p)
			if preset.Name == "fair" {
				assert.NoError(t, err)
				continue
			}
			require.ErrorIs(t, err, policy.ErrUnused, "%s %s", name, preset.Name)
			assert.ErrorContains(t, err, "does not use weights; leave it out, or set preset fair of policy wandering")
		}
	}
}

// TestLeastWait_EveryPreset_Given: the audit takes members for faulty that make tokens faster.
func TestLeastWait_EveryPreset_Given(t *testing.T) {
	for _, name := range catalog.Names() {
		for _, preset := range catalog.Presets(name) {
			p := paramsOf(name)
			p.Preset = preset.Name
			assert.Positive(t, catalog.LeastWait(name, p), "%s %s", name, preset.Name)
		}
	}
	assert.Zero(t, catalog.LeastWait("stranger", params))
}
