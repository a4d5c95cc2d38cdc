package transport

import (
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/protocol/ident"
)

// A probe says who answers, and leaves no connection.
func TestProbe_Member_Answers(t *testing.T) {
	g, b := newGroup(t, "g"), newBook()
	a := g.open(t, b, loopback(t), "a", nil)
	z := g.open(t, b, loopback(t), "z", nil)
	other := g.open(t, b, loopback(t), "other", nil)
	to := []string{b.addresses(z.Self())[0]}
	for _, want := range []*ident.Member{nil, ptr(z.Self())} {
		got, err := a.Probe(t.Context(), to, want)
		require.NoError(t, err)
		assert.Equal(t, z.Self(), got.Certificate.Member())
		assert.Equal(t, to[0], got.Remote.String())
		assert.Positive(t, got.Took)
		assert.Positive(t, got.RTT)
	}
	_, err := a.Probe(t.Context(), to, ptr(other.Self()))
	require.ErrorIs(t, err, ErrWrongMember)
	_, err = a.Probe(t.Context(), []string{b.addresses(a.Self())[0]}, nil)
	require.ErrorIs(t, err, ErrSelf)
	_, err = a.Probe(t.Context(), nil, nil)
	require.ErrorIs(t, err, ErrNoAddress)
	assert.Zero(t, a.Stats().Connections)
	assert.Empty(t, a.Neighbours())
	assert.Zero(t, z.count(kind("connected")), "a probe is no connection")

	// One that is connected stays so.
	a.Send(z.Self(), Custody, []byte("there"))
	z.wait(frame("there"), 1)
	_, err = a.Probe(t.Context(), to, ptr(z.Self()))
	require.NoError(t, err)
	a.Send(z.Self(), Custody, []byte("again"))
	z.wait(frame("again"), 1)
	require.Len(t, a.Neighbours(), 1)
	n := a.Neighbours()[0]
	assert.Equal(t, []any{z.Self(), true, to[0]}, []any{n.Member, n.Dialled, n.Remote.String()})
	assert.False(t, z.Neighbours()[0].Dialled)
	assert.Zero(t, a.count(kind("disconnected")))
}

func ptr[T any](v T) *T { return &v }

// deafSocket reads nothing any more, once told to.
type deafSocket struct {
	net.PacketConn
	deaf atomic.Bool
}

func (d *deafSocket) ReadFrom(p []byte) (n int, from net.Addr, err error) {
	for {
		if n, from, err = d.PacketConn.ReadFrom(p); err != nil || !d.deaf.Load() {
			return n, from, err
		}
	}
}

// A peer whose packets do not come counts as silent long before it is given up.
func TestUnanswered_NothingComes_Counted(t *testing.T) {
	g, b := newGroup(t, "g"), newBook()
	ear := &deafSocket{PacketConn: loopback(t)}
	a := g.open(t, b, ear, "a", nil)
	z := g.open(t, b, loopback(t), "z", nil)
	assert.Zero(t, a.Unanswered())
	a.Send(z.Self(), Custody, []byte("there"))
	z.wait(frame("there"), 1)
	ear.deaf.Store(true)
	require.True(t, await.Holds(20*time.Millisecond, func() bool { // what is sent before a look may have been answered by then
		a.Send(z.Self(), Custody, []byte("asked"))
		return a.Unanswered() >= time.Second
	}), "the silence is not noticed")
	assert.Equal(t, 1, a.Stats().Connections)
	ear.deaf.Store(false)
	await.Until(t, "it is over", func() bool { return a.Unanswered() == 0 })
}

func TestReceiveBuffer_Socket_Known(t *testing.T) {
	g, b := newGroup(t, "g"), newBook()
	a := g.open(t, b, loopback(t), "a", nil)
	if a.ReceiveBuffer() == 0 {
		t.Skip("this system does not say")
	}
	assert.GreaterOrEqual(t, a.ReceiveBuffer(), 4096)
	assert.GreaterOrEqual(t, PathMTU(&net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9}), 1280)
}
