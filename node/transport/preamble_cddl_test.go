package transport

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/cddl"
)

// The transport's own frame is as spec/wire.cddl has it. All others are checked
// in package spec.
func TestPreamble_Encoded_MatchesCDDL(t *testing.T) {
	text, err := os.ReadFile("../../spec/wire.cddl")
	require.NoError(t, err)
	schema, err := cddl.Parse(string(text))
	require.NoError(t, err)
	for _, p := range []preamble{{}, {Process: process{1, 2}, Ordinal: 1 << 60, Keep: true}} {
		body, err := p.encode()
		require.NoError(t, err)
		assert.NoError(t, schema.Check("preamble", body))
		assert.LessOrEqual(t, len(body), maxPreamble)
		assert.Error(t, schema.Check("message", body))
	}
}
