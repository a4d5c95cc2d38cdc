package api

import (
	"io"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/ident"
)

// pipe is a tunnel whose other end the test has.
type pipe struct {
	*net.UnixConn
	done chan struct{}
}

func (p *pipe) Done() <-chan struct{} { return p.done }

// tunnel makes a stream with both its ends.
func tunnel(t *testing.T) (p *pipe, far *net.UnixConn) {
	t.Helper()
	l, err := net.Listen("unix", socketPath(t))
	require.NoError(t, err)
	defer l.Close()
	near, err := net.Dial("unix", l.Addr().String())
	require.NoError(t, err)
	other, err := l.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { near.Close(); other.Close() })
	return &pipe{near.(*net.UnixConn), make(chan struct{})}, other.(*net.UnixConn)
}

// connected is a client's stream through a daemon to a resource.
func connected(t *testing.T) (p *pipe, local Duplex, far *net.UnixConn, d *daemon) {
	t.Helper()
	f := newFake()
	p, far = tunnel(t)
	f.tunnel = p
	d = serve(t, f, socketPath(t))
	local, err := Dial(d.socket).Connect(t.Context(), ConnectRequest{Grant: ident.Grant{1}})
	require.NoError(t, err)
	t.Cleanup(func() { local.Close() })
	return p, local, far, d
}

func TestConnect_BothWays_EachEndsByItself(t *testing.T) {
	_, local, far, _ := connected(t)
	sent := strings.Repeat("to the resource ", 10_000)
	go func() {
		io.WriteString(local, sent)
		local.CloseWrite()
	}()
	got, err := io.ReadAll(far)
	require.NoError(t, err)
	assert.Equal(t, sent, string(got))
	_, err = io.WriteString(far, "the answer")
	require.NoError(t, err)
	require.NoError(t, far.CloseWrite())
	answer, err := io.ReadAll(local)
	require.NoError(t, err)
	assert.Equal(t, "the answer", string(answer))
}

// TestConnect_SessionEnds_StreamToo: rule R-49. A program that goes on finds its stream closed.
func TestConnect_SessionEnds_StreamToo(t *testing.T) {
	p, local, far, _ := connected(t)
	close(p.done)
	_, err := io.ReadAll(local)
	require.NoError(t, err)
	_, err = io.ReadAll(far)
	require.NoError(t, err, "the daemon has closed its end")
}

func TestConnect_DaemonStops_StreamToo(t *testing.T) {
	_, local, _, d := connected(t)
	d.stop(t)
	_, err := io.ReadAll(local)
	require.NoError(t, err)
}

func TestConnect_NoSession_Refused(t *testing.T) {
	d := serve(t, newFake(), socketPath(t))
	_, err := Dial(d.socket).Connect(t.Context(), ConnectRequest{Grant: ident.Grant{1}})
	assert.ErrorIs(t, err, ErrNoSession)
}

func TestConnect_TooMany_Unavailable(t *testing.T) {
	f := newFake()
	d := serve(t, f, socketPath(t))
	for range MaxTunnels {
		f.tunnel, _ = tunnel(t)
		local, err := Dial(d.socket).Connect(t.Context(), ConnectRequest{})
		require.NoError(t, err)
		defer local.Close()
	}
	_, err := Dial(d.socket).Connect(t.Context(), ConnectRequest{})
	assert.ErrorIs(t, err, ErrUnavailable)
}
