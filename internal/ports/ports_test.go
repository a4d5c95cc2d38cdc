package ports

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTake_TwoTests_NoPortInCommon(t *testing.T) {
	owner := make(map[int]int)
	for k := range 100 {
		first := Take(t)
		for port := first; port < first+rowPorts; port++ {
			assert.NotContains(t, owner, port)
			assert.GreaterOrEqual(t, port, lowest)
			assert.LessOrEqual(t, port, highest)
			owner[port] = k
		}
	}
}

func TestTake_TestEnded_GivenBack(t *testing.T) {
	var first int
	t.Run("takes", func(t *testing.T) { first = Take(t) })
	l, err := net.Listen("tcp", address(first-1))
	require.NoError(t, err, "the lock of the row")
	require.NoError(t, l.Close())
}

func TestAreFree_UDPInUse_False(t *testing.T) {
	first := Take(t)
	assert.True(t, areFree(first))
	c, err := net.ListenPacket("udp", address(first+rowPorts-1))
	require.NoError(t, err)
	defer c.Close()
	assert.False(t, areFree(first))
}
