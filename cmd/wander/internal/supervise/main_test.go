//go:build unix

package supervise

import (
	"bufio"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/internal/unignore"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/protocol/clock"
)

// hang bounds tests that would otherwise wait without end. Nothing is measured
// against it.
const hang = 3 * time.Minute

// runnerVariable makes the test program a runner: it runs its arguments as a
// command, with the variable's value as the grace.
const runnerVariable = "WANDER_TEST_RUNNER"

// holdVariable and cgroupVariable tell that runner how long its grant is, and
// whether its guards may make a cgroup.
const (
	holdVariable   = "WANDER_TEST_HOLD"
	cgroupVariable = "WANDER_TEST_CGROUP"
)

// Exit codes of that runner for a command that was stopped.
const (
	codeDeadline  = 76
	codeUnguarded = 78
)

func TestMain(m *testing.M) {
	if os.Getenv(cgroupVariable) == "false" {
		withoutCgroups()
	}
	RunGuard()
	if grace, ok := os.LookupEnv(runnerVariable); ok {
		runAsRunner(grace)
	}
	unignore.ForChildren()
	os.Exit(m.Run())
}

func runAsRunner(grace string) {
	os.Unsetenv(runnerVariable)
	hold := time.Hour
	if text, ok := os.LookupEnv(holdVariable); ok {
		var err error
		hold, err = time.ParseDuration(text)
		must(err)
	}
	Adopt()
	guard, err := StartGuard(Streams{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}, ReadyTimeout)
	must(err)
	d, err := time.ParseDuration(grace)
	must(err)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT)
	result, err := Run(Command{Path: os.Args[1], Args: os.Args[1:], Env: os.Environ()}, guard, Options{Deadline: boottime.Now().Add(hold), Grace: d, Signals: signals})
	must(err)
	guard.Close()
	switch result.Stopped {
	case ByDeadline:
		os.Exit(codeDeadline)
	case ByGuard:
		os.Exit(codeUnguarded)
	}
	if result.Signal != 0 {
		os.Exit(128 + int(result.Signal))
	}
	os.Exit(result.Exit)
}

func must(err error) {
	if err != nil {
		io.WriteString(os.Stderr, err.Error()+"\n")
		os.Exit(99)
	}
}

// fakeClock goes on only when the test says so.
type fakeClock struct {
	mu     sync.Mutex
	at     clock.Instant
	alarms map[chan struct{}]clock.Instant
}

func newFakeClock() *fakeClock {
	return &fakeClock{alarms: make(map[chan struct{}]clock.Instant)}
}

func (f *fakeClock) hook() *testClock { return &testClock{now: f.now, alarm: f.alarm} }

func (f *fakeClock) now() clock.Instant {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at
}

func (f *fakeClock) alarm(at clock.Instant) (<-chan struct{}, func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := make(chan struct{})
	f.alarms[c] = at
	f.ring()
	return c, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.alarms, c)
	}
}

func (f *fakeClock) advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at = f.at.Add(d)
	f.ring()
}

func (f *fakeClock) ring() {
	for c, at := range f.alarms {
		if !f.at.Before(at) {
			close(c)
			delete(f.alarms, c)
		}
	}
}

// waitForAlarm waits until an alarm is set for the instant.
func (f *fakeClock) waitForAlarm(t *testing.T, at clock.Instant) {
	t.Helper()
	await.Until(t, "the alarm is set", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, a := range f.alarms {
			if a == at {
				return true
			}
		}
		return false
	})
}

// script is a shell script whose processes hold its standard output: reading
// that to its end means that all of them have died.
type script struct {
	command Command
	streams Streams
	lines   *bufio.Scanner
	read    *os.File
	write   *os.File
}

func newScript(t *testing.T, text string) *script {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { r.Close(); w.Close() })
	return &script{
		command: Command{Path: "/bin/sh", Args: []string{"sh", "-c", text}, Env: os.Environ()},
		streams: Streams{Stdout: w, Stderr: os.Stderr},
		lines:   bufio.NewScanner(r), read: r, write: w,
	}
}

// started closes the test's own end for writing.
func (s *script) started() { s.write.Close() }

func (s *script) expect(t *testing.T, line string) {
	t.Helper()
	require.NoError(t, s.read.SetReadDeadline(time.Now().Add(hang)))
	require.True(t, s.lines.Scan(), "%q did not come: %v", line, s.lines.Err())
	require.Equal(t, line, s.lines.Text())
}

func (s *script) expectAllDead(t *testing.T) {
	t.Helper()
	require.NoError(t, s.read.SetReadDeadline(time.Now().Add(hang)))
	for s.lines.Scan() {
		assert.Fail(t, "unexpected output", s.lines.Text())
	}
	require.NoError(t, s.lines.Err(), "a process still holds the pipe")
}

// ended is how a call of Run ended, without when the command was seen running: that
// depends on how busy the machine is.
type ended struct {
	result Result
	err    error
}

// run calls Run in the background.
func (s *script) run(t *testing.T, o Options) <-chan ended {
	t.Helper()
	return s.runUnder(s.guard(t), o)
}

// guard starts the script's guards.
func (s *script) guard(t *testing.T) *Guard {
	t.Helper()
	g, err := StartGuard(s.streams, ReadyTimeout)
	require.NoError(t, err)
	t.Cleanup(g.Close)
	s.started()
	return g
}

func (s *script) runUnder(g *Guard, o Options) <-chan ended {
	done := make(chan ended, 1)
	go func() {
		result, err := Run(s.command, g, o)
		result.SeenFrom, result.SeenTo = 0, 0
		done <- ended{result, err}
	}()
	return done
}
