//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/protocol/ident"
)

func TestRun_EachEnd_ExitCode(t *testing.T) {
	t.Parallel()
	plain := filepath.Join(t.TempDir(), "plain")
	require.NoError(t, os.WriteFile(plain, nil, 0o644))
	for name, c := range map[string]struct {
		daemon   *fakeDaemon // nil for none
		args     []string
		code     int
		outcome  outcome
		exit     *int
		signal   *int
		says     string
		released bool
	}{
		"success":   {granting(testGrant(time.Hour)), []string{"--", "true"}, 0, outcomeCompleted, pointer(0), nil, "", true},
		"failure":   {granting(testGrant(time.Hour)), []string{"-c", "exit 3"}, 3, outcomeCompleted, pointer(3), nil, "", true},
		"code 75":   {granting(testGrant(time.Hour)), []string{"-c", "exit 75"}, 75, outcomeCompleted, pointer(75), nil, "", true},
		"signal":    {granting(testGrant(time.Hour)), []string{"-c", "kill -KILL $$"}, 137, outcomeCompleted, nil, pointer(9), "", true},
		"not found": {hesitating(), []string{"--", "no-such-command"}, 127, outcomeNotFound, nil, nil, "error: ", false},
		"no file":   {hesitating(), []string{"--", plain + "s"}, 127, outcomeNotFound, nil, nil, "error: ", false},
		"not executable": {
			hesitating(), []string{"--", plain}, 126, outcomeNotExecutable, nil, nil, "error: ", false,
		},
		"not granted": {
			refusing(api.ErrNotGranted), []string{"--", "true"}, 75, outcomeNotGranted, nil, nil,
			"error: ftp: not granted in time\n", false,
		},
		"not granted, quiet": {refusing(api.ErrNotGranted), []string{"-q", "--", "true"}, 75, outcomeNotGranted, nil, nil, "", false},
		"own code":           {refusing(api.ErrNotGranted), []string{"-q", "-E", "9", "--", "true"}, 9, outcomeNotGranted, nil, nil, "", false},
		"skip":               {refusing(api.ErrNotGranted), []string{"--else", "skip", "--", "false"}, 0, outcomeNotGranted, nil, nil, "", false},
		"run anyway": {
			refusing(api.ErrNotGranted), []string{"--else", "run", "-c", `exit "$((4 + 0${WANDER_FENCE}))"`}, 4,
			outcomeWithoutGrant, pointer(4), nil, "warning: ", false,
		},
		"not due":         {refusing(api.ErrNotDue), []string{"--else", "skip", "--", "false"}, 0, outcomeNotDue, nil, nil, "", false},
		"isolated":        {refusing(api.ErrIsolated), []string{"--", "true"}, 69, outcomeIsolated, nil, nil, "\nhint: ", false},
		"isolated, skip":  {refusing(api.ErrIsolated), []string{"--else", "skip", "--", "true"}, 69, outcomeIsolated, nil, nil, "error: ", false},
		"no daemon":       {nil, []string{"--", "true"}, 69, outcomeUnavailable, nil, nil, "hint: start it with", false},
		"no daemon, now":  {nil, []string{"-n", "--", "true"}, 69, outcomeUnavailable, nil, nil, "hint: start it with", false},
		"revoked":         {refusing(api.ErrRevoked), []string{"--", "true"}, 77, outcomeRevoked, nil, nil, "error: ", false},
		"refused":         {refusing(api.ErrRefused), []string{"--", "true"}, 77, outcomeRefused, nil, nil, "error: ", false},
		"daemon's bug":    {refusing(api.ErrInternal), []string{"--", "true"}, 70, outcomeError, nil, nil, "error: ", false},
		"not understood":  {refusing(api.ErrBadRequest), []string{"--", "true"}, 70, outcomeError, nil, nil, "error: ", false},
		"refused, advice": {refusing(&api.Error{Code: "refused", Message: "m", Hint: "advice"}), []string{"--", "true"}, 77, outcomeRefused, nil, nil, "hint: advice\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket := runSocket(t)
			if c.daemon != nil {
				c.daemon.listen(t, socket)
			}
			p := startRun(t, socket, append([]string{"ftp"}, c.args...)...)
			assert.Equal(t, c.code, p.end(t), p.stderr.String())
			p.expectAllDead(t)
			if c.says == "" {
				assert.Empty(t, p.stderr.String())
			}
			assert.Contains(t, p.stderr.String(), c.says)
			r := p.readReport(t)
			assert.Equal(t, "ftp", r.Resource)
			assert.Equal(t, c.outcome, r.Outcome)
			assert.Equal(t, c.exit, r.Exit)
			assert.Equal(t, c.signal, r.Signal)
			assert.Equal(t, c.released, r.Fence != nil)
			if c.released {
				released := await.Next(t, "what the command does", c.daemon.releases)
				assert.Equal(t, ident.Grant{1}, released.Grant)
				assert.True(t, released.Operated)
			}
		})
	}
}

