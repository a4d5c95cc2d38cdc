package driver

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/gate/wire"
)

// A stream that has asked while the gate observed does not come in once it enforces.
func TestTunnel_EnforcedBeforeEntry_Refused(t *testing.T) {
	tunnel := newTunnel(t.Context(), nil, false)
	beside := newPassage(-1)
	_, l, _, err := tunnel.enter(1, beside, true, nil)
	require.NoError(t, err)
	tunnel.leave(beside, l)
	tunnel.enforce(nil)
	_, _, _, err = tunnel.enter(1, beside, true, nil)
	require.Equal(t, refusal(wire.StreamNotOpen), err)
	tunnel.observe()
	_, l, _, err = tunnel.enter(1, beside, true, nil)
	require.NoError(t, err)
	tunnel.leave(beside, l)
}
