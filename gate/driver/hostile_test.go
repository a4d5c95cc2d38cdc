package driver_test

import (
	"context"
	"io"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/gate/client"
	"github.com/wandertoken/wander/gate/driver"
	"github.com/wandertoken/wander/gate/gatetest"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/internal/relay"
	"github.com/wandertoken/wander/node/transport"
	core "github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/permit"
	"github.com/wandertoken/wander/protocol/token"
)

// raw is a connection of a member that says what a test wants.
type raw struct {
	t        *testing.T
	quic     *quic.Conn
	control  *quic.Stream
	exporter [permit.ExporterSize]byte
}

func (s *station) raw(t *testing.T, p gatetest.Party) *raw {
	t.Helper()
	r := s.unkept(t, p)
	t.Cleanup(func() { r.quic.CloseWithError(0, "") })
	return r
}

// unkept is raw for a test that counts what is left: it closes the connection itself.
func (s *station) unkept(t *testing.T, p gatetest.Party) *raw {
	t.Helper()
	conf, err := transport.ClientTLS(transport.EntranceConfig{
		Protocol: wire.ALPN, Group: s.w.Group.ID(), Certificate: p.Certificate, Key: p.Key, Authorities: s.w.Group,
	}, gatetest.Accept)
	require.NoError(t, err)
	q, err := transport.Dial(context.Background(), s.Addr(), conf, &quic.Config{MaxIncomingStreams: -1, KeepAlivePeriod: time.Second})
	require.NoError(t, err)
	state := q.ConnectionState().TLS
	value, err := state.ExportKeyingMaterial(wire.ExporterLabel, nil, permit.ExporterSize)
	require.NoError(t, err)
	control, err := q.OpenStream()
	require.NoError(t, err)
	return &raw{t, q, control, [permit.ExporterSize]byte(value)}
}

func (r *raw) say(f wire.Frame) {
	r.t.Helper()
	text, err := wire.Append(nil, f)
	require.NoError(r.t, err)
	_, err = r.control.Write(text)
	require.NoError(r.t, err)
}

func (r *raw) greet() {
	r.t.Helper()
	r.say(&wire.Hello{Versions: [2]uint64{1, 1}, Resource: gatetest.Resource, Configuration: 1})
	f, err := wire.Read(r.control, nil)
	require.NoError(r.t, err)
	require.IsType(r.t, &wire.Hello{}, f)
}

// closedWith is the code with which the gate ends a connection.
func (r *raw) closedWith() transport.Code {
	r.t.Helper()
	await.Next(r.t, "the end of the connection", r.quic.Context().Done())
	var app *quic.ApplicationError
	require.ErrorAs(r.t, context.Cause(r.quic.Context()), &app)
	require.True(r.t, app.Remote)
	return transport.Code(app.ErrorCode)
}

// signIn is a sign-in of a member, as a test changes it.
func (s *station) signIn(t *testing.T, r *raw, p gatetest.Party, held gatetest.Custody, change func(*permit.StatementBody)) *wire.SignIn {
	t.Helper()
	form, err := permit.New(s.w.Group.ID(), held.Title, held.Before, s.w.Certificates).Encode()
	require.NoError(t, err)
	b := permit.StatementOf(held.Title)
	b.Gate, b.Exporter, b.Number, b.Configuration, b.Length = wire.KeyID(s.w.Gate.Key.Public()), r.exporter, 1, 1, 1000
	change(&b)
	st, err := b.Sign(s.w.Group.ID(), p.Key)
	require.NoError(t, err)
	return &wire.SignIn{Number: b.Number, Permit: form, Statement: st.Raw()}
}

func same(*permit.StatementBody) {}