// TestRun_Deadline_ExitsWith76: what the command does about it makes no difference.
func TestRun_Deadline_ExitsWith76(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"deaf": {
			[]string{"-c", "trap '' TERM; sleep 1000 & wait; sleep 1000"},
			"hint: a longer grant needs a longer max_hold in the group configuration\n",
		},
		"as asked for": {[]string{"--max-hold", "2s", "--", "sleep", "1000"}, "hint: request a longer grant with --max-hold, "},
		"quiet":        {[]string{"-q", "--", "sleep", "1000"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hold := time.Second
			for !stoppedAtDeadline(t, hold, c.args, c.says) {
				hold *= 2
			}
		})
	}
}

// stoppedAtDeadline reports whether the command began before the end of its grant.
func stoppedAtDeadline(t *testing.T, hold time.Duration, args []string, says string) bool {
	socket, d := runSocket(t), grantingFor(hold)
	d.listen(t, socket)
	p := startRun(t, socket, append([]string{"ftp"}, args...)...)
	assert.Equal(t, cli.ExitLost, p.end(t), p.stderr.String())
	p.expectAllDead(t)
	r := p.readReport(t)
	assert.Equal(t, outcomeDeadline, r.Outcome)
	assert.Nil(t, r.Exit)
	began := r.Signal != nil // SIGTERM or SIGKILL: a slow machine may send both at once
	assert.Equal(t, began, await.Next(t, "the release", d.releases).Operated)
	if !began {
		return false
	}
	assert.Contains(t, p.stderr.String(), says)
	assert.Equal(t, says == "", p.stderr.String() == "", p.stderr.String())
	return true
}

// TestRun_GuardNotReadyInTime_ExitsWith71: nothing has run, nothing is left, and the
// daemon was asked for nothing.
func TestRun_GuardNotReadyInTime_ExitsWith71(t *testing.T) {
	socket, d := runSocket(t), granting(testGrant(time.Hour))
	d.listen(t, socket)
	p := startProgram(t, unreadyVariable, socket, "ftp", "-c", "echo ran")
	assert.Equal(t, 71, p.end(t))
	assert.Regexp(t, "^error: cannot start the guard: it is not ready within .*\nhint: check that the machine .*; nothing was run\n$", p.stderr.String())
	p.expectAllDead(t)
	assert.Equal(t, outcomeError, p.readReport(t).Outcome)
	assert.Empty(t, d.requests)
}

func TestRun_Wait_PassedOn(t *testing.T) {
	socket := runSocket(t)
	d := refusing(api.ErrNotGranted)
	d.listen(t, socket)
	p := startRun(t, socket, "ftp", "--wait", "1h", "--", "true")
	got := await.Next(t, "what the command does", d.requests)
	require.NotNil(t, got.WaitMS)
	assert.LessOrEqual(t, *got.WaitMS, time.Hour.Milliseconds())
	assert.Positive(t, *got.WaitMS)
	p.end(t)
}

func TestRun_Report_OnStandardOutput(t *testing.T) {
	socket := runSocket(t)
	refusing(api.ErrRefused).listen(t, socket)
	p := startRun(t, socket, "ftp", "--report", "-", "--", "true")
	require.True(t, p.stdout.Scan())
	assert.Contains(t, p.stdout.Text(), `"outcome":"refused"`)
	assert.Equal(t, cli.ExitNoPermission, p.end(t))
	assert.Contains(t, p.stderr.String(), "hint: wander status shows the resources of the group")
	p = startRun(t, socket, "fpt", "--", "true")
	assert.Equal(t, cli.ExitNoPermission, p.end(t))
	assert.Contains(t, p.stderr.String(), "hint: did you mean \"ftp\"?")
}

