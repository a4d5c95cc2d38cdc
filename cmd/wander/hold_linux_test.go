package main

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/boottime"
)

// startHold starts `wander hold`.
func startHold(t *testing.T, d *fakeDaemon, args ...string) *program {
	t.Helper()
	socket := runSocket(t)
	if d != nil {
		d.listen(t, socket)
	}
	return startCommand(t, programVariable, socket, "hold", append([]string{"ftp"}, args...)...)
}

// Whatever ends a hold gives the grant back, and the exit code says what it was.
func TestHold_EachEnd_GivesBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end     func(t *testing.T, p *program, l *fakeGrant)
		code    int
		outcome outcome
		says    string
	}{
		"enter":      {func(_ *testing.T, p *program, _ *fakeGrant) { p.stdin.WriteString("x\n") }, 0, outcomeCompleted, ""},
		"no input":   {func(_ *testing.T, p *program, _ *fakeGrant) { p.stdin.Close() }, 0, outcomeCompleted, ""},
		"a signal":   {func(_ *testing.T, p *program, _ *fakeGrant) { p.Process.Signal(syscall.SIGTERM) }, 143, outcomeInterrupted, ""},
		"a hangup":   {func(_ *testing.T, p *program, _ *fakeGrant) { p.Process.Signal(syscall.SIGHUP) }, 129, outcomeInterrupted, ""},
		"lost":       {func(_ *testing.T, _ *program, l *fakeGrant) { l.lost <- api.LostRevoked }, cli.ExitLost, outcomeLost, "error: the grant was lost (revoked): stop using ftp now\n"},
		"lost, then": {func(_ *testing.T, p *program, l *fakeGrant) { close(l.lost); p.stdin.WriteString("\n") }, 0, outcomeCompleted, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := testGrant(time.Hour)
			d := granting(l)
			p := startHold(t, d, "-v")
			asked := await.Next(t, "the demand", d.requests)
			assert.Equal(t, "wander hold", asked.Label)
			await.Until(t, "it holds", func() bool { return strings.Contains(p.stderr.String(), "granted ftp") })
			c.end(t, p, l)
			assert.Equal(t, c.code, p.end(t), p.stderr.String())
			assert.Contains(t, p.stderr.String(), c.says)
			released := await.Next(t, "the release", d.releases)
			assert.True(t, released.Operated)
			assert.LessOrEqual(t, released.SeenFrom, released.SeenTo)
			assert.Positive(t, released.SeenFrom)
			assert.Equal(t, c.outcome, p.readReport(t).Outcome)
		})
	}
}

func TestHold_Deadline_ExitsWith76(t *testing.T) {
	t.Parallel()
	d := grantingFor(300 * time.Millisecond)
	p := startHold(t, d)
	assert.Equal(t, cli.ExitLost, p.end(t))
	assert.Contains(t, p.stderr.String(), "error: the grant expired: another member may use ftp now\nhint: a longer grant")
	assert.Equal(t, outcomeDeadline, p.readReport(t).Outcome)
	await.Next(t, "the release", d.releases)
}

// A shell is stopped as a command of run is, although it ignores SIGTERM, with what it has started.
func TestHold_Shell_StoppedAsACommand(t *testing.T) {
	t.Parallel()
	l := testGrant(time.Hour)
	p := startHold(t, granting(l), "--shell")
	p.stdin.WriteString("trap '' TERM; case $WANDER_HELD in ftp=*) echo held; esac; sleep 1000 & sleep 1000\n")
	p.expect(t, "held")
	l.lost <- api.LostGate
	assert.Equal(t, cli.ExitLost, p.end(t), p.stderr.String())
	p.expectAllDead(t)
	assert.Contains(t, p.stderr.String(), "error: the grant was lost (gate); the command was stopped\n")
}

func TestHold_Shell_ItsExitCode(t *testing.T) {
	t.Parallel()
	p := startHold(t, granting(testGrant(time.Hour)), "--shell")
	p.stdin.WriteString("exit 7\n")
	assert.Equal(t, 7, p.end(t), p.stderr.String())
	p.expectAllDead(t)
}