// A statement opens the connection that it names, and no other: neither one of the same member nor one of another, and no second time.
func TestSignIn_Replayed_ConnectionClosed(t *testing.T) {
	w := newWorld(t, 2, nil)
	s := open(w, nil)
	held := w.Mint(0)
	first := s.raw(t, w.Members[0])
	first.greet()
	statement := s.signIn(t, first, w.Members[0], held, same)
	for _, p := range w.Members {
		other := s.raw(t, p)
		other.greet()
		other.say(statement)
		assert.Equal(t, transport.CodeProtocol, other.closedWith())
	}
	for name, change := range map[string]func(*permit.StatementBody){
		"of another gate":    func(b *permit.StatementBody) { b.Gate[0] ^= 1 },
		"of a later number":  func(b *permit.StatementBody) { b.Number = 2 },
		"of another title":   func(b *permit.StatementBody) { b.Title[0] ^= 1 },
		"by another session": func(b *permit.StatementBody) { b.Exporter[0] ^= 1 },
	} {
		r := s.raw(t, w.Members[0])
		r.greet()
		in := s.signIn(t, r, w.Members[0], held, change)
		in.Number = 1
		r.say(in)
		assert.Equal(t, transport.CodeProtocol, r.closedWith(), name)
	}
	first = s.raw(t, w.Members[0])
	first.greet()
	statement = s.signIn(t, first, w.Members[0], held, same)
	first.say(statement)
	f, err := wire.Read(first.control, nil)
	require.NoError(t, err)
	require.IsType(t, &wire.Answer{}, f)
	first.say(statement)
	assert.Equal(t, transport.CodeProtocol, first.closedWith())
	st, err := s.Status(context.Background())
	require.NoError(t, err)
	assert.EqualValues(t, 7, st.Counts["broken"])
	assert.EqualValues(t, 1, st.Counts["sessions"])
}

// Whoever the CA has not certified as a member does not get past the handshake: a stranger, a member of another group, and a gate.
func TestHandshake_NoMember_Refused(t *testing.T) {
	w := newWorld(t, 1, nil)
	s := open(w, nil)
	other := newWorld(t, 1, nil)
	for name, p := range map[string]gatetest.Party{
		"a member of another group": other.Members[0],
		"a gate":                    w.Issue("gate-2", gatetest.Key(t), gatetest.AsGate),
	} {
		conf, err := transport.ClientTLS(transport.EntranceConfig{
			Protocol: wire.ALPN, Group: w.Group.ID(), Certificate: p.Certificate, Key: p.Key, Authorities: w.Group,
		}, gatetest.Accept)
		require.NoError(t, err)
		q, err := transport.Dial(context.Background(), s.Addr(), conf, &quic.Config{})
		if err == nil { // a client learns of it after its side of the handshake
			await.Next(t, "the end of the connection", q.Context().Done())
			err = transport.CloseReason(context.Cause(q.Context()))
		}
		require.ErrorIs(t, err, transport.ErrRefused, name)
	}
	st, err := s.Status(context.Background())
	require.NoError(t, err)
	assert.Zero(t, st.Counts["connections"])
}

// A gate that is another one, or a member in its place, is not taken for it.
func TestDial_AnotherGate_Refused(t *testing.T) {
	w := newWorld(t, 1, nil)
	s := open(w, nil)
	cfg := w.Client(s.Addr(), w.Members[0])
	cfg.Gate[0] ^= 1
	_, err := client.Dial(context.Background(), cfg)
	require.Error(t, err)
	cfg = w.Client(s.Addr(), w.Members[0])
	cfg.Resource = "other"
	_, err = client.Dial(context.Background(), cfg)
	require.ErrorIs(t, err, client.ErrResource)
}

// A member has four connections: of more, the oldest is closed.
func TestConnections_OneMembersFifth_OldestCloses(t *testing.T) {
	w := newWorld(t, 2, nil)
	s := open(w, nil)
	oldest := s.dial(0)
	other := s.dial(1)
	for range driver.MaxPerMember - 1 {
		s.dial(0)
	}
	require.NoError(t, oldest.Err())
	s.dial(0)
	await.Next(t, "the end of the oldest", oldest.Done())
	require.ErrorIs(t, oldest.Err(), client.ErrLost)
	require.NoError(t, other.Err())
}

