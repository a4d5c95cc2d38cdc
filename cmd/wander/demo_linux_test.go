package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/cmd/wander/internal/demo"
	"github.com/wandertoken/wander/internal/await"
)

// The members of a demo, and their operations, are this test program, too.
func init() {
	if len(os.Args) > 1 && (os.Args[1] == "node" || os.Args[1] == "pause") {
		main() // does not return
	}
}

// demoProcess is `wander demo` as a process of its own.
type demoProcess struct {
	*exec.Cmd
	dir    string
	output bytes.Buffer // to be read after Wait
}

func startDemo(t *testing.T, args ...string) *demoProcess {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "wander") // shorter than t.TempDir's
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	d := &demoProcess{dir: dir}
	d.Cmd = exec.Command(self, append([]string{"demo", "--members", "3", "--for", "1h", "--dir", dir}, args...)...)
	d.Env = append(os.Environ(), programVariable+"=1")
	d.Stdout, d.Stderr = &d.output, &d.output
	d.WaitDelay = runHang
	heed(t, syscall.SIGHUP)
	require.NoError(t, d.Start())
	t.Cleanup(func() { d.Process.Kill() })
	return d
}

// members waits until all members are up, and returns a descriptor for each of
// their processes, which becomes readable when the process has ended.
func (d *demoProcess) members(t *testing.T) (list []int) {
	t.Helper()
	for _, name := range []string{"m01", "m02", "m03"} {
		socket := filepath.Join(d.dir, name, "state", "wander.sock")
		var process int
		await.Until(t, name+" comes up", func() (up bool) {
			process, up = serverOf(socket)
			return up
		})
		fd, err := unix.PidfdOpen(process, 0)
		require.NoError(t, err)
		t.Cleanup(func() {
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
			unix.Close(fd)
		})
		list = append(list, fd)
	}
	return list
}

// serverOf is the process that listens on a socket.
func serverOf(socket string) (pid int, up bool) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, false
	}
	defer unix.Close(fd)
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: socket}); err != nil {
		return 0, false
	}
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, false
	}
	return int(peer.Pid), true
}

func awaitEnds(t *testing.T, members []int) {
	t.Helper()
	for _, fd := range members {
		ready, err := 0, error(unix.EINTR)
		for errors.Is(err, unix.EINTR) {
			ready, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(runHang.Milliseconds()))
		}
		require.NoError(t, err)
		require.Equal(t, 1, ready, "a member runs on")
	}
}

// TestDemo_Ended_NothingLeft: whatever ends a demo ends its members.
func TestDemo_Ended_NothingLeft(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		signal syscall.Signal
		code   int
	}{
		{syscall.SIGKILL, -1}, {syscall.SIGHUP, 0},
	} {
		t.Run(c.signal.String(), func(t *testing.T) {
			t.Parallel()
			d := startDemo(t)
			members := d.members(t)
			require.NoError(t, d.Process.Signal(c.signal))
			hangs := time.AfterFunc(runHang, func() { d.Process.Kill() })
			_ = d.Wait()
			require.True(t, hangs.Stop(), "the demo runs on")
			require.Equal(t, c.code, d.ProcessState.ExitCode(), "%s", d.output.String())
			awaitEnds(t, members)
		})
	}
}

// TestStopAfter: a node that stops with its input stops at once.
func TestStopAfter(t *testing.T) {
	in, out := io.Pipe()
	stop := make(chan os.Signal, 2)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		stopAfter(in, stop)
	}()
	_, err := out.Write([]byte("this is read and ignored"))
	require.NoError(t, err)
	require.Empty(t, stop)
	require.NoError(t, out.Close())
	<-ended
	require.Len(t, stop, 2)
}

// TestDemo_FolderNotWritable_Error: a summary that cannot be written is a failure.
func TestDemo_FolderNotWritable_Error(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			require.NoError(t, err)
			defer full.Close()
			var complaint bytes.Buffer
			env := &environment{Environment: cli.Environment{In: os.Stdin, Out: full, Err: &complaint, Getenv: os.Getenv, Now: time.Now}}
			code := run(env, []string{"demo", "--members", "2", "--for", "1ms", "--dir", t.TempDir(), "-o", format})
			require.Equal(t, cli.ExitFailure, code)
			require.Contains(t, complaint.String(), "no space left on device")
		})
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	require.ErrorIs(t, printSummary(full, demo.Summary{}), unix.ENOSPC)
}

// TestDemoSummary: nothing measured is a dash, and what has no token says so.
func TestDemoSummary(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, printSummary(&b, demo.Summary{Policy: "uncoordinated"}))
	require.Contains(t, b.String(), "handoff     p50 –, p99 – (")
	require.Contains(t, b.String(), "return      p50 –, p99 – (")
	require.Contains(t, b.String(), "no token travels")
	b.Reset()
	q := &demo.Quantiles{P50: 0.0012, P99: 2.345}
	require.NoError(t, printSummary(&b, demo.Summary{Policy: "wandering", HandoffSeconds: q, ReturnSeconds: q}))
	require.Contains(t, b.String(), "handoff     p50 1.2 ms, p99 2345.0 ms (")
	require.Contains(t, b.String(), "return      p50 0.00 s, p99 2.35 s (")
	require.NotContains(t, b.String(), "no token travels")
}

// TestDemo_Invalid_RefusedFirst: nothing is said before the options are known to be good.
func TestDemo_Invalid_RefusedFirst(t *testing.T) {
	b := newCABench(t)
	b.fails(cli.ExitUsage, "--dir /proc/x: ", "demo", "--dir", "/proc/x")
	require.Empty(t, b.out.String())
	b.fails(cli.ExitUsage, "write 10% or 0.1", "demo", "--loss", "10")
}
