//go:build unix

package supervise

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/protocol/clock"
)

// waitTerm lives until a signal, which it hears at once. It has no child: a
// shell that has just forked may lose a signal in the child.
const waitTerm = `echo ready; while :; do :; done`

// deaf starts a grandchild that ignores SIGTERM as its parent does.
const deaf = `trap '' TERM; sleep 1000 & echo ready; while :; do wait; sleep 1000; done`

func TestResult(t *testing.T) {
	for text, want := range map[string]Result{
		"exit 0":             {},
		"exit 3":             {Exit: 3},
		"kill -KILL $$":      {Exit: -1, Signal: syscall.SIGKILL},
		"kill -INT $$":       {Exit: -1, Signal: syscall.SIGINT},
		"read x || exit 7":   {Exit: 7}, // nothing to read
		`exit "$VALUE"`:      {Exit: 2},
		`exit $(($# + 100))`: {Exit: 100},
	} {
		t.Run(text, func(t *testing.T) {
			s := newScript(t, text)
			s.command.Env = append(s.command.Env, "VALUE=1", "VALUE=2")
			e := await.Next(t, "the end of it", s.run(t, Options{Deadline: clock.Never}))
			require.NoError(t, e.err)
			assert.Equal(t, want, e.result)
			s.expectAllDead(t)
		})
	}
}

func TestNotStarted(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, []byte("exit 5"), 0o644))
	s := newScript(t, "")
	s.command.Path = filepath.Join(dir, "none")
	assert.ErrorIs(t, await.Next(t, "the end of it", s.run(t, Options{Deadline: clock.Never})).err, fs.ErrNotExist)
	s = newScript(t, "")
	s.command.Path = file
	assert.ErrorIs(t, await.Next(t, "the end of it", s.run(t, Options{Deadline: clock.Never})).err, fs.ErrPermission)
}

func TestStart_ScriptWithoutInterpreter_Error(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, []byte("exit $(($1 + $#))"), 0o755))
	s := newScript(t, "")
	s.command.Path, s.command.Args = file, []string{"file", "10", "x"}
	e := await.Next(t, "the end of it", s.run(t, Options{Deadline: clock.Never}))
	require.NoError(t, e.err)
	assert.Equal(t, Result{Exit: 12}, e.result)
}

func TestDeadline_LessGrace_Term(t *testing.T) {
	c := newFakeClock()
	s := newScript(t, `trap 'echo term; exit 4' TERM; `+waitTerm)
	done := s.run(t, Options{Deadline: clock.Instant(time.Minute), Grace: 10 * time.Second, clock: c.hook()})
	s.expect(t, "ready")
	c.advance(50 * time.Second)
	s.expect(t, "term")
	e := await.Next(t, "the end of it", done)
	require.NoError(t, e.err)
	assert.Equal(t, Result{Exit: 4, Stopped: ByDeadline}, e.result)
	s.expectAllDead(t)
}

func TestDeadline_Reached_Killed(t *testing.T) {
	c := newFakeClock()
	s := newScript(t, deaf)
	deadline := clock.Instant(time.Minute)
	done := s.run(t, Options{Deadline: deadline, Grace: 10 * time.Second, clock: c.hook()})
	s.expect(t, "ready")
	c.advance(50 * time.Second)
	c.waitForAlarm(t, deadline)
	assert.Empty(t, done)
	c.advance(10 * time.Second)
	e := await.Next(t, "the end of it", done)
	require.NoError(t, e.err)
	assert.Equal(t, Result{Exit: -1, Signal: syscall.SIGKILL, Stopped: ByDeadline}, e.result)
	s.expectAllDead(t)
}

