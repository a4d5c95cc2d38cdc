package relay

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// echo is a member that answers every datagram with the same.
func echo(t *testing.T) netip.AddrPort {
	c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	go func() {
		buf := make([]byte, 100)
		for {
			n, from, err := c.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			_, _ = c.WriteToUDPAddrPort(buf[:n], from)
		}
	}()
	return c.LocalAddr().(*net.UDPAddr).AddrPort()
}

func dial(t *testing.T, path Path) net.Conn {
	r, err := New(echo(t), path, 1)
	require.NoError(t, err)
	t.Cleanup(r.Close)
	c, err := net.Dial("udp", r.Address())
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// TestCrew_TwoMembers_MeetAtTheirFronts: each takes the other's front for its
// address, and no further socket is opened for them.
func TestCrew_TwoMembers_MeetAtTheirFronts(t *testing.T) {
	var crew Crew
	var members [2]*net.UDPConn
	var relays [2]*Relay
	for i := range members {
		var err error
		members[i], err = net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		require.NoError(t, err)
		defer members[i].Close()
		relays[i], err = crew.New(members[i].LocalAddr().(*net.UDPAddr).AddrPort(), Path{}, uint64(i))
		require.NoError(t, err)
		defer relays[i].Close()
	}
	buf := make([]byte, 100)
	for i, text := range []string{"there", "and back"} {
		to := 1 - i
		_, err := members[i].WriteToUDPAddrPort([]byte(text), netip.MustParseAddrPort(relays[to].Address()))
		require.NoError(t, err)
		n, from, err := members[to].ReadFromUDPAddrPort(buf)
		require.NoError(t, err)
		require.Equal(t, text, string(buf[:n]))
		require.Equal(t, relays[i].Address(), from.String())
		require.Empty(t, relays[to].peers)
	}
}

func TestRelay_Delay_BothWays(t *testing.T) {
	const delay = 5 * time.Millisecond
	c := dial(t, Path{Delay: delay})
	buf := make([]byte, 100)
	for range 20 {
		began := time.Now()
		_, err := c.Write([]byte("there and back"))
		require.NoError(t, err)
		n, err := c.Read(buf)
		require.NoError(t, err)
		require.Equal(t, "there and back", string(buf[:n]))
		require.GreaterOrEqual(t, time.Since(began), 2*delay)
	}
}

func TestRelay_Loss_ItsShare(t *testing.T) {
	r, err := New(echo(t), Path{Loss: 0.3, Delay: time.Hour}, 1)
	require.NoError(t, err)
	defer r.Close()
	for range 1000 {
		r.carry(r.front, r.target, []byte("x"))
	}
	require.InDelta(t, 700, len(r.queue), 50)
}

func TestRelay_Jitter_Reorders(t *testing.T) {
	r, err := New(echo(t), Path{Delay: time.Hour, Jitter: time.Minute}, 1)
	require.NoError(t, err)
	defer r.Close()
	now := time.Now()
	for i := range 100 {
		r.carry(r.front, r.target, []byte{byte(i)})
	}
	inOrder := true
	for _, d := range r.queue {
		late := d.due.Sub(now)
		require.Greater(t, late, time.Hour)
		require.Less(t, late, time.Hour+2*time.Minute)
		inOrder = inOrder && d.data[0] >= r.queue[0].data[0]
	}
	require.False(t, inOrder, "the first to arrive was the first to leave")
}
