package api

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/ident"
)

// hang bounds tests that would otherwise wait without end. Nothing is measured
// against it.
const hang = 3 * time.Minute

// fake is a backend whose answers the test decides.
type fake struct {
	demands  chan *demand        // one for each Acquire
	releases chan ReleaseRequest // one for each release, over whichever way
	err      error               // what Release returns
	tunnel   Tunnel              // what Connect returns
	looks    atomic.Int64        // calls of Waiting
	before   atomic.Int64        // members that wait before
	deaf     bool                // Acquire does not hear a withdrawal
	status   func()              // called by Status; may be nil
}

// demand is a call of Acquire that waits for its answer.
type demand struct {
	ctx     context.Context
	request AcquireRequest
	answer  chan answer
}

type answer struct {
	grant HeldGrant
	err   error
}

func newFake() *fake {
	return &fake{demands: make(chan *demand, 16), releases: make(chan ReleaseRequest, 16)}
}

func (f *fake) Acquire(ctx context.Context, r AcquireRequest) (HeldGrant, error) {
	d := &demand{ctx: ctx, request: r, answer: make(chan answer, 1)}
	f.demands <- d
	withdrawn := ctx.Done()
	if f.deaf {
		withdrawn = nil
	}
	select {
	case a := <-d.answer:
		return a.grant, a.err
	case <-withdrawn:
		return nil, ctx.Err()
	}
}

func (f *fake) Leave(context.Context) error { return f.err }

func (f *fake) Renew(context.Context) (Renewal, error) { return Renewal{Serial: 7, Newer: true}, f.err }

func (f *fake) Release(r ReleaseRequest) error {
	f.releases <- r
	return f.err
}

func (f *fake) Back(string) (int, error) { return 1, f.err }

func (f *fake) Waiting(resource string) Waiting {
	f.looks.Add(1)
	w := Waiting{Cause: "queued", Sentence: resource + " is elsewhere"}
	if n := int(f.before.Load()); n > 0 {
		w.Before = &n
	}
	return w
}

func (f *fake) Checkup(context.Context) []Check { return []Check{{Name: "clock", Result: Fine}} }

func (f *fake) Probe(_ context.Context, r ProbeRequest) ([]Check, error) {
	return []Check{{Name: r.Peer, Result: Fail}}, f.err
}

func (f *fake) LastHour() []ResourceHistory { return []ResourceHistory{{Name: "ftp"}} }

func (f *fake) Status() Status {
	if f.status != nil {
		f.status()
	}
	return Status{Name: "alpha", Mode: "durable"}
}

func (f *fake) Members() []MemberInfo { return []MemberInfo{{Name: "alpha"}, {Name: "beta"}} }

type fakeGrant struct {
	fake  *fake
	grant Grant
	lost  chan LostReason
}

func (f *fake) grant(id byte) *fakeGrant {
	return &fakeGrant{fake: f, grant: testGrant(id), lost: make(chan LostReason, 1)}
}

func testGrant(id byte) Grant {
	return Grant{
		ID: ident.Grant{id}, Resource: "ftp", Member: ident.Member{2}, Name: "alpha",
		Token: ident.Token{3}, Hop: 41, Fence: 41,
		Deadline: time.Date(2030, 1, 2, 3, 4, 5, 678, time.UTC), DeadlineBoot: 1 << 60, BootID: "boot",
	}
}

func (l *fakeGrant) Grant() Grant            { return l.grant }
func (l *fakeGrant) Lost() <-chan LostReason { return l.lost }
func (l *fakeGrant) Release(operated bool, exit int) {
	_ = l.fake.Release(ReleaseRequest{Grant: l.grant.ID, Operated: operated, Exit: exit})
}

// daemon is a server on a socket.
type daemon struct {
	socket string
	server *Server
	ended  chan error
	once   sync.Once
}

// socketPath is short enough for every system, unlike t.TempDir's.
func socketPath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "wander")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, SocketName)
}

func serve(t *testing.T, b Backend, socket string) *daemon {
	t.Helper()
	l, err := Listen(socket, Access{})
	require.NoError(t, err)
	d := &daemon{socket: socket, server: NewServer(b, slog.New(slog.DiscardHandler)), ended: make(chan error, 1)}
	go func() { d.ended <- d.server.Serve(l) }()
	t.Cleanup(func() { d.stop(t) })
	return d
}

func (d *daemon) stop(t *testing.T) {
	d.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), hang)
		defer cancel()
		require.NoError(t, d.server.Shutdown(ctx))
		require.NoError(t, <-d.ended)
	})
}

func receive[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(hang):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

// acquisition is a call of Client.Acquire in the background.
type acquisition struct {
	held *Held
	err  error
}

func acquire(ctx context.Context, c *Client, r AcquireRequest) <-chan acquisition {
	done := make(chan acquisition, 1)
	go func() {
		h, err := c.Acquire(ctx, r)
		done <- acquisition{h, err}
	}()
	return done
}

func (f *fake) Connect(context.Context, ConnectRequest) (Tunnel, error) {
	if f.tunnel == nil {
		return nil, ErrNoSession
	}
	return f.tunnel, f.err
}