func TestGrace(t *testing.T) {
	for _, c := range []struct{ asked, grant, want time.Duration }{
		{time.Second, time.Minute, time.Second},
		{40 * time.Second, time.Minute, 30 * time.Second},
		{0, time.Second, 100 * time.Millisecond},
		{0, time.Hour, usualGrace},
		{time.Hour, 0, 0},
		{time.Hour, -time.Second, 0},
		{0, -time.Second, 0},
	} {
		r := newRunner(nil, Options{
			Deadline: clock.Instant(c.grant), Grace: c.asked, clock: newFakeClock().hook(),
		})
		assert.Equal(t, c.want, r.Grace, c)
		assert.Equal(t, c.want, r.order.Grace, c)
	}
	assert.Equal(t, usualGrace, newRunner(nil, Options{Deadline: clock.Never}).Grace)
	assert.Equal(t, time.Hour, newRunner(nil, Options{Deadline: clock.Never, Grace: time.Hour}).Grace)
}

// TestTerm_Repeated_SentOnce: a second one makes many programs drop everything.
func TestTerm_Repeated_SentOnce(t *testing.T) {
	c := newFakeClock()
	lost := make(chan api.LostReason)
	signals := make(chan os.Signal)
	// Shells run the traps of signals that come together by rising number.
	s := newScript(t, `trap 'echo term' TERM; trap 'echo winch' WINCH; `+waitTerm)
	deadline := clock.Instant(time.Minute)
	done := s.run(t, Options{
		Deadline: deadline, Grace: 10 * time.Second, Lost: lost, Signals: signals, clock: c.hook(),
	})
	s.expect(t, "ready")
	c.advance(50 * time.Second)
	s.expect(t, "term")
	lost <- api.LostRevoked
	signals <- syscall.SIGWINCH
	s.expect(t, "winch")
	c.advance(10 * time.Second)
	e := await.Next(t, "the end of it", done)
	require.NoError(t, e.err)
	assert.Equal(t, Result{Exit: -1, Signal: syscall.SIGKILL, Stopped: ByDeadline, Lost: api.LostRevoked}, e.result)
	s.expectAllDead(t)
}

func TestLoss_Terminate_TermSent(t *testing.T) {
	lost := make(chan api.LostReason, 1)
	s := newScript(t, `trap 'echo term; exit 0' TERM; `+waitTerm)
	done := s.run(t, Options{Deadline: clock.Never, Grace: time.Hour, Lost: lost})
	s.expect(t, "ready")
	lost <- api.LostExpired
	s.expect(t, "term")
	e := await.Next(t, "the end of it", done)
	require.NoError(t, e.err)
	assert.Equal(t, Result{Stopped: ByLoss, Lost: api.LostExpired}, e.result)
}

// TestTerm_StoppedCommand_Woken: otherwise it could not clean up.
func TestTerm_StoppedCommand_Woken(t *testing.T) {
	lost := make(chan api.LostReason)
	s := newScript(t, `trap 'echo term; exit 0' TERM; echo $$; kill -STOP $$; while :; do :; done`)
	done := s.run(t, Options{Deadline: clock.Never, Grace: time.Hour, Lost: lost})
	require.True(t, s.lines.Scan())
	await.Until(t, "it is stopped", func() bool {
		state, _ := exec.Command("ps", "-o", "stat=", "-p", s.lines.Text()).Output()
		return strings.HasPrefix(string(state), "T")
	})
	lost <- api.LostRevoked
	s.expect(t, "term")
	e := await.Next(t, "the end of it", done)
	require.NoError(t, e.err)
	assert.Equal(t, Result{Stopped: ByLoss, Lost: api.LostRevoked}, e.result)
}

func TestLoss_GraceOver_Killed(t *testing.T) {
	c := newFakeClock()
	lost := make(chan api.LostReason, 1)
	s := newScript(t, deaf)
	done := s.run(t, Options{
		Deadline: clock.Instant(time.Hour), Grace: time.Minute, Lost: lost, clock: c.hook(),
	})
	s.expect(t, "ready")
	c.advance(time.Second)
	lost <- api.LostRevoked
	c.waitForAlarm(t, clock.Instant(time.Minute+time.Second))
	assert.Empty(t, done)
	c.advance(time.Minute)
	e := await.Next(t, "the end of it", done)
	require.NoError(t, e.err)
	assert.Equal(t, Result{Exit: -1, Signal: syscall.SIGKILL, Stopped: ByLoss, Lost: api.LostRevoked}, e.result)
	s.expectAllDead(t)
}

