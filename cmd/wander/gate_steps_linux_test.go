package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/gate/client"
	"github.com/wandertoken/wander/gate/gatetest"
	"github.com/wandertoken/wander/internal/await"
	core "github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/group"
)

// front is a gate before a database. With an open hook, members' role may enter the database only while a session is open.
type front struct {
	*post
	d     *database
	hooks []string // the gate's flags
}

// waits is a hook's step at which the file "hold" can keep it.
const waits = `waits() { if [ "$(cat hold 2>/dev/null)" = $1 ]; then touch held; sleep 60; echo late >>hooks; fi; }; `

func newFront(t *testing.T, opens bool) *front {
	t.Helper()
	f := &front{post: newPost(t, func(r *group.Resource) { r.MaxHold = time.Minute }), d: newDatabase(t)}
	psql := "psql -X -q -t -A -h " + f.d.socket + " -U postgres -d postgres -c "
	shut := ""
	if opens {
		shut = psql + `'alter role app nologin' && `
		f.hooks = []string{"--open", waits + "echo found $(" + psql +
			`"select rolcanlogin, (select count(*) from pg_stat_activity where usename = 'app') from pg_roles where rolname = 'app'") >>hooks; ` +
			"waits opening; " + psql + "'alter role app login' && waits opened"}
		_, err := f.d.psql(f.d.socket, "postgres", "alter role app nologin")
		require.NoError(t, err)
	} else {
		f.environ = []string{diskVariable + "=1"}
	}
	f.hooks = append(f.hooks, "--close", waits+`[ "$(cat hold 2>/dev/null)" != failing ] && waits closing && `+shut+f.d.confirming()+" && waits closed && echo closed $WANDER_GATE_FENCE >>hooks")
	f.settled()
	f.start()
	return f
}

// start starts the gate.
func (f *front) start() {
	f.t.Helper()
	f.up(append([]string{"--target", "unix:" + filepath.Join(f.d.socket, ".s.PGSQL.5432")}, f.hooks...)...)
}

// number is what the database answers.
func (f *front) number(query string) (n int) {
	f.t.Helper()
	out, err := f.d.psql(f.d.socket, "postgres", query)
	require.NoError(f.t, err, out)
	_, err = fmt.Sscan(out, &n)
	require.NoError(f.t, err, out)
	return n
}

// inside is how many connections of members the database has.
func (f *front) inside() int {
	f.t.Helper()
	return f.number("select count(*) from pg_stat_activity where usename = 'app'")
}

// rows are those of a session that can be seen.
func (f *front) rows(session uint64) int {
	f.t.Helper()
	return f.number(fmt.Sprintf("select count(*) from entries where fence = %d", session))
}

// disordered are the rows that became visible behind one of a later session.
func (f *front) disordered() int {
	f.t.Helper()
	return f.number("select count(*) from (select fence, max(fence) over (order by pg_xact_commit_timestamp(xmin), id rows between unbounded preceding and 1 preceding) " +
		"as before from entries) e where before > fence")
}

// writes starts a member's statements, which go on whatever becomes of their client: one that commits each row, and one transaction of many rows.
func (f *front) writes(s *client.Session, session uint64) {
	f.t.Helper()
	way := door(f.t, s)
	insert := fmt.Sprintf("insert into entries (fence) values (%d);", session)
	for name, statement := range map[string]string{
		"rows":        "do $$ begin for i in 1..20000 loop " + insert + " commit; perform pg_sleep(0.002); end loop; end $$",
		"transaction": "do $$ begin for i in 1..5000 loop " + insert + " perform pg_sleep(0.002); end loop; end $$",
	} {
		psql := exec.Command("psql", "-X", "-h", way, "-U", "app", "-d", "postgres", "-c", statement)
		psql.Env = append(psql.Environ(), "PGAPPNAME="+name)
		require.NoError(f.t, psql.Start())
		f.t.Cleanup(func() { _ = psql.Process.Kill(); _ = psql.Wait() })
	}
}

// written waits until both statements of writes write.
func (f *front) written(session uint64) {
	f.t.Helper()
	await.Until(f.t, "a transaction is open, and rows are written", func() bool {
		return f.rows(session) > 5 && f.number("select count(*) from pg_stat_activity where application_name = 'transaction' and backend_xid is not null") == 1
	})
}

// enters has a member begin a session that writes.
func (f *front) enters(s *client.Session) (session uint64) {
	f.t.Helper()
	session = gatetest.Opened(f.t, s).Session
	f.writes(s, session)
	f.written(session)
	return session
}

