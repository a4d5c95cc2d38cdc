package driver_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/gate/client"
	"github.com/wandertoken/wander/gate/driver"
	"github.com/wandertoken/wander/gate/gatetest"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node/store"
	core "github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/group"
)

// firstSession is the number of the first session behind a journal that settled has written, at a start.
const (
	firstFloor   = 100
	firstSession = firstFloor + core.MaxAhead + 1
)

// settled writes the journal of a gate with nothing open, as one has that has served for a while.
func settled(t testing.TB, w *gatetest.World, dir string) {
	t.Helper()
	r, _ := w.Group.Config().Resource(gatetest.Resource)
	gatetest.WriteJournal(t, dir, w.Group.ID(), w.Gate.ID(), firstFloor, int(r.Slots*r.Gate.Sessions))
}

// A member signs in, works through the tunnel and signs out. Meanwhile a second one waits; its turn comes then.
func TestSession_OpenBusySignOut_NextOpens(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, nil)
	s := open(w, nil)
	a, b := s.dial(0), s.dial(1)
	first := w.SignIn(a, w.Mint(0), lasts)
	open := gatetest.Opened(t, first)
	assert.EqualValues(t, firstSession, open.Session)
	stream := connect(t, first)
	echoes(t, stream, "hello\n")

	second := w.SignIn(b, w.Mint(1), lasts)
	busy := gatetest.Said[core.BusyAnswer](t, second)
	assert.Equal(t, w.Members[0].ID(), busy.Holder)
	_, err := second.Connect(context.Background())
	require.ErrorIs(t, err, client.ErrNotOpen)

	closed, err := first.SignOut(context.Background())
	require.NoError(t, err)
	assert.Equal(t, core.ClosedAnswer{Session: firstSession, Reason: core.BySignOut, Confirmed: true}, closed)
	assert.Zero(t, s.target.inside(), "nobody is at the target when close has confirmed")
	_, err = stream.Write([]byte("late\n"))
	if err == nil {
		_, err = stream.Read(make([]byte, 1))
	}
	require.Error(t, err)
	assert.EqualValues(t, firstSession+1, gatetest.Opened(t, second).Session)
	assert.Equal(t, "hello\n", s.target.received())
	_, err = second.SignOut(context.Background())
	require.NoError(t, err)
}

// The next holder of the token cuts the session, by the session member's own transfer.
func TestSession_Successor_Cuts(t *testing.T) {
	w := newWorld(t, 2, nil)
	s := open(w, nil)
	held := w.Mint(0)
	first := w.SignIn(s.dial(0), held, lasts)
	gatetest.Opened(t, first)
	stream := connect(t, first)
	echoes(t, stream, "one\n")
	second := w.SignIn(s.dial(1), w.Passed(held, 0, 1), lasts)
	assert.Equal(t, core.ClosedAnswer{Session: firstSession, Reason: core.BySuccessor, Confirmed: true}, gatetest.Ended(t, first))
	_, err := stream.Read(make([]byte, 1))
	require.ErrorIs(t, err, client.ErrStreamCut)
	assert.EqualValues(t, firstSession+1, gatetest.Opened(t, second).Session)
}

func TestSession_Deadline_Cuts(t *testing.T) {
	w := newWorld(t, 1, nil)
	s := open(w, nil)
	first := w.SignIn(s.dial(0), w.Mint(0), 200*time.Millisecond)
	gatetest.Opened(t, first)
	assert.Equal(t, core.ClosedAnswer{Session: firstSession, Reason: core.ByDeadline, Confirmed: true}, gatetest.Ended(t, first))
}

// A connection that is closed ends its session.
func TestSession_ConnectionLost_Ends(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, nil)
	s := open(w, nil)
	a := s.dial(0)
	first := w.SignIn(a, w.Mint(0), lasts)
	gatetest.Opened(t, first)
	second := w.SignIn(s.dial(1), w.Mint(1), lasts)
	gatetest.Said[core.BusyAnswer](t, second)
	require.NoError(t, a.Close())
	await.Next(t, "the end of the session", first.Ended())
	_, err := first.SignOut(context.Background())
	require.ErrorIs(t, err, client.ErrClosed)
	assert.EqualValues(t, firstSession+1, gatetest.Opened(t, second).Session)
}

