package api

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

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

// TestConnect_SessionEnds_StreamToo: rule R-53. A program that goes on finds its stream closed.
func TestConnect_SessionEnds_StreamToo(t *testing.T) {
	p, local, far, _ := connected(t)
	close(p.done)
	_, err := io.ReadAll(local)
	require.NoError(t, err)
	_, err = io.ReadAll(far)
	require.NoError(t, err, "the daemon has closed its end")
}

// stalled is a tunnel to a gate that neither takes nor sends anything.
type stalled struct {
	writes chan struct{} // holds one: a Write waits
	over   chan struct{} // the session is
	closed chan struct{}
	close  func()
}

func (s *stalled) Read([]byte) (int, error) { <-s.closed; return 0, io.EOF }
func (s *stalled) CloseWrite() error        { return nil }
func (s *stalled) Close() error             { s.close(); return nil }
func (s *stalled) Done() <-chan struct{}    { return s.over }

func (s *stalled) Write([]byte) (int, error) {
	s.writes <- struct{}{}
	<-s.closed
	return 0, io.ErrClosedPipe
}

// TestConnect_GateStalls_EndsWithSession: otherwise the streams to a gate that reads nothing use up the daemon's.
func TestConnect_GateStalls_EndsWithSession(t *testing.T) {
	s := &stalled{writes: make(chan struct{}, 1), over: make(chan struct{}), closed: make(chan struct{})}
	s.close = sync.OnceFunc(func() { close(s.closed) })
	t.Cleanup(s.close)
	f := newFake()
	f.tunnel = s
	local, err := Dial(serve(t, f, socketPath(t)).socket).Connect(t.Context(), ConnectRequest{})
	require.NoError(t, err)
	t.Cleanup(func() { local.Close() })
	_, err = io.WriteString(local, "to the resource")
	require.NoError(t, err)
	<-s.writes
	close(s.over)
	select {
	case <-s.closed:
	case <-time.After(10 * time.Second):
		assert.Fail(t, "the stream goes on")
	}
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