func TestRunEnvironment(t *testing.T) {
	socket := runSocket(t)
	held := testGrant(time.Hour)
	d := granting(held)
	d.listen(t, socket)
	p := startRun(t, socket, "ftp", "-c", `
		echo "$WANDER_RESOURCE $WANDER_MEMBER $WANDER_TOKEN $WANDER_HOP $WANDER_FENCE $WANDER_DEADLINE $WANDER_SOCKET"
		echo "next: $WANDER_RETURN_S $WANDER_RETURN_P95_S"; read line`)
	p.expect(t, fmt.Sprintf("ftp %v %v 41 41 %s %s", held.grant.Member, held.grant.Token,
		held.grant.Deadline.UTC().Format(time.RFC3339Nano), socket))
	p.expect(t, "next:  ")
	p.stdin.Close()
	p.end(t)
}

// The command is told when the next turn is expected, and nothing of an outer grant's.
func TestRun_ReturnExpected_InTheEnvironment(t *testing.T) {
	socket := runSocket(t)
	held := testGrant(time.Hour)
	held.grant.ReturnS, held.grant.ReturnP95S = pointer(1800.0), pointer(2000.12345)
	d := granting(held)
	d.listen(t, socket)
	p := startRun(t, socket, "ftp", "-c", `echo "$WANDER_RETURN_S $WANDER_RETURN_P95_S"`)
	p.expect(t, "1800.000 2000.123")
	p.end(t)
}

func TestRun_GrantLost_Stopped(t *testing.T) {
	t.Parallel()
	socket := runSocket(t)
	held := testGrant(time.Hour)
	d := granting(held)
	d.listen(t, socket)
	p := startRun(t, socket, "ftp", "-c", `trap 'echo term; exit 0' TERM; echo ready; while :; do :; done`)
	p.expect(t, "ready")
	held.lost <- api.LostRevoked
	p.expect(t, "term")
	assert.Equal(t, cli.ExitLost, p.end(t))
	assert.Contains(t, p.stderr.String(), "revoked")
	r := p.readReport(t)
	assert.Equal(t, outcomeLost, r.Outcome)
	assert.Equal(t, pointer(0), r.Exit)
}

func TestRun_OnLossIgnore_GoesOn(t *testing.T) {
	t.Parallel()
	socket := runSocket(t)
	held := testGrant(time.Hour)
	d := granting(held)
	d.listen(t, socket)
	p := startRun(t, socket, "ftp", "--on-lost", "warn", "-c", `echo ready; read line; exit 5`)
	p.expect(t, "ready")
	held.lost <- api.LostRevoked
	await.Until(t, "the warning", func() bool {
		return strings.Contains(p.stderr.String(), "warning: the grant was lost: revoked")
	})
	p.stdin.Close()
	assert.Equal(t, 5, p.end(t))
	assert.Equal(t, outcomeCompleted, p.readReport(t).Outcome)
}

// TestRun_GrantTooLate_NotStarted: the machine slept between the grant and the command.
func TestRun_GrantTooLate_NotStarted(t *testing.T) {
	socket := runSocket(t)
	d := granting(testGrant(-time.Second))
	d.listen(t, socket)
	p := startRun(t, socket, "ftp", "--", "echo", "ran")
	assert.Equal(t, cli.ExitLost, p.end(t))
	p.expectAllDead(t)
	assert.Equal(t, api.ReleaseRequest{Grant: ident.Grant{1}}, await.Next(t, "what the command does", d.releases))
	r := p.readReport(t)
	assert.Equal(t, outcomeDeadline, r.Outcome)
	assert.Nil(t, r.Exit)
}

func TestRun_SignalWhileWaiting_Ends(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1} {
		t.Run(s.String(), func(t *testing.T) {
			socket := runSocket(t)
			withdrawn := make(chan struct{})
			d := newFakeDaemon(func(ctx context.Context, _ api.AcquireRequest) (api.HeldGrant, error) {
				<-ctx.Done()
				close(withdrawn)
				return nil, ctx.Err()
			})
			d.listen(t, socket)
			p := startRun(t, socket, "ftp", "--", "true")
			await.Next(t, "what the command does", d.requests)
			require.NoError(t, p.Process.Signal(s))
			assert.Equal(t, cli.ExitSignal+int(s), p.end(t))
			assert.Empty(t, p.stderr.String())
			await.Next(t, "what the command does", withdrawn)
			assert.Equal(t, outcomeInterrupted, p.readReport(t).Outcome)
		})
	}
}

