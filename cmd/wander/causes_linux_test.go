package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/wandertoken/wander/cmd/internal/cli"
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

// A daemon whose disk refuses a write ends, and status says why. The limit on the size of its files is such a disk: its last word, which has its
// room already, still gets there.
func TestStatus_JournalFails_LastWordShown(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	m := c.join("m1")
	state := filepath.Join(c.dir, "m1", "state")
	await.Until(t, "programs run", func() bool {
		info, err := os.Stat(filepath.Join(state, "ended.json"))
		st, failed := m.client.Status(t.Context())
		return err == nil && failed == nil && st.Resources[0].Slots[0].Operations > 3 && st.Journal.Bytes > info.Size()
	})
	info, err := os.Stat(filepath.Join(state, "ended.json"))
	require.NoError(t, err)
	size := uint64(info.Size())
	require.NoError(t, unix.Prlimit(m.process.Process.Pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: size, Max: size}, nil))
	c.end(m)
	line, code := firstLine(filepath.Join(state, api.SocketName))
	assert.Regexp(t, `^wander: the daemon ended at .*file too large \[journal_failed\]$`, line)
	assert.Equal(t, cli.ExitUnavailable, code)
}

// A daemon whose disk is full ends, and status says why: the disk is a small one of its own, and another program fills it.
func TestStatus_DiskFull_LastWordShown(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	state := filepath.Join(c.dir, "m1", "state")
	require.NoError(t, os.MkdirAll(state, 0o700))
	if err := unix.Mount("tmpfs", state, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=8m,mode=0700"); err != nil {
		t.Skipf("a disk of its own needs root: %v", err)
	}
	t.Cleanup(func() { assert.NoError(t, unix.Unmount(state, unix.MNT_DETACH)) })
	m := c.join("m1")
	await.Until(t, "programs run", func() bool {
		st, failed := m.client.Status(t.Context())
		return failed == nil && st.Resources[0].Slots[0].Operations > 3
	})
	fill, err := os.Create(filepath.Join(state, "fill"))
	require.NoError(t, err)
	defer fill.Close()
	for block := make([]byte, 4096); err == nil; {
		_, err = fill.Write(block)
	}
	require.ErrorIs(t, err, unix.ENOSPC)
	full := time.Now()
	c.end(m)
	line, code := firstLine(filepath.Join(state, api.SocketName))
	t.Logf("%-16s %5.2f s  %s", "disk_full", time.Since(full).Seconds(), line)
	assert.Regexp(t, `^wander: the daemon ended at .*: the disk of its journal is full: .*no space left on device \[disk_full\]$`, line)
	assert.Equal(t, cli.ExitUnavailable, code)
}