// Without a close hook, close confirms only when the target has ended its side.
func TestClose_TargetStays_SlotStuck(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, shortClose)
	s := open(w, nil)
	s.target.linger = make(chan struct{})
	first := w.SignIn(s.dial(0), w.Mint(0), lasts)
	gatetest.Opened(t, first)
	echoes(t, connect(t, first), "x")
	closed, err := first.SignOut(context.Background())
	require.NoError(t, err)
	require.False(t, closed.Confirmed)
	second := w.SignIn(s.dial(1), w.Mint(1), lasts)
	assert.True(t, gatetest.Said[core.BusyAnswer](t, second).Stuck)
	st, err := s.Status(context.Background())
	require.NoError(t, err)
	require.Equal(t, "STUCK", st.Slots[0].State)
	require.ErrorIs(t, s.Clear(context.Background(), 7), driver.ErrSlot)
	require.NoError(t, s.Clear(context.Background(), 0))
	await.Until(t, "it is stuck again, as the target has not ended the connection", func() bool {
		st, err := s.Status(context.Background())
		return err == nil && st.Alarms[core.AlarmStuck] == 2
	})
	close(s.target.linger)
	await.Until(t, "the connection has ended", func() bool { // else close may be late once more
		st, err := s.Status(context.Background())
		return err == nil && st.Streams == 0
	})
	require.NoError(t, s.Clear(context.Background(), 0))
	require.ErrorIs(t, s.Clear(context.Background(), 0), driver.ErrNotStuck)
	third := w.SignIn(s.dial(1), w.Mint(1), lasts)
	gatetest.Opened(t, third)
}

// A gate without a journal opens nothing for max_hold, and none without a floor.
func TestOpen_NoJournal_ShutForMaxHold(t *testing.T) {
	t.Parallel()
	for maxHold := 3 * time.Second; !shutFor(t, maxHold); maxHold *= 2 { // a busy machine let it pass
		require.Less(t, maxHold, time.Minute, "a sign-in is answered no sooner than the gate opens")
	}
}

// shutFor reports whether a member signs in before a gate without a journal may open.
func shutFor(t *testing.T, maxHold time.Duration) (is bool) {
	t.Helper()
	// It would be shut for the open timeout, if that is longer.
	w := newWorld(t, 1, func(r *group.Resource) { r.MaxHold, r.Gate.OpenTimeout = maxHold, time.Second })
	s := &station{w: w, dir: t.TempDir(), target: newTarget(t), log: &testLog{}}
	cfg := config(w, s.dir, s.target, s.log)
	cfg.Floor = nil
	_, err := driver.Open(context.Background(), cfg)
	require.ErrorIs(t, err, core.ErrFloor)
	began := time.Now()
	s.start(nil)
	t.Cleanup(func() { require.NoError(t, s.Close(context.Background())) })
	first := w.SignIn(s.dial(0), w.Mint(0), lasts)
	a := await.Next(t, "an answer", first.Answers())
	require.False(t, a.IsZero(), "the session has ended")
	if _, is = a.Body().Answer.(core.BusyAnswer); is {
		gatetest.Opened(t, first)
	} else {
		require.IsType(t, core.OpenAnswer{}, a.Body().Answer)
	}
	require.GreaterOrEqual(t, time.Since(began), maxHold)

	other := config(w, s.dir, s.target, s.log)
	_, err = driver.Open(context.Background(), other)
	require.ErrorIs(t, err, store.ErrLocked, "one process has the state folder")
	require.True(t, exists(filepath.Join(s.dir, "journal")))
	return is
}

// A gate does not start for a resource that has none, or another one.
func TestOpen_ConfigurationOfAnother_Refused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*group.Resource)
		want   error
	}{
		"no gate":      {func(r *group.Resource) { r.Gate = group.Gate{} }, driver.ErrResource},
		"another gate": {func(r *group.Resource) { r.Gate.Member[0] ^= 1 }, driver.ErrOther},
	} {
		w := newWorld(t, 1, c.change)
		cfg := config(w, t.TempDir(), newTarget(t), &testLog{})
		_, err := driver.Open(context.Background(), cfg)
		require.ErrorIs(t, err, c.want, name)
		require.NoError(t, cfg.Conn.Close())
	}
}

// What the gate has learned is there after a restart: it closes the session that was open, and goes on with the numbers.
func TestRestart_OpenSession_ClosedFirst(t *testing.T) {
	w := newWorld(t, 2, nil)
	s := open(w, nil)
	held := w.Mint(0)
	first := w.SignIn(s.dial(0), held, lasts)
	gatetest.Opened(t, first)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.NoError(t, s.Close(ctx), "at once: the session stays open in the journal")
	closed := make(chan driver.Call, 4)
	s.start(func(c *driver.Config) {
		c.Floor = nil
		c.CloseHook = func(_ context.Context, call driver.Call) core.Result { closed <- call; return core.Succeeded }
	})
	call := await.Next(t, "the close hook", closed)
	assert.EqualValues(t, firstSession, call.Session)
	assert.Equal(t, w.Members[0].ID(), call.Member)
	second := w.SignIn(s.dial(1), w.Passed(held, 0, 1), lasts)
	assert.EqualValues(t, firstSession+1+core.MaxAhead, gatetest.Opened(t, second).Session)
}

