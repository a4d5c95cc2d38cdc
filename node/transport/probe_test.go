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

// A probe dials beside the other dials within their bound.
func TestProbe_ManyDials_Busy(t *testing.T) {
	g, b := newGroup(t, "g"), newBook()
	a := g.open(t, b, loopback(t), "a", nil)
	z := g.open(t, b, loopback(t), "z", nil)
	for range MaxDials {
		a.dials <- struct{}{}
	}
	to := []string{b.addresses(z.Self())[0]}
	_, err := a.Probe(t.Context(), to, nil)
	require.ErrorIs(t, err, ErrBusy)
	for range MaxDials {
		<-a.dials
	}
	_, err = a.Probe(t.Context(), to, nil)
	require.NoError(t, err)
	assert.Empty(t, a.dials)
}

func ptr[T any](v T) *T { return &v }

// deafSocket reads nothing from an address, or from any, once told to.
type deafSocket struct {
	net.PacketConn
	to atomic.Pointer[string] // an address; empty: all
}

func (d *deafSocket) ReadFrom(p []byte) (n int, from net.Addr, err error) {
	for {
		n, from, err = d.PacketConn.ReadFrom(p)
		if to := d.to.Load(); err != nil || to == nil || *to != "" && *to != from.String() {
			return n, from, err
		}
	}
}

// Peers whose packets do not come count as silent long before they are given up, and only if it is all of them.
func TestUnanswered_NothingComes_Counted(t *testing.T) {
	g, b := newGroup(t, "g"), newBook()
	ear := &deafSocket{PacketConn: loopback(t)}
	a := g.open(t, b, ear, "a", nil)
	y := g.open(t, b, loopback(t), "y", nil)
	z := g.open(t, b, loopback(t), "z", nil)
	assert.Zero(t, a.Unanswered())
	send := func(text string, all ...*node) {
		for _, n := range all {
			a.Send(n.Self(), Custody, []byte(text))
		}
	}
	send("there", y, z)
	y.wait(frame("there"), 1)
	z.wait(frame("there"), 1)
	silent := func() (longest time.Duration) {
		for _, p := range a.allPeers() {
			p.mu.Lock()
			if p.current != nil {
				longest = max(longest, p.current.hearing.unanswered)
			}
			p.mu.Unlock()
		}
		return longest
	}
	one, all := b.addresses(z.Self())[0], ""
	ear.to.Store(&one)
	require.True(t, await.Holds(20*time.Millisecond, func() bool { send("asked", z); return silent() >= time.Second }), "the silence of one is not noticed")
	assert.Zero(t, a.Unanswered(), "another one answers")
	ear.to.Store(&all)
	require.True(t, await.Holds(20*time.Millisecond, func() bool { // what is sent before a look may have been answered by then
		send("asked", y, z)
		return a.Unanswered() >= time.Second
	}), "the silence of all is not noticed")
	ear.to.Store(nil)
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
