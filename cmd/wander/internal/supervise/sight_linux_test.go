package supervise

import (
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/wandertoken/wander/protocol/clock"
)

// A command that has ended does not count as running, whether or not it was
// reaped.
func TestProcess_Ended_NotRunning(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	p := &process{tree: &tree{leader: identityOf(cmd.Process.Pid)}}
	assert.True(t, p.running())
	require.NoError(t, cmd.Process.Signal(syscall.SIGSTOP))
	assert.True(t, p.running(), "a stopped command has not ended")
	require.NoError(t, cmd.Process.Signal(syscall.SIGCONT))
	require.NoError(t, in.Close())
	var info unix.Siginfo // waits for the end and does not reap
	require.NoError(t, unix.Waitid(unix.P_PID, cmd.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil))
	assert.False(t, p.running())
	require.NoError(t, cmd.Wait())
	assert.False(t, p.running())
}

// A look counts by the time before it, and only if it finds the command running:
// whoever looks may have been suspended in between.
func TestWatchCommand_Looks_FirstAndLast(t *testing.T) {
	for looks, want := range []sight{{}, {1, 1}, {1, 3}, {1, 5}} {
		ticks, now := make(chan time.Time, looks+1), clock.Instant(0)
		for range looks + 1 {
			ticks <- time.Time{}
		}
		instant := func() clock.Instant { now++; return now }
		got := watchCommand(func() bool { return instant() <= clock.Instant(2*looks) }, instant, ticks, nil)
		assert.Equal(t, want, got, "%d looks find it running", looks)
	}
}
