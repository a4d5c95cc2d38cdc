package halfopen

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/await"
)

// packets is a socket with packets to read, that counts those written.
type packets struct {
	net.PacketConn
	list    [][]byte
	written int
}

func (p *packets) ReadFrom(b []byte) (int, net.Addr, error) {
	if len(p.list) == 0 {
		return 0, nil, net.ErrClosed
	}
	n := copy(b, p.list[0])
	p.list = p.list[1:]
	return n, nil, nil
}

func (p *packets) WriteTo(b []byte, _ net.Addr) (int, error) {
	p.written++
	return len(b), nil
}

var initialByte, retryByte = []byte{0xc1, 1}, []byte{0xf3, 2}

func (s *Socket) say(t *testing.T) {
	t.Helper()
	n, err := s.WriteTo([]byte{1, 2, 3}, nil)
	require.NoError(t, err)
	assert.Equal(t, 3, n)
}

func TestSocket_Retry_ReadAndAnswered(t *testing.T) {
	p := &packets{list: [][]byte{retryByte, initialByte, {0x40, 3}}}
	s := &Socket{PacketConn: p}
	s.say(t)
	b := make([]byte, 10)
	n, _, err := s.ReadFrom(b)
	require.NoError(t, err)
	assert.Equal(t, retryByte, b[:n])
	s.say(t)
	assert.Equal(t, 2, p.written, "the address is proved")
	_, _, err = s.ReadFrom(b)
	require.ErrorIs(t, err, net.ErrClosed, "nothing else is read")
	s.say(t)
	assert.Equal(t, 2, p.written, "it is silent after an answer")
}

func TestSocket_Mute_OnePacketOnly(t *testing.T) {
	p := &packets{list: [][]byte{retryByte}}
	s := &Socket{PacketConn: p, Mute: true}
	s.say(t)
	s.say(t)
	_, _, err := s.ReadFrom(make([]byte, 10))
	require.ErrorIs(t, err, net.ErrClosed)
	s.say(t)
	assert.Equal(t, 1, p.written)
}

// TestHold_Begun_OneInitialPacket sends a socket nothing back: a mute one sends one packet of
// the size that an Initial packet must have.
func TestHold_Begun_OneInitialPacket(t *testing.T) {
	local := net.IPv4(127, 0, 0, 1)
	member, err := net.ListenUDP("udp4", &net.UDPAddr{IP: local})
	require.NoError(t, err)
	defer member.Close()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: local})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		(&Socket{PacketConn: conn, Mute: true}).Hold(ctx, member.LocalAddr(), "x")
	}()
	b := make([]byte, 2000)
	n, from, err := member.ReadFrom(b)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, n, 1200)
	assert.Equal(t, byte(0xc0), b[0]&0xf0, "an Initial packet")
	assert.Equal(t, conn.LocalAddr().String(), from.String())
	cancel()
	await.Next(t, "the end", over)
	require.NoError(t, member.SetReadDeadline(time.Now().Add(10*time.Millisecond)))
	_, _, err = member.ReadFrom(b)
	require.Error(t, err, "not even the end is told")
}
