package wander_test

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// alone is the daemon of a group of one machine, whose resource is the tape.
type alone struct {
	*node.Node
	config node.Config
	socket string
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// open starts the daemon of a new group in a folder. A grant lasts for an hour at most, far longer than any test.
func open(dir string) *alone {
	ca, err := signature.Generate(rand.Reader)
	check(err)
	pub := ca.Public().Bytes()
	id, now := ident.GroupOf(pub[:]), time.Now().Truncate(time.Second)
	authority, err := group.Statement{Name: "crew", Group: id, Key: pub, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour)}.Sign(ca)
	check(err)
	config, err := group.Settings{Version: 1, Name: "crew", Issued: now, Resources: []group.Resource{{
		Name: "tape", MaxHold: time.Hour, Params: policy.Params{OperationTime: 10 * time.Millisecond, MembersMax: 3, MinInterval: time.Millisecond},
	}}}.WithDefaults().Sign(id, ca)
	check(err)
	members, err := group.New([]group.Authority{authority}, config)
	check(err)
	key, err := signature.Generate(rand.Reader)
	check(err)
	own, err := certificate.Claims{
		Name: "alone", Serial: 1, NotBefore: now.Add(-time.Minute), NotAfter: now.Add(time.Hour), IssuedAt: now, Key: key.Public().Bytes(), Group: id,
		ConfigVersion: 1,
	}.Sign(ca)
	check(err)
	d := &alone{socket: filepath.Join(dir, "s"), config: node.Config{
		Identity: node.Identity{Group: members, Certificate: own, Key: key}, StateDir: dir, Mode: store.Durable, Listen: "127.0.0.1:0",
		Found: true, Socket: filepath.Join(dir, "s"),
	}}
	d.start()
	return d
}

func (d *alone) start() {
	var err error
	d.Node, err = node.Open(context.Background(), d.config)
	check(err)
}

func (d *alone) stop() { check(d.Close(context.Background())) }

// stopWhen stops the daemon while a program keeps its grant. The daemon waits for the program until told returns, instead of for ten seconds.
func (d *alone) stopWhen(told func()) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	closed := make(chan error, 1)
	go func() { closed <- d.Close(ctx) }()
	told()
	cancel()
	check(<-closed)
}

// daemon starts a daemon, and returns a client of its socket.
func daemon() (_ *wander.Client, stop func()) {
	dir, err := os.MkdirTemp("", "w") // the path of a socket is short
	check(err)
	d := open(dir)
	return wander.Dial(d.socket), func() {
		d.stop()
		os.RemoveAll(dir)
	}
}

func newAlone(t *testing.T) *alone {
	t.Helper()
	dir, err := os.MkdirTemp("", "w")
	require.NoError(t, err)
	d := open(dir)
	t.Cleanup(func() {
		d.stop()
		os.RemoveAll(dir)
	})
	return d
}

// clients are the client of a daemon's socket, and that of a member in this process.
func (d *alone) clients() map[string]*wander.Client {
	return map[string]*wander.Client{"socket": wander.Dial(d.socket), "member": wander.Of(d.Node)}
}

func TestDo_Twice_FenceNeverFalls(t *testing.T) {
	d := newAlone(t)
	var to tape
	for range 2 {
		for name, client := range d.clients() {
			require.NoError(t, client.Do(t.Context(), "tape", func(ctx context.Context, g wander.Grant) error {
				assert.Equal(t, "tape", g.Resource)
				assert.Equal(t, "alone", g.Member)
				assert.Len(t, g.Holder, 32)
				assert.Len(t, g.Token, 64)
				assert.NotEmpty(t, g.Permit)
				assert.True(t, d.Status().Resources[0].Slots[0].Executing)
				return to.write(ctx, g.Fence)
			}), name)
			await.Until(t, "its end", func() bool { return !d.Status().Resources[0].Slots[0].Executing })
		}
	}
}

func TestDo_UseFails_ItsErrorAndReleased(t *testing.T) {
	d := newAlone(t)
	for name, client := range d.clients() {
		assert.ErrorIs(t, client.Do(t.Context(), "tape", func(context.Context, wander.Grant) error { return errLate }), errLate, name)
		assert.Panics(t, func() {
			_ = client.Do(t.Context(), "tape", func(context.Context, wander.Grant) error { panic(name) })
		})
		held, err := client.Acquire(t.Context(), "tape", wander.Wait(time.Minute))
		require.NoError(t, err, name)
		require.NoError(t, held.Release())
		require.NoError(t, held.Release(), "again")
	}
}

// The caller's context reaches the function, with its cause.
func TestDo_CallerCancels_FunctionHears(t *testing.T) {
	d := newAlone(t)
	for name, client := range d.clients() {
		ctx, cancel := context.WithCancelCause(t.Context())
		err := client.Do(ctx, "tape", func(ctx context.Context, _ wander.Grant) error {
			cancel(errLate)
			<-ctx.Done()
			return context.Cause(ctx)
		})
		assert.ErrorIs(t, err, errLate, name)
		_, err = client.Acquire(ctx, "tape")
		assert.ErrorIs(t, err, errLate, "the cause of a wait's end")
	}
}