func TestLoss_Kill_AtOnce(t *testing.T) {
	lost := make(chan api.LostReason, 1)
	s := newScript(t, deaf)
	done := s.run(t, Options{Deadline: clock.Never, Grace: time.Hour, Lost: lost, OnLost: LostKill})
	s.expect(t, "ready")
	lost <- api.LostRevoked
	e := await.Next(t, "the end of it", done)
	require.NoError(t, e.err)
	assert.Equal(t, Result{Exit: -1, Signal: syscall.SIGKILL, Stopped: ByLoss, Lost: api.LostRevoked}, e.result)
	s.expectAllDead(t)
}

func TestLoss_Warn_GoesOn(t *testing.T) {
	stdin, feed, err := os.Pipe()
	require.NoError(t, err)
	defer stdin.Close()
	defer feed.Close()
	lost := make(chan api.LostReason, 1)
	warnings := make(chan string, 1)
	s := newScript(t, `read line; exit 6`)
	s.streams.Stdin = stdin
	done := s.run(t, Options{
		Deadline: clock.Never, Lost: lost, OnLost: LostWarn, Warn: func(text string) { warnings <- text },
	})
	lost <- api.LostRevoked
	assert.Contains(t, await.Next(t, "the end of it", warnings), "revoked")
	_, err = feed.WriteString("go\n")
	require.NoError(t, err)
	e := await.Next(t, "the end of it", done)
	require.NoError(t, e.err)
	assert.Equal(t, Result{Exit: 6, Lost: api.LostRevoked}, e.result)
}

func TestLoss_ChannelClosed_Ignored(t *testing.T) {
	lost := make(chan api.LostReason)
	close(lost)
	s := newScript(t, "exit 0")
	e := await.Next(t, "the end of it", s.run(t, Options{Deadline: clock.Never, Lost: lost}))
	require.NoError(t, e.err)
	assert.Equal(t, Result{}, e.result)
}

func TestSignal_ProcessGroup_AllReached(t *testing.T) {
	signals := make(chan os.Signal, 1)
	s := newScript(t, `
		trap : USR1
		sh -c 'trap "echo grandchild" USR1; echo ready; while :; do :; done' &
		while :; do wait; done`)
	done := s.run(t, Options{Deadline: clock.Never, Grace: time.Hour, Signals: signals})
	s.expect(t, "ready")
	signals <- syscall.SIGUSR1
	s.expect(t, "grandchild")
	signals <- syscall.SIGKILL
	e := await.Next(t, "the end of it", done)
	require.NoError(t, e.err)
	assert.Equal(t, Result{Exit: -1, Signal: syscall.SIGKILL}, e.result)
	s.expectAllDead(t)
}

func TestLeftovers_CommandEnded_Terminated(t *testing.T) {
	warnings := make(chan string, 1)
	s := newScript(t, `sleep 1000 & exit 5`)
	e := await.Next(t, "the end of it", s.run(t, Options{
		Deadline: clock.Never, Grace: time.Hour, Warn: func(text string) { warnings <- text },
	}))
	require.NoError(t, e.err)
	assert.Equal(t, Result{Exit: 5}, e.result)
	assert.Contains(t, await.Next(t, "the end of it", warnings), "processes that the command left behind")
	s.expectAllDead(t)
}

func TestLeftovers_Stubborn_Killed(t *testing.T) {
	c := newFakeClock()
	s := newScript(t, `trap '' TERM; sleep 1000 & exit 5`)
	done := s.run(t, Options{Deadline: clock.Instant(time.Hour), Grace: time.Minute, clock: c.hook()})
	c.waitForAlarm(t, clock.Instant(time.Minute))
	c.advance(time.Minute)
	e := await.Next(t, "the end of it", done)
	require.NoError(t, e.err)
	assert.Equal(t, Result{Exit: 5}, e.result)
	s.expectAllDead(t)
}

func TestEffectiveEnvironment(t *testing.T) {
	assert.Equal(t, []string{"B=2", "A=3", "C"}, effective([]string{"A=1", "B=2", "A=3", "C"}))
}