// Garbage from a member with a valid certificate ends its connections, and leaves memory and goroutines where they were.
func TestFrames_Malformed_ConnectionClosed(t *testing.T) {
	w := newWorld(t, 1, nil)
	s := open(w, nil)
	rng := rand.New(rand.NewPCG(1, 2))
	noise := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return b
	}
	kinds := []func() []byte{
		func() []byte { return []byte{0, 0, 0, 0} },
		func() []byte { return []byte{0xff, 0, 0, 0} },
		func() []byte { return append([]byte{0, 0, 0, 20}, noise(20)...) },
		func() []byte { return append([]byte{0, 0, 0, 9, 0x82, 3, 0x83}, noise(6)...) },
		func() []byte { return append([]byte{0, 4, 0, 0}, noise(1<<18)...) },
		func() []byte { raw, _ := wire.Append(nil, &wire.Connect{Number: 1}); return raw },
		func() []byte {
			raw, _ := wire.Append(nil, &wire.SignIn{Number: 1, Permit: noise(3000), Statement: noise(400)})
			return raw
		},
		func() []byte { raw, _ := wire.Append(nil, &wire.Update{Configuration: noise(1000)}); return raw },
		func() []byte { raw, _ := wire.Append(nil, &wire.Update{Revocations: [][]byte{noise(300)}}); return raw },
	}
	round := func(n int) {
		for i := range n {
			r := s.unkept(t, w.Members[0])
			r.greet()
			_, _ = r.control.Write(kinds[i%len(kinds)]())
			require.Equal(t, transport.CodeProtocol, r.closedWith(), "kind %d", i%len(kinds))
		}
	}
	round(2 * len(kinds))
	heap, goroutines := usage()
	round(5 * len(kinds))
	await.Until(t, "memory and goroutines are back", func() bool {
		h, g := usage()
		return g <= goroutines && h <= heap+1<<20
	})
	st, err := s.Status(context.Background())
	require.NoError(t, err)
	assert.EqualValues(t, 7*len(kinds), st.Counts["broken"])
	assert.LessOrEqual(t, strings.Count(s.log.String(), "connection of a member refused"), 8, "each kind of trouble is logged once in ten seconds")
}

func usage() (heap uint64, goroutines int) {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc, runtime.NumGoroutine()
}

// While a member signs in as fast as it can, another one is served; the first is read at its rate.
func TestSignIns_Flood_OthersServed(t *testing.T) {
	w := newWorld(t, 2, nil)
	s := open(w, nil)
	r := s.raw(t, w.Members[0])
	r.greet()
	go io.Copy(io.Discard, r.control)
	held := w.Mint(0)
	const flood = 100
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := range uint64(flood) {
			text, err := wire.Append(nil, s.signIn(t, r, w.Members[0], held, func(b *permit.StatementBody) { b.Number = n + 1; b.Configuration = 9 }))
			if err == nil {
				_, _ = r.control.Write(text)
			}
		}
	})
	began := time.Now()
	session := w.SignIn(s.dial(1), w.Mint(1), lasts)
	gatetest.Opened(t, session)
	wg.Wait()
	st, err := s.Status(context.Background())
	require.NoError(t, err)
	most := 20 + int(time.Since(began).Seconds()*driver.SignInsPerSecond) + 2
	assert.LessOrEqual(t, int(st.Counts["sign_ins"]), most)
	_, err = session.SignOut(context.Background())
	require.NoError(t, err)
}

// A hook that hangs is not waited for: a close hook makes the slot stuck with an alarm, and its end later changes nothing.
func TestHooks_Hang_StuckThenCleared(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, func(r *group.Resource) {
		r.Gate.CloseTimeout, r.Gate.OpenTimeout = 300*time.Millisecond, 300*time.Millisecond
	})
	var hang atomic.Bool
	var killed atomic.Int64
	s := open(w, func(c *driver.Config) {
		c.CloseHook = func(ctx context.Context, _ driver.Call) core.Result {
			if hang.Load() {
				<-ctx.Done() // until it is killed
				killed.Add(1)
				return core.Failed
			}
			return core.Succeeded
		}
	})
	first := w.SignIn(s.dial(0), w.Mint(0), lasts)
	gatetest.Opened(t, first)
	hang.Store(true)
	closed, err := first.SignOut(context.Background())
	require.NoError(t, err)
	require.False(t, closed.Confirmed)
	st, err := s.Status(context.Background())
	require.NoError(t, err)
	assert.Equal(t, "stuck", st.Slots[0].Alarm)
	assert.EqualValues(t, 1, st.Alarms["stuck"])
	hang.Store(false)
	require.NoError(t, s.Clear(context.Background(), 0))
	gatetest.Opened(t, w.SignIn(s.dial(1), w.Mint(1), lasts))
	assert.EqualValues(t, 1, killed.Load(), "the one that hangs was killed before the next one ran")
}