// The context ends before the deadline, and a function that stops then has broken nothing. One that goes on is told.
func TestDo_Deadline_ContextEndsBefore(t *testing.T) {
	d := newAlone(t)
	for name, client := range d.clients() {
		var until time.Time
		use := func(ctx context.Context, g wander.Grant) error {
			<-ctx.Done()
			until = g.Deadline
			assert.ErrorIs(t, context.Cause(ctx), wander.ErrDeadline)
			return nil
		}
		err := client.Do(t.Context(), "tape", use, wander.MaxHold(time.Hour), wander.Margin(time.Hour))
		require.NoError(t, err, name)
		assert.True(t, time.Now().Before(until))
		err = client.Do(t.Context(), "tape", func(ctx context.Context, g wander.Grant) error {
			await.Until(t, "the deadline", func() bool { return time.Now().After(g.Deadline) })
			return nil
		}, wander.MaxHold(50*time.Millisecond))
		assert.ErrorIs(t, err, wander.ErrDeadline, name)
	}
}

// A daemon that stops takes its grants with it, and says so.
func TestHeld_DaemonStops_Lost(t *testing.T) {
	for _, which := range []string{"socket", "member"} {
		d := newAlone(t)
		held, err := d.clients()[which].Acquire(t.Context(), "tape")
		require.NoError(t, err)
		d.stopWhen(func() { await.Next(t, "the loss", held.Context().Done()) })
		assert.ErrorIs(t, context.Cause(held.Context()), wander.ErrLost, which)
		d.start()
		assert.NoError(t, held.Release(), which)
	}
}

func TestAcquire_NoGrant_Why(t *testing.T) {
	d := newAlone(t)
	for name, client := range d.clients() {
		held, err := client.Acquire(t.Context(), "tape")
		require.NoError(t, err)
		for want, f := range map[error]func() (*wander.Held, error){
			wander.ErrNotGranted: func() (*wander.Held, error) {
				return client.Acquire(t.Context(), "tape", wander.Wait(time.Millisecond))
			},
			wander.ErrRefused: func() (*wander.Held, error) { return client.Acquire(t.Context(), "tap") },
			api.ErrBadRequest: func() (*wander.Held, error) { return client.Acquire(t.Context(), "") },
		} {
			_, err := f()
			assert.ErrorIs(t, err, want, name)
		}
		require.NoError(t, held.Release())
	}
	_, err := wander.Dial(d.socket+"x").Acquire(t.Context(), "tape")
	require.ErrorIs(t, err, wander.ErrUnavailable)
	assert.Contains(t, wander.Hint(err), "wander node")
	assert.Empty(t, wander.Hint(errors.New("another")))
}

// asks is a member that grants nothing, and tells what it was asked for.
type asks struct{ request api.AcquireRequest }

func (a *asks) Acquire(_ context.Context, r api.AcquireRequest) (api.HeldGrant, error) {
	a.request = r
	return nil, wander.ErrNotGranted
}

func TestOptions_Each_ReachesTheMember(t *testing.T) {
	zero, second := int64(0), int64(1000)
	for name, c := range map[string]struct {
		options []wander.Option
		want    api.AcquireRequest
	}{
		"none":     {nil, api.AcquireRequest{}},
		"wait":     {[]wander.Option{wander.Wait(time.Second)}, api.AcquireRequest{WaitMS: &second}},
		"no wait":  {[]wander.Option{wander.Wait(-time.Second)}, api.AcquireRequest{WaitMS: &zero}},
		"max hold": {[]wander.Option{wander.MaxHold(time.Second)}, api.AcquireRequest{MaxHoldMS: 1000}},
		"min hold": {[]wander.Option{wander.MinHold(time.Nanosecond)}, api.AcquireRequest{MinHoldMS: 1}},
		"once per": {[]wander.Option{wander.OncePer(time.Hour)}, api.AcquireRequest{OncePerMS: 3_600_000}},
		"label":    {[]wander.Option{wander.Label("backup")}, api.AcquireRequest{Label: "backup"}},
		"too long": {[]wander.Option{wander.Label("x" + strings.Repeat("é", wander.MaxLabel))}, api.AcquireRequest{Label: "x" + strings.Repeat("é", (wander.MaxLabel-1)/2)}},
	} {
		t.Run(name, func(t *testing.T) {
			a := new(asks)
			_, err := wander.Of(a).Acquire(t.Context(), "tape", c.options...)
			require.ErrorIs(t, err, wander.ErrNotGranted)
			c.want.Resource, c.want.PID = "tape", os.Getpid()
			assert.Equal(t, c.want, a.request)
		})
	}
	a := new(asks)
	_, err := wander.Of(a).Acquire(t.Context(), "tape", wander.MaxHold(-time.Second))
	require.ErrorIs(t, err, api.ErrBadRequest)
	assert.Zero(t, a.request, "it is not asked")
}

// A program within `wander run` would wait for its own end.
func TestDial_Environment_Read(t *testing.T) {
	d := newAlone(t)
	held, err := d.Acquire(t.Context(), api.AcquireRequest{Resource: "tape"})
	require.NoError(t, err)
	defer held.Release(true, 0)
	t.Setenv("WANDER_SOCKET", d.socket)
	t.Setenv("WANDER_HELD", "tape="+held.Grant().ID.String())
	_, err = wander.Dial("").Acquire(t.Context(), "tape")
	require.ErrorIs(t, err, wander.ErrHeld)
	t.Setenv("WANDER_HELD", "tape")
	_, err = wander.Dial("").Acquire(t.Context(), "tape")
	assert.ErrorIs(t, err, wander.ErrEnvironment)
}

func TestGrant_Left_OtherClock(t *testing.T) {
	g := api.Grant{Deadline: time.Now().Add(time.Hour), BootID: boottime.ID() + "x"}
	assert.Greater(t, g.Left(), time.Hour/2)
}
