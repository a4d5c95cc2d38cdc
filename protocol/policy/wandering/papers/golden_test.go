package papers

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/golden"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/policytest"
)

// TestScenarios plays the scripts in testdata; their language is policytest's. An agent
// without a preset is the journal paper's.
func TestScenarios(t *testing.T) {
	golden.Scripts(t, func(t *testing.T, script string) string {
		played, err := policytest.Play(script, func(p policy.Params, rng rand.Source) (policy.Policy, error) {
			if p.Preset == "" {
				p.Preset = Paper
			}
			return New(p, rng)
		})
		require.NoError(t, err)
		return played
	})
}