// A close hook that takes long is an alarm long before its time is over. Nothing opens, and nothing is killed. When the alarm comes the machine's own test says.
func TestHooks_CloseSlow_Alarm(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, nil)
	release := make(chan struct{})
	s := open(w, func(c *driver.Config) {
		c.CloseHook = func(ctx context.Context, c driver.Call) core.Result {
			c.Says("still 2 connections")
			select {
			case <-release:
				return core.Succeeded
			case <-ctx.Done():
				return core.Failed
			}
		}
	})
	first := w.SignIn(s.dial(0), w.Mint(0), lasts)
	gatetest.Opened(t, first)
	go first.SignOut(context.Background())
	second := w.SignIn(s.dial(1), w.Mint(1), lasts)
	assert.False(t, gatetest.Said[core.BusyAnswer](t, second).Stuck)
	var st driver.Status
	await.Until(t, "the alarm", func() (is bool) {
		var err error
		st, err = s.Status(context.Background())
		return err == nil && st.Slots[0].Alarm == core.AlarmSlowClose
	})
	assert.Equal(t, core.Closing.String(), st.Slots[0].State)
	assert.Equal(t, "a", st.Slots[0].Name)
	assert.Equal(t, "close: still 2 connections", st.Slots[0].HookSaid)
	require.NotNil(t, st.Slots[0].Closing)
	assert.Equal(t, core.BySignOut.String(), st.Slots[0].Closing.Why)
	assert.False(t, st.Slots[0].Closing.Settles)
	assert.WithinDuration(t, st.Slots[0].Since.Add(gatetest.HookTime), st.Slots[0].Closing.AtMost, time.Minute)
	close(release)
	gatetest.Opened(t, second)
	st, err := s.Status(context.Background())
	require.NoError(t, err)
	assert.Empty(t, st.Slots[0].Alarm)
	assert.Empty(t, st.Slots[0].HookSaid, "it was about the session before")
	assert.Equal(t, "b", st.Slots[0].Name)
	assert.Nil(t, st.Slots[0].Closing)
	assert.EqualValues(t, 1, st.Alarms[core.AlarmSlowClose])
}

// That an open hook has failed is shown until the next session, also if close takes long then.
func TestHooks_OpenFailsCloseSlow_FirstShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, nil)
	release := make(chan struct{})
	s := open(w, func(c *driver.Config) {
		c.OpenHook = func(context.Context, driver.Call) core.Result { return core.Failed }
		c.CloseHook = func(ctx context.Context, _ driver.Call) core.Result {
			select {
			case <-release:
			case <-ctx.Done():
			}
			return core.Succeeded
		}
	})
	in := w.SignIn(s.dial(0), w.Mint(0), lasts)
	var st driver.Status
	await.Until(t, "the alarm", func() bool {
		var err error
		st, err = s.Status(context.Background())
		return err == nil && st.Alarms[core.AlarmSlowClose] == 1
	})
	assert.Equal(t, core.AlarmOpenFailed, st.Slots[0].Alarm)
	close(release)
	assert.Equal(t, core.ByOpenHook, gatetest.Ended(t, in).(core.ClosedAnswer).Reason)
}

// An open hook that hangs is killed before the close hook runs.
func TestHooks_OpenHangs_KilledBeforeClose(t *testing.T) {
	w := newWorld(t, 1, func(r *group.Resource) { r.Gate.OpenTimeout = 200 * time.Millisecond })
	var opening atomic.Bool
	s := open(w, func(c *driver.Config) {
		c.OpenHook = func(ctx context.Context, call driver.Call) core.Result {
			opening.Store(true)
			defer opening.Store(false)
			<-ctx.Done()
			return core.Failed
		}
		c.CloseHook = func(_ context.Context, call driver.Call) core.Result {
			if opening.Load() {
				t.Error("the close hook runs beside the open hook")
			}
			return core.Succeeded
		}
	})
	first := w.SignIn(s.dial(0), w.Mint(0), lasts)
	assert.Equal(t, core.ClosedAnswer{Session: firstSession, Reason: core.ByOpenHook, Confirmed: true}, gatetest.Ended(t, first))
	st, err := s.Status(context.Background())
	require.NoError(t, err)
	assert.Equal(t, core.AlarmOpenFailed, st.Slots[0].Alarm, "until the next session")
}

