package ring

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/policy/policytest"
)

var update = flag.Bool("update", false, "rewrite the answers in testdata/*.txt")

// TestScenarios plays the scripts in testdata; their language is policytest's.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		got, err := policytest.Play(string(want), New)
		require.NoError(t, err, file)
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
			continue
		}
		assert.Equal(t, string(want), got, file)
	}
}