func TestHold_NotGranted_AsRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		daemon *fakeDaemon
		args   []string
		code   int
		says   string
	}{
		"not granted": {refusing(api.ErrNotGranted), nil, cli.ExitNotGranted, "error: ftp: not granted in time\n"},
		"no daemon":   {nil, nil, cli.ExitUnavailable, "hint: start it with"},
		"refused":     {refusing(api.ErrRefused), nil, cli.ExitNoPermission, "error: ftp: "},
		"within":      {refusing(api.ErrHeld), nil, cli.ExitUsage, "hint: run the command without"},
		"contrary":    {refusing(api.ErrNotGranted), []string{"-q", "-v"}, cli.ExitUsage, "cannot be combined"},
		"no duration": {refusing(api.ErrNotGranted), []string{"--max-hold", "10"}, cli.ExitUsage, "not a duration"},
		"two names":   {refusing(api.ErrNotGranted), []string{"tape"}, cli.ExitUsage, "hint: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startHold(t, c.daemon, c.args...)
			assert.Equal(t, c.code, p.end(t), p.stderr.String())
			assert.Contains(t, p.stderr.String(), c.says)
		})
	}
}

// A person at a terminal sees how much time is left, in one line that changes, and goes in the end.
func TestHold_Terminal_TimeLeftShown(t *testing.T) {
	t.Parallel()
	l := testGrant(time.Hour)
	d := granting(l)
	socket := runSocket(t)
	d.listen(t, socket)
	file, seen := terminal(t, 100)
	in, feed, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { in.Close(); feed.Close() })
	o := newRunOptions()
	o.resource, o.socket, o.command = "ftp", socket, []string{"wander", "hold"}
	r := newRunner(&environment{Environment: cli.Environment{In: in, Out: file, Err: file, Getenv: func(string) string { return "" }}}, o)
	ended := make(chan error, 1)
	go func() { ended <- r.hold() }()
	shown := regexp.MustCompile(`holding ftp: 5\d+m\d+s left, until `)
	await.Until(t, "two lines", func() bool { // a busy machine passes over seconds
		return len(slices.Compact(shown.FindAllString(seen.String(), -1))) > 1
	})
	feed.WriteString("\n")
	require.NoError(t, await.Next(t, "the end", ended))
	await.Until(t, "an empty line", func() bool { return strings.HasSuffix(seen.String(), "\r\x1b[K") })
	assert.NotContains(t, seen.String(), "\n")
}

// Somebody at a shell is reminded, as long as the grant is that long.
func TestHold_Shell_Reminded(t *testing.T) {
	var text safeBuffer
	o := newRunOptions()
	o.resource, o.remind = "ftp", true
	r := newRunner(&environment{Environment: cli.Environment{Err: &text}}, o)
	stop := r.remindOf(boottime.Now().Add(11 * time.Second)) // a second for the way to it: the reminder is for what is to come
	defer stop()
	const says = "wander: 10s left of the grant of ftp; then this shell is stopped"
	await.Until(t, "the reminder", func() bool { return strings.Contains(text.String(), says) })
	assert.Regexp(t, "wander: holding ftp for 1[01]s, until ", text.String())
	assert.Equal(t, 2, strings.Count(text.String(), "wander: "))
}

// --dry-run asks for nothing, and says what would happen.
func TestRun_DryRun_NothingRuns(t *testing.T) {
	t.Parallel()
	d := newFakeDaemon(nil)
	socket := runSocket(t)
	d.listen(t, socket)
	p := startRun(t, socket, "ftp", "--dry-run", "--wait", "90s", "--", "sh", "-c", "echo ran")
	shell, err := exec.LookPath("sh")
	require.NoError(t, err)
	p.expect(t, "would run   "+shell+" -c echo ran")
	p.expect(t, "under       a token of ftp, of member alpha ("+socket+")")
	p.expect(t, "waits       at most 1m30s")
	p.expect(t, "now         token with beta, you are next")
	assert.Zero(t, p.end(t), p.stderr.String())
	p.expectAllDead(t)
	assert.Equal(t, outcomeDryRun, p.readReport(t).Outcome)
	assert.Empty(t, d.requests)
	for args, code := range map[string]int{"tape --dry-run -- true": cli.ExitNoPermission, "ftp --dry-run -- no-such-command": 127} {
		p := startRun(t, socket, strings.Fields(args)...)
		assert.Equal(t, code, p.end(t), args)
		assert.Contains(t, p.stderr.String(), "error: ")
	}
}
