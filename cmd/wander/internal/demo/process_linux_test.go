package demo

import (
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestProcess_Down_KeepsItsPort: from the choice of a port to the end of the demo
// nobody else gets it, whether the member runs or is down.
func TestProcess_Down_KeepsItsPort(t *testing.T) {
	p := &process{name: "m", dir: t.TempDir(), program: "sh", args: []string{"-c", "sleep 60"}}
	require.NoError(t, p.listen())
	defer p.release()
	taken := func() {
		t.Helper()
		_, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(p.address))
		require.ErrorIs(t, err, syscall.EADDRINUSE)
	}
	taken()
	for range 2 {
		require.NoError(t, p.start())
		taken()
		p.kill()
		taken()
	}
}

// TestHandOn_Datagrams_LostWhileDown: what came before a life is not for it.
func TestHandOn_Datagrams_LostWhileDown(t *testing.T) {
	p := new(process)
	require.NoError(t, p.listen())
	defer p.release()
	sender, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(p.address))
	require.NoError(t, err)
	defer sender.Close()
	for range 10 {
		_, err := sender.Write([]byte("early"))
		require.NoError(t, err)
	}
	require.NoError(t, drain(p.socket))
	_, err = sender.Write([]byte("in time"))
	require.NoError(t, err)
	buf := make([]byte, 10)
	require.NoError(t, p.socket.SetReadDeadline(time.Now().Add(time.Minute)))
	n, err := p.socket.Read(buf)
	require.NoError(t, err)
	require.Equal(t, "in time", string(buf[:n]))
	require.NoError(t, p.socket.SetReadDeadline(time.Now()))
	_, err = p.socket.Read(buf)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
}
