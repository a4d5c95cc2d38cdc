package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/internal/await"
)

// processesBelow are the descendants of a process, nearest first.
func processesBelow(pid int) (below []int) {
	for parents := []int{pid}; len(parents) > 0; parents = parents[1:] {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parents[0]))
		for _, file := range files {
			text, _ := os.ReadFile(file)
			for field := range strings.FieldsSeq(string(text)) {
				child, _ := strconv.Atoi(field)
				below, parents = append(below, child), append(parents, child)
			}
		}
	}
	return below
}

// guardsOf are the guards of a run.
func guardsOf(pid int) (guards []int) {
	for _, p := range processesBelow(pid) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p))
		if bytes.Contains(line, []byte("\x00__guard\x00")) {
			guards = append(guards, p)
		}
	}
	return guards
}

func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(text, []byte(") Z "))
}

// TestRun_FrozenOverItsDeadline_ExitsWith76: the guards stop the command, and the
// runner, woken afterwards, says what has happened.
func TestRun_FrozenOverItsDeadline_ExitsWith76(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"killed":     `trap '' TERM; echo $$; while :; do sleep 1000; done`,
		"terminated": `echo $$; while :; do :; done`,
		"obedient":   `trap 'exit 0' TERM; echo $$; while :; do :; done`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hold := time.Second
			for !frozenOverDeadline(t, script, hold) {
				hold *= 2
			}
		})
	}
}

// frozenOverDeadline reports whether the command ran when its runner was frozen.
func frozenOverDeadline(t *testing.T, script string, hold time.Duration) bool {
	socket := runSocket(t)
	grantingFor(hold).listen(t, socket)
	p := startRun(t, socket, "ftp", "-c", script)
	command := 0
	if p.stdout.Scan() {
		command, _ = strconv.Atoi(p.stdout.Text())
	}
	require.NoError(t, p.Process.Signal(syscall.SIGSTOP))
	if command == 0 || !alive(command) {
		p.Process.Kill()
		return false
	}
	await.Until(t, "the command is stopped", func() bool { return !alive(command) })
	require.NoError(t, p.Process.Signal(syscall.SIGCONT))
	assert.Equal(t, cli.ExitLost, p.end(t))
	assert.Contains(t, p.stderr.String(), "error: the grant expired; the command was stopped")
	assert.Equal(t, outcomeDeadline, p.readReport(t).Outcome)
	return true
}

// TestRun_EndedWhileFrozen_KeepsItsExitCode: the deadline came after the end.
func TestRun_EndedWhileFrozen_KeepsItsExitCode(t *testing.T) {
	t.Parallel()
	hold := time.Second
	for !endedWhileFrozen(t, hold) {
		hold *= 2
	}
}

func endedWhileFrozen(t *testing.T, hold time.Duration) bool {
	socket := runSocket(t)
	grantingFor(hold).listen(t, socket)
	deadline := time.Now().Add(hold)
	p := startRun(t, socket, "ftp", "--grace", "1ms", "-c", `echo $$; read line; exit 5`)
	if !p.stdout.Scan() {
		p.end(t)
		return false
	}
	command, err := strconv.Atoi(p.stdout.Text())
	require.NoError(t, err)
	require.NoError(t, p.Process.Signal(syscall.SIGSTOP))
	p.stdin.Close()
	await.Until(t, "the command has ended", func() bool { return !alive(command) })
	ended := time.Now()
	await.Until(t, "the deadline", func() bool { return time.Now().After(deadline) })
	require.NoError(t, p.Process.Signal(syscall.SIGCONT))
	code := p.end(t)
	if ended.After(deadline.Add(-hold / 2)) {
		return false // it was perhaps stopped
	}
	assert.Equal(t, 5, code)
	assert.Equal(t, outcomeCompleted, p.readReport(t).Outcome)
	return true
}

// TestRun_ProcessLeftGroup_Stopped: what the command leaves behind ends with it,
// wherever it has gone.
func TestRun_ProcessLeftGroup_Stopped(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"session":     `setsid sleep 1000 & echo ready; exit 3`,
		"double fork": `(setsid sh -c '(sleep 1000 &)' &); echo ready; exit 3`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket := runSocket(t)
			granting(testGrant(time.Hour)).listen(t, socket)
			p := startRun(t, socket, "ftp", "-c", script)
			p.expect(t, "ready")
			assert.Equal(t, 3, p.end(t))
			p.expectAllDead(t)
		})
	}
}

// TestRun_KilledWithAGuard_CommandStopped: runner and one guard die at the same
// moment, and the daemon too.
func TestRun_KilledWithAGuard_CommandStopped(t *testing.T) {
	t.Parallel()
	for guard := range 2 {
		t.Run(strconv.Itoa(guard), func(t *testing.T) {
			socket := runSocket(t)
			stop := granting(testGrant(time.Hour)).listen(t, socket)
			p := startRun(t, socket, "ftp", "--grace", "10ms", "-c", `trap '' TERM; setsid sleep 1000 & echo ready; wait; sleep 1000`)
			p.expect(t, "ready")
			guards := guardsOf(p.Process.Pid)
			require.Len(t, guards, 2)
			stop()
			require.NoError(t, p.Process.Kill())
			require.NoError(t, syscall.Kill(guards[guard], syscall.SIGKILL))
			p.expectAllDead(t)
			_ = p.Wait()
		})
	}
}

// TestRun_GuardsKilled_ExitsWith76: nobody would enforce the deadline if the
// runner died, too.
func TestRun_GuardsKilled_ExitsWith76(t *testing.T) {
	t.Parallel()
	socket := runSocket(t)
	granting(testGrant(time.Hour)).listen(t, socket)
	p := startRun(t, socket, "ftp", "-c", `setsid sleep 1000 & echo ready; wait; sleep 1000`)
	p.expect(t, "ready")
	for _, g := range guardsOf(p.Process.Pid) {
		require.NoError(t, syscall.Kill(g, syscall.SIGKILL))
	}
	p.expectAllDead(t)
	assert.Equal(t, cli.ExitLost, p.end(t))
	assert.Contains(t, p.stderr.String(), "error: the guards of the command were killed")
	assert.Equal(t, outcomeUnguarded, p.readReport(t).Outcome)
}
