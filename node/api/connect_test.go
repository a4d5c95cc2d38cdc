package api

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"strings"
	"sync"
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

// TestConnect_SessionEnds_StreamToo: rule R-53. A program that goes on finds its stream closed, and why.
func TestConnect_SessionEnds_StreamToo(t *testing.T) {
	p, local, far, _ := connected(t)
	close(p.done)
	_, err := io.ReadAll(local)
	require.ErrorIs(t, err, ErrNoSession)
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
	receive(t, s.closed) // else the stream goes on
}

func TestConnect_DaemonStops_StreamToo(t *testing.T) {
	_, local, _, d := connected(t)
	d.stop(t)
	_, err := io.ReadAll(local)
	require.ErrorIs(t, err, ErrUnavailable)
}

// ending is a tunnel to a resource that says something, and then how the stream ends.
type ending struct {
	io.Reader
	end error
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if err == io.EOF {
		err = e.end
	}
	return n, err
}

func (e *ending) Write([]byte) (int, error) { return 0, ErrUnavailable }
func (e *ending) CloseWrite() error         { return nil }
func (e *ending) Close() error              { return nil }
func (e *ending) Done() <-chan struct{}     { return nil }

// TestConnect_StreamEnds_SaysHow: all that came before arrives, also if the resource takes no more.
func TestConnect_StreamEnds_SaysHow(t *testing.T) {
	said := strings.Repeat("from the resource ", 10_000)
	for name, end := range map[string]error{"by the resource": io.EOF, "cut": ErrNoSession, "resource not reached": ErrUnavailable, "failed": ErrInternal} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.tunnel = &ending{strings.NewReader(said), end}
			local, err := Dial(serve(t, f, socketPath(t)).socket).Connect(t.Context(), ConnectRequest{})
			require.NoError(t, err)
			defer local.Close()
			_, _ = io.WriteString(local, "what nobody takes")
			got, err := io.ReadAll(local)
			if end == io.EOF {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, end)
			}
			assert.Equal(t, said, string(got))
		})
	}
}

// over is a tunnel whose session has ended when the resource has ended the stream.
type over struct {
	ending
	done chan struct{}
}

func (o *over) Done() <-chan struct{} { return o.done }

// TestConnect_EndedThenSessionEnds_IsWhole: what the resource has ended is not cut by a session that ends right then.
func TestConnect_EndedThenSessionEnds_IsWhole(t *testing.T) {
	f := newFake()
	o := &over{ending{strings.NewReader("all of it"), io.EOF}, make(chan struct{})}
	close(o.done)
	f.tunnel = o
	local, err := Dial(serve(t, f, socketPath(t)).socket).Connect(t.Context(), ConnectRequest{})
	require.NoError(t, err)
	defer local.Close()
	got, err := io.ReadAll(local)
	require.NoError(t, err)
	assert.Equal(t, "all of it", string(got))
}

// TestReceived_Cut_Unavailable: a daemon that dies within a frame has not ended the stream.
func TestReceived_Cut_Unavailable(t *testing.T) {
	var out bytes.Buffer
	f := &frames{w: &out}
	_, err := f.Write(make([]byte, maxFrame+1))
	require.NoError(t, err)
	f.end(nil)
	whole := out.Bytes()
	for _, n := range []int{0, 1, frameHead, frameHead + maxFrame - 1, frameHead + maxFrame, len(whole) - 1} {
		_, err := io.ReadAll(&received{r: bufio.NewReader(bytes.NewReader(whole[:n]))})
		require.Error(t, err, "%d bytes", n)
	}
	got, err := io.ReadAll(&received{r: bufio.NewReader(bytes.NewReader(whole))})
	require.NoError(t, err)
	assert.Len(t, got, maxFrame+1)
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