// A newer configuration reaches the gate with a member, and a member with an older one is told the newer.
func TestConfiguration_Newer_Spreads(t *testing.T) {
	w := newWorld(t, 2, nil)
	s := open(w, nil)
	stale := w.Group
	const maxHold = 2 * time.Second
	newer := w.Newer(func(x *group.Settings) { x.Resources[0].MaxHold = maxHold })
	cfg := w.Client(s.Addr(), w.Members[0])
	cfg.Group = func() *group.Group { return newer }
	c, err := client.Dial(context.Background(), cfg)
	require.NoError(t, err)
	defer c.Close()
	session := w.SignIn(c, w.Mint(0), time.Minute)
	until := time.UnixMilli(int64(gatetest.Opened(t, session).Until))
	assert.LessOrEqual(t, time.Until(until), maxHold, "by the newer max_hold")

	learned := make(chan []byte, 4)
	cfg = w.Client(s.Addr(), w.Members[1])
	cfg.Group = func() *group.Group { return stale }
	cfg.Learn = func(config []byte, _, _ [][]byte) { learned <- config }
	d, err := client.Dial(context.Background(), cfg)
	require.NoError(t, err)
	defer d.Close()
	assert.Equal(t, newer.Config().Raw(), await.Next(t, "the newer configuration", learned))
	refused := w.SignIn(d, w.Mint(1), lasts)
	assert.Equal(t, core.Outdated, gatetest.Said[core.RefuseAnswer](t, refused).Code)
}

// A member that is revoked loses its session and its connection, whoever tells.
func TestRevocation_OpenSession_Cut(t *testing.T) {
	w := newWorld(t, 2, nil)
	s := open(w, nil)
	session := w.SignIn(s.dial(0), w.Mint(0), lasts)
	gatetest.Opened(t, session)
	raw := w.Revoke(w.Members[0].ID())
	cfg := w.Client(s.Addr(), w.Members[1])
	cfg.Revocations = func(above uint64) (uint64, [][]byte) {
		if above > 0 {
			return 1, nil
		}
		return 1, [][]byte{raw}
	}
	c, err := client.Dial(context.Background(), cfg)
	require.NoError(t, err)
	defer c.Close()
	await.Next(t, "the end of the session", session.Ended())
	gatetest.Opened(t, w.SignIn(c, w.Mint(1), lasts))
	again, err := client.Dial(context.Background(), w.Client(s.Addr(), w.Members[0]))
	if err == nil {
		await.Next(t, "the end of the connection", again.Done())
		again.Close()
	}
}

// In mode observe nothing is kept out, and what would have been is counted.
func TestObserve_NoSession_LetInAndCounted(t *testing.T) {
	w := newWorld(t, 2, func(r *group.Resource) { r.Gate.Mode = group.Observe })
	s := open(w, nil)
	first := w.SignIn(s.dial(0), w.Mint(0), lasts)
	gatetest.Opened(t, first)
	echoes(t, connect(t, first), "first\n")
	b := s.raw(t, w.Members[1])
	b.greet()
	b.say(s.signIn(t, b, w.Members[1], w.Mint(1), same))
	stream, err := b.quic.OpenStream()
	require.NoError(t, err)
	text, err := wire.Append(nil, &wire.Connect{Number: 1})
	require.NoError(t, err)
	_, err = stream.Write(append(text, "beside\n"...))
	require.NoError(t, err)
	got := make([]byte, len("beside\n"))
	_, err = io.ReadFull(stream, got)
	require.NoError(t, err)
	st, err := s.Status(context.Background())
	require.NoError(t, err)
	assert.EqualValues(t, 1, st.Counts["observed"])
	assert.True(t, st.Observe)
}

// Without the session's OPEN no stream gets to the target.
func TestStream_NoSession_Refused(t *testing.T) {
	w := newWorld(t, 1, nil)
	s := open(w, nil)
	r := s.raw(t, w.Members[0])
	r.greet()
	stream, err := r.quic.OpenStream()
	require.NoError(t, err)
	text, err := wire.Append(nil, &wire.Connect{Number: 1})
	require.NoError(t, err)
	_, err = stream.Write(append(text, "x"...))
	require.NoError(t, err)
	_, err = stream.Read(make([]byte, 1))
	var reset *quic.StreamError
	require.ErrorAs(t, err, &reset)
	assert.EqualValues(t, wire.StreamNotOpen, reset.ErrorCode)
	assert.Zero(t, s.target.inside())
}