// follows has the next holder sign in, and judges by the database: nobody is inside when it hears OPEN, and its predecessor does not come in again. began
// is when the gate could last begin to let it in.
func (f *front) follows(held gatetest.Custody, began time.Time) {
	f.t.Helper()
	next := f.w.SignIn(f.dial(1), f.w.Passed(held, 0, 1), time.Minute)
	session := gatetest.Opened(f.t, next).Session
	took := time.Since(began)
	assert.Zero(f.t, f.inside(), "somebody is inside when the next session opens")
	for line := range strings.Lines(f.wrote()) {
		if found, ok := strings.CutPrefix(line, "found "); ok {
			require.Equal(f.t, "f|0\n", found, "members' role may enter, or somebody is inside, when a session is about to open")
		}
	}
	f.t.Logf("the next holder is in after %v", took)
	way := door(f.t, next)
	out, err := f.d.psql(way, "app", fmt.Sprintf("insert into entries (fence) values (%d)", session))
	require.NoError(f.t, err, out)
	again := f.w.SignIn(f.dial(0), held, time.Minute)
	assert.Equal(f.t, core.Stale, gatetest.Said[core.RefuseAnswer](f.t, again).Code)
	closed, err := next.SignOut(context.Background())
	require.NoError(f.t, err)
	assert.True(f.t, closed.Confirmed)
	assert.Zero(f.t, f.inside())
	assert.Equal(f.t, 1, f.rows(session))
	assert.Zero(f.t, f.disordered(), "rows behind those of a later session")
	await.Until(f.t, "the slot is idle", func() bool { return f.slotIs("IDLE") })
}

// TestGate_KilledAtEachStepBeforeADatabase_NextHolderGetsIn is `kill -9` of a gate at each step of a session with a real PostgreSQL, and at once its start.
// The database is the judge: when the next session opens none of the last one is inside, and none of its rows becomes visible any more.
func TestGate_KilledAtEachStepBeforeADatabase_NextHolderGetsIn(t *testing.T) {
	t.Parallel()
	f := newFront(t, true)
	ctx := context.Background()
	for _, step := range []struct {
		name, hold string
		reach      func(first *client.Session)
	}{
		{"the open hook begins", "opening", func(*client.Session) { f.held() }},
		{"the open hook has let members in", "opened", func(*client.Session) { f.held() }},
		{"a transaction writes", "", func(first *client.Session) { f.enters(first) }},
		{"the close hook begins", "closing", func(first *client.Session) {
			f.enters(first)
			go first.SignOut(ctx)
			f.held()
		}},
		{"the close hook has ended the work", "closed", func(first *client.Session) {
			f.enters(first)
			go first.SignOut(ctx)
			f.held()
		}},
		{"the slot settles", "", func(first *client.Session) {
			f.enters(first)
			closed, err := first.SignOut(ctx)
			require.NoError(t, err)
			require.True(t, closed.Confirmed)
		}},
		{"the close hook of the next start runs", "", func(first *client.Session) {
			f.enters(first)
			f.kill()
			f.hold("closing")
			f.start()
			f.held()
		}},
	} {
		f.hold(step.hold)
		held := f.w.Mint(0)
		step.reach(f.w.SignIn(f.dial(0), held, time.Minute))
		f.kill()
		f.hold("")
		began := time.Now()
		f.start()
		t.Logf("killed when %s", step.name)
		f.follows(held, began)
	}
	assert.NotContains(t, f.wrote(), "late", "no hook of a killed gate goes on")
	assert.Equal(t, 14, strings.Count(f.wrote(), "found "), "each session's open hook has looked")
}

// TestGate_KilledWhileStuckBeforeADatabase_OnlyTheOperatorOpens: the close hook fails while the member's transaction writes, and the gate is killed. It starts
// stuck, and lets nobody in beside what still works. When the operator lets the hook run again, that ends, and the next holder gets in.
func TestGate_KilledWhileStuckBeforeADatabase_OnlyTheOperatorOpens(t *testing.T) {
	t.Parallel()
	f := newFront(t, true)
	held := f.w.Mint(0)
	first := f.w.SignIn(f.dial(0), held, time.Minute)
	f.enters(first)
	f.hold("failing")
	closed, err := first.SignOut(context.Background())
	require.NoError(t, err)
	require.False(t, closed.Confirmed)
	f.kill()
	f.hold("") // the hook would do its work now
	f.start()
	next := f.w.SignIn(f.dial(1), f.w.Passed(held, 0, 1), time.Minute)
	assert.True(t, gatetest.Said[core.BusyAnswer](t, next).Stuck)
	assert.Positive(t, f.inside(), "what the hook did not end")
	assert.Equal(t, 1, strings.Count(f.wrote(), "found "), "nothing else has opened")
	began := time.Now()
	f.wander("gate", "clear", "0", "--dir", "g")
	f.follows(held, began)
}

