//go:build unix

package supervise

import (
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/protocol/clock"
)

// startRunner runs the script under a runner of its own, as `wander run` does.
func startRunner(t *testing.T, s *script, grace string, env ...string) *os.Process {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer null.Close()
	p, err := os.StartProcess(self, append([]string{self, s.command.Path}, s.command.Args[1:]...), &os.ProcAttr{
		Env:   append(append(os.Environ(), runnerVariable+"="+grace), env...),
		Files: []*os.File{null, s.streams.Stdout, os.Stderr},
	})
	require.NoError(t, err)
	s.streams.Stdout.Close()
	return p
}

// TestRunnerKilled is the case that the guard exists for.
func TestRunnerKilled(t *testing.T) {
	for name, c := range map[string]struct {
		text, grace string
		says        []string
	}{
		"polite": {`trap 'echo term; exit' TERM; ` + waitTerm, "1h", []string{"term"}},
		"deaf":   {deaf, "50ms", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, c.text)
			runner := startRunner(t, s, c.grace)
			s.expect(t, "ready")
			require.NoError(t, runner.Kill())
			_, err := runner.Wait()
			require.NoError(t, err)
			for _, line := range c.says {
				s.expect(t, line)
			}
			s.expectAllDead(t)
		})
	}
}

func TestStartGuard_NotReadyInTime_NothingRuns(t *testing.T) {
	s := newScript(t, `echo ran`)
	_, err := StartGuard(s.streams, -time.Nanosecond)
	require.ErrorIs(t, err, ErrGuard)
	require.ErrorIs(t, err, ErrReady)
	s.started()
	s.expectAllDead(t)
}

func TestRunner_CommandEnds_Ends(t *testing.T) {
	s := newScript(t, `echo hello; exit 9`)
	state, err := startRunner(t, s, "1s").Wait()
	require.NoError(t, err)
	assert.Equal(t, 9, state.ExitCode())
	s.expect(t, "hello")
	s.expectAllDead(t) // the guard does not hold the pipe
}

// watchOver starts a script whose guards get the order of a runner that is stuck
// from then on.
func watchOver(t *testing.T, text string, o order) (*script, *Guard) {
	t.Helper()
	s := newScript(t, text)
	g := s.guard(t)
	g.tell(o)
	require.NoError(t, openGate(g.gate, s.command, clock.Never))
	return s, g
}

// report is the next thing that the guards tell of the command.
func report(t *testing.T, g *Guard) event {
	t.Helper()
	return await.Next(t, "a report", g.events)
}

func TestGuard_Deadline_Kills(t *testing.T) {
	s, g := watchOver(t, deaf, order{Deadline: clock.Never})
	s.expect(t, "ready")
	g.tell(order{Deadline: boottime.Now(), Terminated: true})
	var e event
	for !e.Gone {
		e = report(t, g)
		if e.Ended {
			assert.Equal(t, syscall.SIGKILL, e.Signal)
		}
	}
	s.expectAllDead(t)
}

func TestGuard_WithinGrace_TerminatesAndSaysSo(t *testing.T) {
	const grace = 4 * time.Hour
	s, g := watchOver(t, `trap 'echo term; exit 0' TERM; `+waitTerm, order{Deadline: clock.Never})
	s.expect(t, "ready")
	g.tell(order{Deadline: boottime.Now().Add(grace - grace/lag), Grace: grace})
	s.expect(t, "term")
	assert.Equal(t, event{Stopping: true}, report(t, g))
	assert.Equal(t, event{Ended: true, Gone: true}, report(t, g))
}

// TestGuard_NoRunner_LeavesNothingBehind: guards and gate go when the runner has
// gone before there was anything to guard.
func TestGuard_NoRunner_LeavesNothingBehind(t *testing.T) {
	s := newScript(t, "echo alive")
	g, err := StartGuard(s.streams, ReadyTimeout)
	require.NoError(t, err)
	s.started()
	roots := g.tree.roots
	close(g.quit)
	for _, conn := range []*net.UnixConn{g.gate, g.source, g.orders[0], g.orders[1]} {
		require.NoError(t, conn.Close())
	}
	s.expectAllDead(t)
	_, err = syscall.Wait4(g.pid, nil, 0, nil)
	require.NoError(t, err)
	for _, r := range roots {
		assert.NotEqual(t, r, identityOf(r.PID))
	}
}

// TestGuard_Streams_NotHeld: a program that waits for the end of the command's
// output does not wait for a guard that is frozen.
func TestGuard_Streams_NotHeld(t *testing.T) {
	s, g := watchOver(t, `exit 3`, order{Deadline: clock.Never})
	for _, r := range g.tree.roots {
		require.NoError(t, syscall.Kill(r.PID, syscall.SIGSTOP))
		defer syscall.Kill(r.PID, syscall.SIGCONT)
	}
	s.expectAllDead(t)
}

// TestInheritedDescriptors: the command finds what its caller opened for it, and
// nothing else, so make's job server works across a run.
func TestInheritedDescriptors(t *testing.T) {
	s := newScript(t, `
		for fd in 3 4 5 6 7 8 9; do (echo "open: $fd" >&$fd) 2>/dev/null; done; exit 0`)
	self, err := os.Executable()
	require.NoError(t, err)
	none := ^uintptr(0)
	out := s.streams.Stdout.Fd()
	pid, err := syscall.ForkExec(self, append([]string{self, s.command.Path}, s.command.Args[1:]...), &syscall.ProcAttr{
		Env:   append(os.Environ(), runnerVariable+"=1s"),
		Files: []uintptr{out, out, os.Stderr.Fd(), out, none, none, none, out},
	})
	require.NoError(t, err)
	s.started()
	s.expect(t, "open: 3")
	s.expect(t, "open: 7")
	s.expectAllDead(t)
	_, err = syscall.Wait4(pid, nil, 0, nil)
	require.NoError(t, err)
}

// A gate that was frozen over the deadline executes nothing, whatever its guards do.
func TestGate_DeadlinePast_NotExecuted(t *testing.T) {
	s := newScript(t, `echo ran`)
	g := s.guard(t)
	require.ErrorIs(t, openGate(g.gate, s.command, boottime.Now()), ErrLate)
	g.Close()
	s.expectAllDead(t)
}