// A gate that stops closes its sessions first.
func TestClose_OpenSession_ClosedFirst(t *testing.T) {
	w := newWorld(t, 1, nil)
	var closes atomic.Int64
	s := open(w, func(c *driver.Config) {
		c.CloseHook = func(_ context.Context, call driver.Call) core.Result {
			if call.Session == firstSession {
				closes.Add(1)
			}
			return core.Succeeded
		}
	})
	session := w.SignIn(s.dial(0), w.Mint(0), lasts)
	gatetest.Opened(t, session)
	require.NoError(t, s.Close(context.Background()))
	assert.EqualValues(t, 1, closes.Load())
	await.Next(t, "the end of the session", session.Ended())
	_, err := s.Status(context.Background())
	require.ErrorIs(t, err, driver.ErrClosed)
}

// A connection begins with HELLO.
func TestFrames_NoHello_ConnectionClosed(t *testing.T) {
	w := newWorld(t, 1, nil)
	s := open(w, nil)
	r := s.raw(t, w.Members[0])
	r.say(s.signIn(t, r, w.Members[0], w.Mint(0), same))
	assert.Equal(t, transport.CodeProtocol, r.closedWith())
}

// A member does not sign in with another one's permit, even with that one's statement for its connection.
func TestSignIn_AnothersPermit_ConnectionClosed(t *testing.T) {
	w := newWorld(t, 2, nil)
	s := open(w, nil)
	r := s.raw(t, w.Members[1])
	r.greet()
	r.say(s.signIn(t, r, w.Members[0], w.Mint(0), same))
	assert.Equal(t, transport.CodeProtocol, r.closedWith())
}

// An answer says to whom, about which title, and on which connection it was given.
func TestAnswer_Signed_SaysWhatItIsAbout(t *testing.T) {
	w := newWorld(t, 1, nil)
	s := open(w, nil)
	held := w.Mint(0)
	r := s.raw(t, w.Members[0])
	r.greet()
	r.say(s.signIn(t, r, w.Members[0], held, same))
	f, err := wire.Read(r.control, nil)
	require.NoError(t, err)
	require.IsType(t, &wire.Answer{}, f)
	a, err := wire.ParseAnswer(w.Group.ID(), f.(*wire.Answer).Signed, w.Gate.Key.Public())
	require.NoError(t, err)
	b := a.Body()
	assert.Equal(t, gatetest.Resource, b.Resource)
	assert.Equal(t, w.Members[0].ID(), b.Member)
	assert.Equal(t, held.Title.Hash(), b.Title)
	assert.Equal(t, r.exporter, b.Exporter)
	assert.EqualValues(t, 1, b.Number)
	assert.IsType(t, core.OpenAnswer{}, b.Answer)
	assert.Equal(t, wire.KeyID(w.Gate.Key.Public()), a.KeyID())
}

// A member that is silent for four seconds, as one that is frozen or cut off, loses its session.
func TestConnection_Silent_Lost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, func(r *group.Resource) { r.MaxHold = time.Minute })
	s := open(w, nil)
	path, err := relay.New(netip.MustParseAddrPort(s.Addr()), relay.Path{}, 1)
	require.NoError(t, err)
	c, err := client.Dial(context.Background(), w.Client(path.Address(), w.Members[0]))
	require.NoError(t, err)
	defer c.Close()
	session := w.SignIn(c, w.Mint(0), time.Minute)
	gatetest.Opened(t, session)
	path.Close()
	began := time.Now()
	next := w.SignIn(s.dial(1), w.Mint(1), lasts)
	gatetest.Opened(t, next)
	assert.Less(t, time.Since(began), 10*time.Second)
	await.Next(t, "the member notices, too", session.Ended())
}

// A member that begins a large frame and goes on living does not keep the place in which others' are read.
func TestFrames_LargeNeverEnds_ConnectionClosed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, nil)
	s := open(w, nil)
	r := s.raw(t, w.Members[0])
	r.greet()
	_, err := r.control.Write([]byte{0, 2, 0, 0, 0x82})
	require.NoError(t, err)
	assert.Equal(t, transport.CodeInternal, r.closedWith())
}

// minted is a token that a member makes as a test wants it.
func (s *station) minted(by int, change func(*token.GenesisBody)) gatetest.Custody {
	s.w.T.Helper()
	b := token.GenesisBody{
		Resource: gatetest.Resource, Generator: s.w.Members[by].ID(), Sequence: 1000, Time: uint64(time.Now().UnixMilli()),
	}
	change(&b)
	g, err := b.Sign(s.w.Group.ID(), s.w.Members[by].Key)
	require.NoError(s.w.T, err)
	return gatetest.Custody{Title: token.Title{Genesis: g}}
}