// TestGate_KilledBeforeTheDiskHasIt_NothingAtTheDatabase: OPEN has left, and the gate is killed before the session's record is durable, which is lost, or
// at once behind that. Nothing of the session reaches the database before, nor afterwards, and its number is not given again.
func TestGate_KilledBeforeTheDiskHasIt_NothingAtTheDatabase(t *testing.T) {
	t.Parallel()
	f := newFront(t, false)
	for _, step := range []string{"disk", "synced"} {
		warm := f.w.SignIn(f.dial(2), f.w.Mint(2), time.Minute) // the first session of a start waits for the disk
		gatetest.Opened(t, warm)
		_, err := warm.SignOut(context.Background())
		require.NoError(t, err)
		await.Until(t, "the slot is idle", func() bool { return f.slotIs("IDLE") })
		f.hold(step)
		held := f.w.Mint(0)
		first := f.w.SignIn(f.dial(0), held, time.Minute)
		session := gatetest.Opened(t, first).Session
		f.writes(first, session)
		f.post.held()
		for range 10 { // for a while: a slow machine hides a mistake, and makes none
			assert.Zero(t, f.inside(), "at the database before the record is durable")
			time.Sleep(20 * time.Millisecond)
		}
		f.kill()
		f.hold("")
		began := time.Now()
		f.start()
		t.Logf("killed at %q", step)
		f.follows(held, began)
		assert.Zero(t, f.rows(session))
		assert.Equal(t, step == "synced", strings.Contains(f.wrote(), fmt.Sprintf("closed %d\n", session)), "what is in the journal is closed")
	}
}

// startup is a connection of members' role to PostgreSQL, and a statement, in one piece: the server has both before it has authenticated the role, and
// then waits for as many seconds as its client asks for. It lists the connection only afterwards.
func startup(seconds int, statement string) []byte {
	var words []byte
	for _, word := range []string{"user", "app", "database", "postgres", "options", fmt.Sprintf("-c post_auth_delay=%d", seconds), ""} {
		words = append(append(words, word...), 0)
	}
	const version, header = 3 << 16, 8
	out := binary.BigEndian.AppendUint32(nil, uint32(header+len(words)))
	out = append(binary.BigEndian.AppendUint32(out, version), words...)
	out = binary.BigEndian.AppendUint32(append(out, 'Q'), uint32(4+len(statement)+1))
	return append(append(out, statement...), 0)
}

// TestGate_StatementInAConnectionThatBegins_NothingAfterTheClose: a member that lies sends a statement with its connection, and has the server wait where the
// close hook does not see it. When the wait is over the server finds that nobody is there, before it reads the statement.
func TestGate_StatementInAConnectionThatBegins_NothingAfterTheClose(t *testing.T) {
	t.Parallel()
	f := newFront(t, false)
	const seconds = 3
	begins := "select count(distinct pid) from pg_locks where pid not in (select pid from pg_stat_activity)"
	for _, waits := range []int{0, seconds} {
		held := f.w.Mint(0)
		first := f.w.SignIn(f.dial(0), held, time.Minute)
		session := gatetest.Opened(t, first).Session
		stream, err := first.Connect(context.Background())
		require.NoError(t, err)
		_, err = stream.Write(startup(waits, fmt.Sprintf("insert into entries (fence) values (%d)", session)))
		require.NoError(t, err)
		if waits == 0 { // so the statement is one that works
			await.Until(t, "the row", func() bool { return f.rows(session) == 1 })
		} else {
			await.Until(t, "the connection begins", func() bool { return f.number(begins) > 0 })
			assert.Zero(t, f.inside(), "the server lists it")
		}
		closed, err := first.SignOut(context.Background())
		require.NoError(t, err)
		require.True(t, closed.Confirmed)
		f.follows(held, time.Now())
		await.Until(t, "the connection has ended", func() bool { return f.number(begins) == 0 && f.inside() == 0 })
		assert.Equal(t, waits == 0, f.rows(session) == 1)
		assert.Zero(t, f.disordered())
	}
}
