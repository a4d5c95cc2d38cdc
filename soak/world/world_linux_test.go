package world_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/soak/world"
)

// inside, in the environment, means that the tests run within the namespaces.
const inside = "SOAK_TEST_INSIDE"

// The programs of the machines are this one, too.
func TestMain(m *testing.M) {
	world.RunFirst()
	switch {
	case len(os.Args) == 2 && os.Args[1] == "__echo":
		echo()
	case len(os.Args) == 3 && os.Args[1] == "__ask":
		ask(os.Args[2])
	case len(os.Args) == 2 && os.Args[1] == "__orphan": // leaves a process of its own session behind
		cmd := exec.Command("/proc/self/exe", "__echo")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if cmd.Start() != nil {
			os.Exit(1)
		}
	default:
		os.Exit(m.Run())
	}
	os.Exit(0)
}

const port = ":4000"

// echo sends back whatever comes.
func echo() {
	conn, err := net.ListenPacket("udp", port)
	if err != nil {
		os.Exit(1)
	}
	for b := make([]byte, 100); ; {
		if n, from, err := conn.ReadFrom(b); err == nil {
			_, _ = conn.WriteTo(b[:n], from)
		}
	}
}

// Exit codes of ask, besides 0.
const (
	silent  = 3 // nothing came back
	refused = 4 // the system said that nobody is there
)

// ask sends until something comes back.
func ask(address string) {
	conn, err := net.Dial("udp", address+port)
	if err != nil {
		os.Exit(1)
	}
	for range 5 {
		if _, err := conn.Write([]byte("there?")); err != nil {
			continue
		}
		_ = conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
		_, err := conn.Read(make([]byte, 100))
		if err == nil {
			os.Exit(0)
		}
		if errors.Is(err, syscall.ECONNREFUSED) {
			os.Exit(refused)
		}
	}
	os.Exit(silent)
}

// TestEnter_Tests_RunInside runs the tests of the machines, within namespaces.
func TestEnter_Tests_RunInside(t *testing.T) {
	if os.Getenv(inside) != "" {
		t.Skip("inside already")
	}
	t.Setenv(inside, "1")
	which := "-test.run=^TestWorld_"
	if os.Getenv(lastingDir) != "" {
		which = "-test.run=^TestWorld_Lasting$"
	}
	code, err := world.Enter([]string{which})
	if errors.Is(err, world.ErrUnsupported) || code == world.UnsupportedCode {
		t.Skip("this machine permits no namespaces: ", err)
	}
	require.NoError(t, err)
	assert.Zero(t, code, "the tests within failed: see above")
}

// two are two machines, of which the second one answers.
func two(t *testing.T) (w *world.World, a, b *world.Machine) {
	if os.Getenv(inside) == "" {
		t.Skip("runs within namespaces: see TestEnter_Tests_RunInside")
	}
	w, err := world.New(t.TempDir(), []string{"a", "b"}, 1)
	require.NoError(t, err)
	t.Cleanup(w.Close)
	start(t, w.Machines[1])
	awaitReach(t, w.Machines[0], w.Machines[1], 0)
	return w, w.Machines[0], w.Machines[1]
}

func start(t *testing.T, m *world.Machine) { require.NoError(t, m.StartDaemon(self(t), "__echo")) }

func self(t *testing.T) string {
	name, err := os.Executable()
	require.NoError(t, err)
	return name
}

// reach is the exit code of ask.
func reach(t *testing.T, from, to *world.Machine) int {
	code, err := from.Run(io.Discard, func(int) {}, self(t), "__ask", to.Address)
	require.NoError(t, err)
	return code
}

// awaitReach waits for an exit code of ask: on a busy machine an answer may come
// too late for one.
func awaitReach(t *testing.T, from, to *world.Machine, code int) {
	t.Helper()
	await.Until(t, fmt.Sprintf("ask ends with %d", code), func() bool { return reach(t, from, to) == code })
}

func TestWorld_PathCut_SenderNotTold(t *testing.T) {
	w, a, b := two(t)
	w.Network.Set(0, 1, world.Path{Cut: true})
	assert.Equal(t, silent, reach(t, a, b))
	w.Network.Set(0, 1, world.Path{})
	awaitReach(t, a, b, 0)
	w.Network.Set(1, 0, world.Path{Loss: 1})
	assert.Equal(t, silent, reach(t, a, b))
	w.Network.Set(1, 0, world.Path{Delay: time.Millisecond})
	awaitReach(t, a, b, 0)
}

func TestWorld_DaemonKilled_MachineRefuses(t *testing.T) {
	_, a, b := two(t)
	b.Kill()
	assert.False(t, b.Up())
	awaitReach(t, a, b, refused) // the machine is there, the daemon is not
	assert.Empty(t, b.Died(), "it was killed on purpose")
	start(t, b)
	awaitReach(t, a, b, 0)
}

