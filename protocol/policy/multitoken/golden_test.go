package multitoken

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/golden"
	"github.com/wandertoken/wander/protocol/policy/policytest"
)

// TestScenarios plays the scripts in testdata; their language is policytest's.
func TestScenarios(t *testing.T) {
	golden.Scripts(t, func(t *testing.T, script string) string {
		played, err := policytest.Play(script, Make)
		require.NoError(t, err)
		return played
	})
}
