package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node/api"
)

// A daemon that stood still knows so when it goes on, and status says it.
func TestStatus_DaemonStoodStill_LateNamed(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	m := c.join("m1")
	socket := filepath.Join(c.dir, "m1", "state", api.SocketName)
	await.Until(t, "the daemon is up", func() bool { line, _ := firstLine(socket); return strings.HasPrefix(line, "tape: ") })
	require.NoError(t, unix.Kill(m.process.Process.Pid, unix.SIGSTOP))
	time.Sleep(3 * time.Second) // that is the fault: longer than the daemon's beats are apart
	require.NoError(t, unix.Kill(m.process.Process.Pid, unix.SIGCONT))
	since, line := time.Now(), ""
	await.Until(t, "the cause late", func() bool {
		line, _ = firstLine(socket)
		return strings.HasSuffix(line, "[late]")
	})
	t.Logf("%-16s %5.2f s  %s", "late", time.Since(since).Seconds(), line)
}
