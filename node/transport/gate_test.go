package transport

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/halfopen"
	"github.com/wandertoken/wander/protocol/ident"
)

// TestHalfOpen_FloodFromOneAddress_NewcomerGetsIn: a host begins 150 handshakes a second and
// ends none. A member that nobody has met is let in at its first or second try.
func TestHalfOpen_FloodFromOneAddress_NewcomerGetsIn(t *testing.T) {
	const perSecond = 150
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		z := b.node("z", nil)
		evil := netip.AddrFrom4([4]byte{192, 0, 2, 1})
		ctx, cancel := context.WithCancel(t.Context())
		var flood sync.WaitGroup
		defer flood.Wait()
		defer cancel()
		flood.Go(func() {
			for i := 1; ctx.Err() == nil; i++ {
				s := &halfopen.Socket{PacketConn: b.net.Open(net.UDPAddrFromAddrPort(netip.AddrPortFrom(evil, uint16(i))))}
				flood.Go(func() { s.Hold(ctx, z.Addr(), ALPN) })
				time.Sleep(time.Second / perSecond)
			}
		})
		time.Sleep(5 * time.Second)
		assert.Equal(t, PrefixHandshakes, z.Stats().Handshakes)
		for i := range 20 {
			n := b.open(b.t, b.book, b.net.Open(net.UDPAddrFromAddrPort(netip.AddrPortFrom(netip.AddrFrom4([4]byte{198, 51, 100, byte(i)}), 1))), "newcomer"+string(rune('a'+i)), nil)
			n.Send(z.Self(), Custody, []byte("me"))
			require.Eventually(t, func() bool { return n.count(kind("connected")) > 0 }, time.Second, 10*time.Millisecond)
			assert.LessOrEqual(t, n.count(kind("unreachable")), 1)
			n.Close()
		}
	})
}

// TestGate_PlacesAndShares: whoever takes how many, the others' are left.
func TestGate_PlacesAndShares(t *testing.T) {
	host := func(net, host byte) netip.Addr { return netip.AddrFrom4([4]byte{10, net, 0, host}) }
	var l limits
	l.fill()
	g := newGate(l, 0)
	in := func(from netip.Addr) bool { _, ok := g.enter(0, from); return ok }
	taken := func(from netip.Addr) (n int) {
		for in(from) {
			n++
		}
		return n
	}
	g.meets(ident.Member{1}, host(9, 9))
	assert.Equal(t, PrefixHandshakes, taken(host(1, 1)))
	assert.False(t, in(host(1, 2)), "the same prefix")
	assert.Equal(t, PrefixHandshakes, taken(host(2, 1)))
	assert.Equal(t, PrefixHandshakes, taken(host(3, 1)))
	assert.False(t, in(host(4, 1)), "no place is left for strangers")
	assert.False(t, in(host(9, 8)), "a stranger beside a member")
	assert.Equal(t, KnownHandshakes, taken(host(9, 9)))
	assert.Equal(t, MaxHandshakes, g.pending())
	g.meets(ident.Member{1}, host(9, 8))
	assert.Empty(t, g.met[host(9, 9)], "a member has one address")
}

// TestGate_PlacesComeBack: each place is given back where it was taken.
func TestGate_PlacesComeBack(t *testing.T) {
	var l limits
	l.fill()
	g := newGate(l, 0)
	at := netip.MustParseAddr("2001:db8::1")
	g.meets(ident.Member{1}, at)
	var leave []func()
	for range KnownHandshakes + PrefixHandshakes {
		f, ok := g.enter(0, at)
		require.True(t, ok)
		leave = append(leave, f)
	}
	_, ok := g.enter(0, at)
	require.False(t, ok)
	for _, f := range leave {
		f()
	}
	assert.Zero(t, g.pending())
	assert.Zero(t, g.shareOf(at, 0).taken)
}

// TestGate_ManyPrefixes_Bounded: who has many addresses takes no memory, and forgets no place
// that is taken.
func TestGate_ManyPrefixes_Bounded(t *testing.T) {
	var l limits
	l.fill()
	l.handshakes, l.burst = 1e9, 1e9
	g := newGate(l, 0)
	first := netip.MustParseAddr("2001:db8::1")
	_, ok := g.enter(0, first)
	require.True(t, ok)
	for i := range 4 * maxShares {
		f, ok := g.enter(time.Duration(i)*time.Millisecond, netip.AddrFrom16([16]byte{0x20, 2, byte(i >> 8), byte(i)}))
		require.True(t, ok)
		f()
		require.LessOrEqual(t, len(g.shares), maxShares)
	}
	assert.Equal(t, 1, g.shareOf(first, 0).taken)
	for i := range 4 * maxMet {
		g.meets(ident.Member{byte(i >> 8), byte(i)}, netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}))
	}
	assert.Len(t, g.known, maxMet)
	assert.Len(t, g.met, maxMet)
}
