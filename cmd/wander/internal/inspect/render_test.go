package inspect

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/wire"
)

// A file from somebody else must not speak to the terminal.
func TestTextHasNoControlCharacters(t *testing.T) {
	const hostile = "x\x1b[2J\r\u009b1m\u202ey"
	data, err := wire.Encode(&wire.Policy{Resource: hostile, Policy: "plain-name", Configuration: 1})
	require.NoError(t, err)
	var b strings.Builder
	for o, err := range New(nil).Objects("-", data) {
		require.NoError(t, err)
		require.NoError(t, o.Text(&b))
	}
	for _, r := range []string{"\x1b", "\r", "\u009b", "\u202e"} {
		assert.NotContains(t, b.String(), r)
	}
	assert.Contains(t, b.String(), `resource: "x\x1b[2J`)
	assert.Contains(t, b.String(), "policy: plain-name\n")
}
