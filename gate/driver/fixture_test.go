package driver_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/gate/client"
	"github.com/wandertoken/wander/gate/driver"
	"github.com/wandertoken/wander/gate/gatetest"
	"github.com/wandertoken/wander/protocol/group"
)

// target is a resource that answers each line that it gets, and counts its open connections.
type target struct {
	t       testing.TB
	listen  net.Listener
	mu      sync.Mutex
	got     []byte
	open    int
	reached atomic.Pointer[func()] // not nil: called at each connection
	linger  chan struct{}          // not nil: a connection is ended by the target only when this is closed
	wg      sync.WaitGroup
}

func newTarget(t testing.TB) *target {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g := &target{t: t, listen: l}
	g.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if reached := g.reached.Load(); reached != nil {
				(*reached)()
			}
			g.wg.Go(func() { g.serve(c) })
		}
	})
	t.Cleanup(func() { l.Close(); g.wg.Wait() })
	return g
}

func (g *target) serve(c net.Conn) {
	defer c.Close()
	g.add(1)
	defer g.add(-1)
	buf := make([]byte, 4096)
	for {
		n, err := c.Read(buf)
		g.mu.Lock()
		g.got = append(g.got, buf[:n]...)
		linger := g.linger
		g.mu.Unlock()
		if err != nil {
			if linger != nil {
				<-linger
			}
			return
		}
		if _, err := c.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (g *target) add(n int) { g.mu.Lock(); g.open += n; g.mu.Unlock() }

func (g *target) inside() int { g.mu.Lock(); defer g.mu.Unlock(); return g.open }

func (g *target) received() string { g.mu.Lock(); defer g.mu.Unlock(); return string(g.got) }

// station is a gate that runs in this process.
type station struct {
	*driver.Gate
	w      *gatetest.World
	dir    string
	target *target
	log    *testLog
}

type testLog struct {
	mu    sync.Mutex
	lines []byte
}

func (l *testLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, p...)
	return len(p), nil
}

func (l *testLog) String() string { l.mu.Lock(); defer l.mu.Unlock(); return string(l.lines) }

func config(w *gatetest.World, dir string, to *target, log io.Writer) driver.Config {
	w.T.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(w.T, err)
	floor := uint64(100)
	return driver.Config{
		Dir: dir, Resource: gatetest.Resource, Target: at(to), Group: w.Group,
		Certificate: w.Gate.Certificate, Key: w.Gate.Key, Conn: conn, Floor: &floor, Log: slog.New(slog.NewTextHandler(log, nil)),
	}
}

// open starts a gate whose journal says that nothing is open.
func open(w *gatetest.World, change func(*driver.Config)) *station {
	w.T.Helper()
	s := &station{w: w, dir: w.T.TempDir(), target: newTarget(w.T), log: &testLog{}}
	settled(w.T, w, filepath.Join(s.dir, "journal"))
	s.start(change)
	w.T.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		require.NoError(w.T, s.Close(ctx))
		if w.T.Failed() {
			w.T.Log(s.log.String())
		}
	})
	return s
}

func (s *station) start(change func(*driver.Config)) {
	s.w.T.Helper()
	cfg := config(s.w, s.dir, s.target, s.log)
	if change != nil {
		change(&cfg)
	}
	var err error
	s.Gate, err = driver.Open(context.Background(), cfg)
	require.NoError(s.w.T, err)
}

// dial connects a member with the gate.
func (s *station) dial(who int) *client.Conn {
	s.w.T.Helper()
	return s.dialAs(s.w.Members[who], func(*client.Config) {})
}

func (s *station) dialAs(p gatetest.Party, change func(*client.Config)) *client.Conn {
	s.w.T.Helper()
	c, err := s.tryAs(p, change)
	require.NoError(s.w.T, err)
	s.w.T.Cleanup(func() { require.NoError(s.w.T, c.Close()) })
	return c
}

func (s *station) tryAs(p gatetest.Party, change func(*client.Config)) (*client.Conn, error) {
	cfg := s.w.Client(s.Addr(), p)
	change(&cfg)
	return client.Dial(context.Background(), cfg)
}

func connect(t testing.TB, s *client.Session) *client.Stream {
	t.Helper()
	c, err := s.Connect(context.Background())
	require.NoError(t, err)
	return c
}

// echoes sends a line to the target and reads it back.
func echoes(t testing.TB, c *client.Stream, line string) {
	t.Helper()
	_, err := c.Write([]byte(line))
	require.NoError(t, err)
	got := make([]byte, len(line))
	_, err = io.ReadFull(c, got)
	require.NoError(t, err)
	require.Equal(t, line, string(got))
}

func exists(name string) bool { _, err := os.Stat(name); return err == nil }

// lasts is for how long at most a session lasts that a test ends itself: on a busy machine its deadline would end a short one first.
const lasts = time.Minute

// newWorld is gatetest.New with sessions that may last so long, unless the test changes that.
func newWorld(t testing.TB, members int, change func(*group.Resource)) *gatetest.World {
	t.Helper()
	return gatetest.New(t, members, func(r *group.Resource) {
		r.MaxHold = lasts
		if change != nil {
			change(r)
		}
	})
}

// shortClose has a close hook be late soon.
func shortClose(r *group.Resource) { r.Gate.CloseTimeout = 500 * time.Millisecond }