func TestWorld_DaemonEnds_Noted(t *testing.T) {
	_, a, _ := two(t)
	require.NoError(t, a.StartDaemon(self(t), "__ask", "10.83.0.200"))
	await.Until(t, "it has ended", func() bool { return len(a.Died()) == 1 })
	assert.Contains(t, a.Died()[0], fmt.Sprint(silent))
}

func TestWorld_Frozen_SilentUntilThawed(t *testing.T) {
	_, a, b := two(t)
	b.Freeze()
	assert.Equal(t, silent, reach(t, a, b))
	_, err := b.Run(io.Discard, func(int) {}, self(t), "__ask", a.Address)
	assert.ErrorIs(t, err, world.ErrOff)
	b.Thaw()
	awaitReach(t, a, b, 0)
}

// A process that is told to stop runs on until each of its threads gets a processor.
func TestWorld_Freeze_EachThreadStopped(t *testing.T) {
	_, _, b := two(t)
	pids := make(chan int, 1)
	go func() {
		_, _ = b.Run(io.Discard, func(pid int) { pids <- pid }, "/bin/sh", "-c", "while :; do :; done")
	}()
	threads := fmt.Sprintf("/proc/%d/task/*/stat", await.Next(t, "its start", pids))
	for range 20 {
		b.Freeze()
		names, err := filepath.Glob(threads)
		require.NoError(t, err)
		require.NotEmpty(t, names)
		for _, name := range names {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			require.Contains(t, string(text), ") T ")
		}
		b.Thaw()
	}
}

func TestWorld_PowerOff_NothingRunsThere(t *testing.T) {
	_, a, b := two(t)
	b.Stop()
	code, err := b.Run(io.Discard, func(int) {}, self(t), "__orphan")
	require.NoError(t, err)
	require.Zero(t, code)
	awaitReach(t, a, b, 0)
	b.PowerOff()
	assert.Equal(t, silent, reach(t, a, b), "nor does the machine answer")
	assert.ErrorIs(t, b.StartDaemon(self(t), "__echo"), world.ErrOff)
	b.PowerOn()
	start(t, b)
	awaitReach(t, a, b, 0)
}

func TestWorld_DiskFilled_WritesFail(t *testing.T) {
	_, a, _ := two(t)
	require.NoError(t, a.MountState(1<<20))
	file := filepath.Join(a.Dir, "state", "x")
	require.NoError(t, a.Fill())
	assert.ErrorIs(t, os.WriteFile(file, make([]byte, 100), 0o600), syscall.ENOSPC)
	require.NoError(t, a.Empty())
	assert.NoError(t, os.WriteFile(file, make([]byte, 100), 0o600))
}

// When the caller of Enter is killed, nothing of what ran within is left.
func TestEnter_CallerKilled_NothingLeft(t *testing.T) {
	if os.Getenv(inside) != "" {
		t.Skip("inside already")
	}
	dir := t.TempDir()
	cmd := exec.Command(self(t), "-test.run=^TestEnter_Tests_RunInside$")
	cmd.Env = append(os.Environ(), lastingDir+"="+dir)
	require.NoError(t, cmd.Start())
	note := filepath.Join(dir, "inside")
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var pid string
	await.Until(t, "the orphan is there, or the machine permits no namespaces", func() bool {
		if len(ended) > 0 {
			return true
		}
		text, _ := os.ReadFile(note)
		pid = strings.TrimSpace(string(text))
		return pid != ""
	})
	if pid == "" {
		t.Skip("this machine permits no namespaces")
	}
	require.NoError(t, cmd.Process.Kill())
	<-ended
	await.Until(t, "the namespace has ended", func() bool {
		found, _ := filepath.Glob("/proc/[0-9]*/ns/pid")
		for _, name := range found {
			if id, err := os.Readlink(name); err == nil && id == pid {
				return false
			}
		}
		return true
	})
}

// lastingDir, in the environment, makes TestWorld_Lasting last.
const lastingDir = "SOAK_TEST_LASTING"

func TestWorld_Lasting(t *testing.T) {
	dir := os.Getenv(lastingDir)
	if dir == "" {
		t.Skip("for TestEnter_CallerKilled_NothingLeft")
	}
	_, _, b := two(t)
	code, err := b.Run(io.Discard, func(int) {}, self(t), "__orphan")
	require.NoError(t, err)
	require.Zero(t, code)
	id, err := os.Readlink("/proc/self/ns/pid")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "inside"), []byte(id), 0o600))
	time.Sleep(time.Hour) // until it is killed
}
