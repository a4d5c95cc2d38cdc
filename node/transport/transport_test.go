package transport

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFramesGoBothWays(t *testing.T) {
	g, b := newGroup(t, "g"), newBook()
	a := g.open(t, b, loopback(t), "a", nil)
	z := g.open(t, b, loopback(t), "z", nil)
	a.Send(z.Self(), Custody, []byte("\x82there"))
	z.wait(frame("\x82there"), 1)
	z.Send(a.Self(), Custody, []byte("\x82back"))
	a.wait(frame("\x82back"), 1)
	require.Equal(t, 1, a.count(kind("connected")))
	require.Equal(t, 1, z.count(kind("connected")))
	require.NoError(t, a.Close())
	e := z.wait(kind("disconnected"), 1)
	require.ErrorIs(t, e.err, ErrShuttingDown)
}
