package vector_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/spec/vector"
)

// This implementation comes to the outcome of every vector.
func TestVectors(t *testing.T) {
	set, err := vector.Load(os.DirFS("../vectors"))
	require.NoError(t, err)
	report, err := set.Check()
	require.NoError(t, err)
	for _, f := range report.Failures {
		t.Errorf("%s: %s: %s", f.File, f.Name, f.Why)
	}
	assert.Greater(t, report.Valid, 80)
	assert.Greater(t, report.Refused, 1000)
}