// A slot with two places: two members work at once, each through its own session, and the third comes in when one of them has gone. What belongs to one
// session goes with it, and not with the other.
func TestSessions_TwoPlaces_EachItsOwn(t *testing.T) {
	w := newWorld(t, 3, func(r *group.Resource) { r.Policy, r.Gate.Sessions = "multitoken", 2 })
	calls := make(chan driver.Call, 8)
	s := open(w, func(c *driver.Config) {
		c.CloseHook = func(_ context.Context, call driver.Call) core.Result { calls <- call; return core.Succeeded }
	})
	first := w.SignIn(s.dial(0), w.Mint(0), lasts)
	gatetest.Opened(t, first)
	second := w.SignIn(s.dial(1), w.Mint(1), lasts)
	gatetest.Opened(t, second)
	one, two := connect(t, first), connect(t, second)
	echoes(t, one, "one\n")
	echoes(t, two, "two\n")
	third := w.SignIn(s.dial(2), w.Mint(2), lasts)
	assert.False(t, gatetest.Said[core.BusyAnswer](t, third).Stuck)
	st, err := s.Status(context.Background())
	require.NoError(t, err)
	require.Len(t, st.Slots, 2)
	assert.Equal(t, core.Open.String(), st.Slots[0].State)
	assert.Equal(t, core.Open.String(), st.Slots[1].State)
	_, err = second.SignOut(context.Background())
	require.NoError(t, err)
	call := await.Next(t, "the close hook", calls)
	assert.Equal(t, 1, call.Slot)
	assert.Equal(t, w.Members[1].ID(), call.Member)
	_, err = two.Read(make([]byte, 1))
	require.ErrorIs(t, err, client.ErrStreamCut)
	echoes(t, one, "goes on\n")
	open := gatetest.Opened(t, third)
	assert.EqualValues(t, firstSession+2, open.Session)
	st, err = s.Status(context.Background())
	require.NoError(t, err)
	assert.Equal(t, w.Members[2].ID(), *st.Slots[1].Member)
	echoes(t, one, "still\n")
	echoes(t, connect(t, third), "three\n")
}

// A gate with several targets lets a stream to the one that it names. The client says which there are of one that is not, and the gate resets
// what asks for it all the same.
func TestStream_SeveralTargets_EachItsOwn(t *testing.T) {
	w := newWorld(t, 1, nil)
	sql, files := newTarget(t), newTarget(t)
	s := open(w, func(c *driver.Config) {
		c.Target = driver.Target{}
		c.Targets = map[string]driver.Target{"sql": at(sql), "files": at(files)}
	})
	session := w.SignIn(s.dial(0), w.Mint(0), lasts)
	gatetest.Opened(t, session)
	to := func(name string) *client.Stream {
		c, err := session.ConnectTo(context.Background(), name)
		require.NoError(t, err)
		return c
	}
	echoes(t, to("sql"), "select\n")
	echoes(t, to("files"), "ls\n")
	assert.Equal(t, "select\n", sql.received())
	assert.Equal(t, "ls\n", files.received())
	_, err := session.ConnectTo(context.Background(), "backups")
	require.ErrorIs(t, err, client.ErrNoTarget)
	require.ErrorContains(t, err, `"backups"; it has files, sql`)
	_, err = session.ConnectTo(context.Background(), "fils")
	require.ErrorContains(t, err, `"fils"; did you mean "files"? It has files, sql`)
	_, err = connect(t, session).Read(make([]byte, 1))
	require.ErrorIs(t, err, client.ErrNoTarget, "it has none without a name")
	st, err := s.Status(context.Background())
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"sql": at(sql).String(), "files": at(files).String()}, st.Targets)
	assert.Empty(t, st.Target)
}

func at(to *target) driver.Target {
	return driver.Target{Network: "tcp", Address: to.listen.Addr().String()}
}

// Of a gate whose target has no name, no name is known.
func TestStream_NameAtOneTarget_Refused(t *testing.T) {
	w := newWorld(t, 1, nil)
	session := w.SignIn(open(w, nil).dial(0), w.Mint(0), lasts)
	gatetest.Opened(t, session)
	_, err := session.ConnectTo(context.Background(), "sql")
	require.ErrorIs(t, err, client.ErrNoTarget)
	require.ErrorContains(t, err, "it has none with a name")
	echoes(t, connect(t, session), "x")
}
