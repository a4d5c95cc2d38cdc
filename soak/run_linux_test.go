package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/internal/whole"
)

// asMain, in the environment, makes the tests' program this one.
const asMain = "SOAK_TEST_MAIN"

func TestMain(m *testing.M) {
	runInner()
	if os.Getenv(asMain) != "" {
		main()
		os.Exit(exitOK)
	}
	os.Exit(m.Run())
}

// running is a run that was started by a test.
type running struct {
	*testing.T
	dir    string
	cmd    *exec.Cmd
	exited chan struct{}
	said   strings.Builder
}

func startRun(t *testing.T, args ...string) *running {
	t.Helper()
	if testing.Short() {
		t.Skip("a run of real members takes more than ten seconds")
	}
	dir, err := os.MkdirTemp("", "soak-test-") // a name that is short enough for sockets
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	r := &running{T: t, dir: filepath.Join(dir, "run"), exited: make(chan struct{})}
	r.cmd = exec.Command("/proc/self/exe", append(args, "-out", r.dir)...)
	r.cmd.Env = append(os.Environ(), asMain+"=1")
	r.cmd.Stdout, r.cmd.Stderr = &r.said, &r.said
	require.NoError(t, r.cmd.Start())
	go func() {
		_ = r.cmd.Wait()
		close(r.exited)
	}()
	t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		<-r.exited
	})
	return r
}

// end waits for the end. A machine that cannot run it skips the test.
func (r *running) end() (said string, code int) {
	<-r.exited
	if code = r.cmd.ProcessState.ExitCode(); code == exitUnsupported {
		r.Skipf("it takes root, or namespaces and /dev/net/tun: %s", r.said.String())
	}
	return r.said.String(), code
}

// ran reports whether a program has ended, or the run.
func (r *running) ran() bool {
	select {
	case <-r.exited:
		return true
	default:
		text, _ := os.ReadFile(filepath.Join(r.dir, eventsFile))
		return strings.Contains(string(text), `"run"`)
	}
}

// TestVotes_CutAndFrozen_NoTwoPrograms: real members, a holder that is cut off, and one whose
// daemon is frozen, by what the programs wrote themselves. Where no votes are needed the same
// faults have two run at once.
func TestVotes_CutAndFrozen_NoTwoPrograms(t *testing.T) {
	whole.Only(t)
	said, code := startRun(t, "-plan", "votes", "-members", "5", "-for", "26s", "-silence", "1s").end()
	assert.Equal(t, exitOK, code, said)
	assert.Contains(t, said, "cut 1, pause 1,", "both faults have hit somebody")
}

// TestRun_Interrupted_JudgedUntilThen: a run that is told to end has a report of what it saw.
func TestRun_Interrupted_JudgedUntilThen(t *testing.T) {
	r := startRun(t, "-plan", "calm", "-members", "2", "-for", "10m")
	await.Until(t, "a program runs", r.ran)
	_ = r.cmd.Process.Signal(os.Interrupt)
	said, code := r.end()
	assert.Equal(t, exitInterrupted, code, said)
	text, err := os.ReadFile(filepath.Join(r.dir, reportFile))
	require.NoError(t, err, said)
	var told report
	require.NoError(t, json.Unmarshal(text, &told))
	assert.NotEmpty(t, told.Verdicts)
	after, err := time.ParseDuration(told.After)
	require.NoError(t, err)
	assert.Less(t, after, 10*time.Minute)
}