// An answer has the slot of the statement, also of a slot that no gate has (W-13).
func TestAnswer_SlotBeyondAll_SaysWhichOne(t *testing.T) {
	w := newWorld(t, 1, nil)
	s := open(w, nil)
	in := w.SignIn(s.dial(0), s.minted(0, func(b *token.GenesisBody) { b.Slot = 100 }), lasts)
	assert.Equal(t, core.NoSlot, gatetest.Said[core.RefuseAnswer](t, in).Code)
}

// An alarm about no slot is not shown as one about slot 0.
func TestAlarm_Clock_AtNoSlot(t *testing.T) {
	w := newWorld(t, 2, nil)
	exact := w.Newer(func(x *group.Settings) { x.ClockAllowance = time.Second })
	s := open(w, func(c *driver.Config) { c.Group = exact })
	for who, p := range w.Members {
		c := s.dialAs(p, func(c *client.Config) { c.Group = func() *group.Group { return exact } })
		later := s.minted(who, func(b *token.GenesisBody) { b.Time += uint64(30 * time.Minute / time.Millisecond) })
		assert.Equal(t, core.Implausible, gatetest.Said[core.RefuseAnswer](t, w.SignIn(c, later, lasts)).Code)
	}
	st, err := s.Status(context.Background())
	require.NoError(t, err)
	assert.EqualValues(t, 1, st.Alarms[core.AlarmClock])
	assert.Empty(t, st.Slots[0].Alarm)
}

// A member that gives up again and again does not fill the log.
func TestMember_GivesUp_LogBounded(t *testing.T) {
	w := newWorld(t, 2, nil)
	s := open(w, nil)
	gatetest.Opened(t, w.SignIn(s.dial(1), w.Mint(1), time.Minute))
	c, held := s.dial(0), w.Mint(0)
	for range 15 {
		in := w.SignIn(c, held, lasts)
		gatetest.Said[core.BusyAnswer](t, in)
		_, err := in.SignOut(context.Background())
		require.NoError(t, err)
	}
	lines := strings.Count(s.log.String(), "sign-in given up")
	assert.LessOrEqual(t, lines, 10)
	assert.Positive(t, lines)
}

// A member that is refused again and again does not fill the log, and one that signs out of nothing is read at its rate.
func TestMember_Nagging_Bounded(t *testing.T) {
	w := newWorld(t, 1, nil)
	s := open(w, nil)
	r := s.raw(t, w.Members[0])
	r.greet()
	nowhere := s.minted(0, func(b *token.GenesisBody) { b.Slot = 100 })
	const refused, over = 20, 10
	for n := range uint64(refused) {
		r.say(s.signIn(t, r, w.Members[0], nowhere, func(b *permit.StatementBody) { b.Number = n + 1 }))
		f, err := wire.Read(r.control, nil)
		require.NoError(t, err)
		require.IsType(t, &wire.Answer{}, f)
	}
	assert.LessOrEqual(t, strings.Count(s.log.String(), "sign-in refused"), 10)
	began := time.Now()
	for range 20 + over {
		r.say(&wire.SignOut{Number: 1})
	}
	r.say(&wire.Answer{Number: 1, Signed: []byte{1}}) // which ends the connection, when it is read
	r.closedWith()
	assert.Greater(t, time.Since(began), (over-2)*time.Second/driver.SignInsPerSecond)
}

// A member that says HELLO again and again is not sent the configuration each time.
func TestHello_Repeated_ConfigurationRationed(t *testing.T) {
	w := newWorld(t, 1, nil)
	s := open(w, func(c *driver.Config) { c.Group = w.Newer(func(*group.Settings) {}) })
	r := s.raw(t, w.Members[0])
	const hellos = 20
	for range hellos {
		r.say(&wire.Hello{Versions: [2]uint64{1, 1}, Resource: gatetest.Resource, Configuration: 1})
	}
	r.say(s.signIn(t, r, w.Members[0], w.Mint(0), same))
	copies := 0
	for {
		f, err := wire.Read(r.control, nil)
		require.NoError(t, err)
		if _, ok := f.(*wire.Answer); ok {
			break
		}
		if _, ok := f.(*wire.Update); ok {
			copies++
		}
	}
	assert.LessOrEqual(t, copies, driver.MaxPerMember+2)
}
