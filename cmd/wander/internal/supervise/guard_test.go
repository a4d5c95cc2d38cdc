//go:build unix

package supervise

import (
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
func startRunner(t *testing.T, s *script, grace string) *os.Process {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer null.Close()
	p, err := os.StartProcess(self, append([]string{self, s.command.Path}, s.command.Args[1:]...), &os.ProcAttr{
		Env:   append(os.Environ(), runnerVariable+"="+grace),
		Files: []*os.File{null, s.command.Stdout, os.Stderr},
	})
	require.NoError(t, err)
	s.started()
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

func TestRunnerEndsWithItsCommand(t *testing.T) {
	s := newScript(t, `echo hello; exit 9`)
	state, err := startRunner(t, s, "1s").Wait()
	require.NoError(t, err)
	assert.Equal(t, 9, state.ExitCode())
	s.expect(t, "hello")
	s.expectAllDead(t) // the guard does not hold the pipe
}

// watchOver starts a script and tells a guard of it, as a runner would that is
// stuck from then on.
func watchOver(t *testing.T, g *Guard, text string, o order) (*script, *process) {
	t.Helper()
	s := newScript(t, text)
	p, err := launch(s.command, func(*process) {})
	require.NoError(t, err)
	t.Cleanup(p.close)
	s.started()
	s.expect(t, "ready")
	o.PID = p.pid
	require.NoError(t, g.tell(o, p))
	return s, p
}

func startGuardFor(t *testing.T) *Guard {
	t.Helper()
	g, err := StartGuard()
	require.NoError(t, err)
	t.Cleanup(g.Close)
	return g
}

func TestGuardKillsAtTheDeadline(t *testing.T) {
	g := startGuardFor(t)
	s, p := watchOver(t, g, deaf, order{Deadline: boottime.Now().Add(20 * time.Millisecond), Grace: 10 * time.Millisecond})
	s.expectAllDead(t)
	assert.Equal(t, syscall.SIGKILL, await.Next(t, "the end of it", p.events).signal)
}

func TestGuardTerminatesWithinTheGrace(t *testing.T) {
	g := startGuardFor(t)
	const grace = 4 * time.Hour
	s, p := watchOver(t, g, `trap 'echo term; exit 0' TERM; `+waitTerm, order{
		Deadline: boottime.Now().Add(grace - grace/lag), Grace: grace,
	})
	s.expect(t, "term")
	assert.True(t, await.Next(t, "the end of it", p.events).ended)
}

func TestGuardServesOneGroupAfterAnother(t *testing.T) {
	g := startGuardFor(t)
	for range 3 {
		s := newScript(t, "exit 1")
		e := await.Next(t, "the end of it", s.run(g, Options{Deadline: boottime.Now().Add(time.Hour)}))
		require.NoError(t, e.err)
		assert.Equal(t, Result{Exit: 1}, e.result)
	}
	s, p := watchOver(t, g, deaf, order{Deadline: boottime.Now()})
	s.expectAllDead(t)
	assert.Equal(t, syscall.SIGKILL, await.Next(t, "the end of it", p.events).signal)
}

func TestRunWithoutItsGuard(t *testing.T) {
	g := startGuardFor(t)
	require.NoError(t, syscall.Kill(g.pid, syscall.SIGKILL))
	require.NoError(t, g.conn.SetReadDeadline(time.Now().Add(hang)))
	_, err := g.conn.Read(make([]byte, 1))
	require.Error(t, err) // the guard's end is closed
	warnings := make(chan string, 1)
	c := newFakeClock()
	s := newScript(t, deaf)
	done := s.run(g, Options{
		Deadline: clock.Instant(time.Minute), clock: c.hook(), Warn: func(text string) { warnings <- text },
	})
	assert.Contains(t, await.Next(t, "the end of it", warnings), "guard")
	s.expect(t, "ready")
	c.advance(time.Minute)
	e := await.Next(t, "the end of it", done)
	require.NoError(t, e.err)
	assert.Equal(t, ByDeadline, e.result.Stopped)
	s.expectAllDead(t)
}

// TestGuardLeavesNothingBehind: it goes when the runner has gone, whether or
// not there is anything to guard.
func TestGuardLeavesNothingBehind(t *testing.T) {
	g, err := StartGuard()
	require.NoError(t, err)
	g.conn.Close()
	_, err = syscall.Wait4(g.pid, nil, 0, nil)
	require.NoError(t, err)
}

// TestGateWithoutARunner: what has not become the command when its runner dies
// never does.
func TestGateWithoutARunner(t *testing.T) {
	s := newScript(t, "echo alive")
	g, err := startGate(s.command)
	require.NoError(t, err)
	s.started()
	require.NoError(t, g.conn.Close())
	s.expectAllDead(t)
	var status syscall.WaitStatus
	_, err = syscall.Wait4(g.pid, &status, 0, nil)
	require.NoError(t, err)
	assert.True(t, status.Exited())
}

// TestInheritedDescriptors: the command finds what its caller opened for it, and
// nothing else, so make's job server works across a run.
func TestInheritedDescriptors(t *testing.T) {
	s := newScript(t, `
		for fd in 3 4 5 6 7 8 9; do (echo "open: $fd" >&$fd) 2>/dev/null; done; exit 0`)
	self, err := os.Executable()
	require.NoError(t, err)
	none := ^uintptr(0)
	out := s.command.Stdout.Fd()
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