func TestRun_Signal_GoesToTheCommand(t *testing.T) {
	socket := runSocket(t)
	d := granting(testGrant(time.Hour))
	d.listen(t, socket)
	p := startRun(t, socket, "ftp", "-c", `trap 'echo usr1' USR1; trap 'echo term; exit 6' TERM; echo ready; while :; do :; done`)
	p.expect(t, "ready")
	require.NoError(t, p.Process.Signal(syscall.SIGUSR1))
	p.expect(t, "usr1")
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	p.expect(t, "term")
	assert.Equal(t, 6, p.end(t))
	assert.Equal(t, outcomeCompleted, p.readReport(t).Outcome)
	assert.Equal(t, 6, await.Next(t, "what the command does", d.releases).Exit)
}

func TestRun_DaemonRestarted_Released(t *testing.T) {
	socket := runSocket(t)
	stop := granting(testGrant(time.Hour)).listen(t, socket)
	p := startRun(t, socket, "ftp", "-c", `echo ready; read line; exit 5`)
	p.expect(t, "ready")
	stop()
	p.stdin.Close()
	await.Until(t, "the report", func() bool { // the command has ended, and finds no daemon
		info, err := os.Stat(p.report)
		return err == nil && info.Size() > 0
	})
	next := hesitating()
	next.listen(t, socket)
	assert.Equal(t, api.ReleaseRequest{Grant: ident.Grant{1}, Operated: true, Exit: 5}, await.Next(t, "what the command does", next.releases))
	assert.Equal(t, 5, p.end(t))
}

func TestRun_DaemonAway_DeadlineKept(t *testing.T) {
	t.Parallel()
	socket := runSocket(t)
	stop := grantingFor(time.Second).listen(t, socket)
	p := startRun(t, socket, "ftp", "-c", `trap '' TERM; echo ready; sleep 1000 & wait; sleep 1000`)
	p.stdout.Scan() // unless it comes to its deadline before that
	stop()
	assert.Equal(t, cli.ExitLost, p.end(t))
	p.expectAllDead(t)
}

func TestRun_DaemonRestarts_WaitsOn(t *testing.T) {
	socket := runSocket(t)
	d := hesitating()
	stop := d.listen(t, socket)
	p := startRun(t, socket, "ftp", "-c", "exit 5")
	await.Next(t, "what the command does", d.requests)
	stop()
	next := granting(testGrant(time.Hour))
	next.listen(t, socket)
	assert.Equal(t, 5, p.end(t))
	await.Next(t, "what the command does", next.releases)
}

func TestRunKilled(t *testing.T) {
	socket := runSocket(t)
	granting(testGrant(time.Hour)).listen(t, socket)
	p := startRun(t, socket, "ftp", "--grace", "10ms", "-c", `trap '' TERM; sleep 1000 & echo ready; wait; sleep 1000`)
	p.expect(t, "ready")
	require.NoError(t, p.Process.Kill())
	p.expectAllDead(t)
	_ = p.Wait()
}

func TestRun_Report_ToDescriptor(t *testing.T) {
	socket := runSocket(t)
	granting(testGrant(time.Hour)).listen(t, socket)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, "run", "--socket", socket, "--report", "fd:3", "ftp", "-c", "(: >&3) 2>/dev/null && exit 1; exit 4")
	cmd.Env = append(os.Environ(), programVariable+"=1")
	cmd.ExtraFiles = []*os.File{w}
	require.NoError(t, cmd.Start())
	w.Close()
	require.NoError(t, r.SetReadDeadline(time.Now().Add(runHang)))
	var report map[string]any
	require.NoError(t, json.NewDecoder(r).Decode(&report))
	_ = cmd.Wait()
	assert.Equal(t, 4, cmd.ProcessState.ExitCode(), "the command does not have the report's descriptor")
	assert.Positive(t, report["held_s"])
	assert.Positive(t, report["waited_s"])
	delete(report, "held_s")
	delete(report, "waited_s")
	assert.Equal(t, map[string]any{
		"v": 1.0, "resource": "ftp", "outcome": "completed", "exit": 4.0, "signal": nil, "fence": "41",
	}, report)
}

func TestLabel_EachText_Fits(t *testing.T) {
	assert.Equal(t, "a b?c", label([]string{"a", "b\x00c"}))
	long := label([]string{strings.Repeat("é", api.MaxLabel)})
	assert.LessOrEqual(t, len(long), api.MaxLabel)
	assert.NotContains(t, long, "\ufffd")
}
