package supervise

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// console is a terminal with a shell on it, whose script starts runners as
// "$run".
type console struct {
	master *os.File
	lines  *bufio.Scanner
	shell  *exec.Cmd
}

func newConsole(t *testing.T, text string) *console {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { master.Close() })
	raw, err := master.SyscallConn()
	require.NoError(t, err)
	var number int
	require.NoError(t, raw.Control(func(fd uintptr) {
		require.NoError(t, unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0))
		number, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		require.NoError(t, err)
		modes, err := unix.IoctlGetTermios(int(fd), unix.TCGETS)
		require.NoError(t, err)
		modes.Lflag &^= unix.ECHO
		modes.Oflag &^= unix.OPOST
		require.NoError(t, unix.IoctlSetTermios(int(fd), unix.TCSETS, modes))
	}))
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	defer slave.Close()
	self, err := os.Executable()
	require.NoError(t, err)
	c := &console{master: master, lines: bufio.NewScanner(master), shell: exec.Command("/bin/sh", "-c", text)}
	c.shell.Env = append(os.Environ(), "run=env "+runnerVariable+"=1h "+self)
	c.shell.Stdin, c.shell.Stdout, c.shell.Stderr = slave, slave, slave
	c.shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, c.shell.Start())
	return c
}

func (c *console) expect(t *testing.T, lines ...string) {
	t.Helper()
	require.NoError(t, c.master.SetReadDeadline(time.Now().Add(hang)))
	for _, line := range lines {
		require.True(t, c.lines.Scan(), "%q did not come: %v", line, c.lines.Err())
		require.Equal(t, line, strings.TrimSpace(c.lines.Text()))
	}
}

func (c *console) press(t *testing.T, keys string) {
	t.Helper()
	_, err := c.master.WriteString(keys)
	require.NoError(t, err)
}

func (c *console) end(t *testing.T) {
	t.Helper()
	require.NoError(t, c.shell.Wait())
}

const (
	ctrlC = "\x03"
	ctrlZ = "\x1a"
)

// inForeground is a shell's own view: proc(5), fields pgrp and tpgid.
const inForeground = `set -- $(cat /proc/$$/stat); [ "$5" = "$8" ] && echo foreground`

func TestTerminal_Command_LentAndReturned(t *testing.T) {
	c := newConsole(t, `
		$run /bin/sh -c '`+inForeground+`; read line; echo "got $line"'
		`+inForeground)
	c.expect(t, "foreground")
	c.press(t, "hello\n")
	c.expect(t, "got hello", "foreground")
	c.end(t)
}

func TestInterrupt_Terminal_CommandOnly(t *testing.T) {
	c := newConsole(t, `
		$run /bin/sh -c 'trap "echo int; exit 3" INT; echo ready; while :; do :; done'
		echo "status $?"; `+inForeground)
	c.expect(t, "ready")
	c.press(t, ctrlC)
	c.expect(t, "int", "status 3", "foreground")
	c.end(t)
}

func TestStop_Shell_Continues(t *testing.T) {
	c := newConsole(t, `
		set -m
		$run /bin/sh -c 'trap "echo continued" CONT; trap "echo int; exit 3" INT; echo ready; while :; do :; done'
		echo "stopped $?"
		fg >/dev/null
		echo "status $?"`)
	c.expect(t, "ready")
	c.press(t, ctrlZ)
	c.expect(t, fmt.Sprintf("stopped %d", 128+int(unix.SIGSTOP)), "continued")
	c.press(t, ctrlC)
	c.expect(t, "int", "status 3")
	c.end(t)
}

// TestStop_NoShell_Continues: nobody could continue it, so it goes on.
func TestStop_NoShell_Continues(t *testing.T) {
	c := newConsole(t, `exec $run /bin/sh -c 'trap "echo continued" CONT; trap "echo int; exit 0" INT; echo ready; while :; do :; done'`)
	c.expect(t, "ready")
	c.press(t, ctrlZ)
	c.expect(t, "continued")
	c.press(t, ctrlC)
	c.expect(t, "int")
	c.end(t)
}

// TestStop_Pipeline_AllStopped: the command is not in the terminal's foreground, but
// stops with its job.
func TestStop_Pipeline_AllStopped(t *testing.T) {
	c := newConsole(t, `
		set -m
		sleep 1000 | $run /bin/sh -c 'trap "echo continued" CONT; trap "echo int; exit 3" INT; echo ready; while :; do :; done'
		echo "stopped $?"
		fg >/dev/null
		echo "status $?"`)
	c.expect(t, "ready")
	c.press(t, ctrlZ)
	c.expect(t, fmt.Sprintf("stopped %d", 128+int(unix.SIGSTOP)), "continued")
	c.press(t, ctrlC)
	c.expect(t, "int", "status 3")
	c.end(t)
}

// TestTerminal_NotNeeded_NotLent: stdin is no terminal, but the command asks for it.
func TestTerminal_NotNeeded_NotLent(t *testing.T) {
	c := newConsole(t, `
		echo | $run /bin/sh -c 'echo ready; read line </dev/tty; echo "got $line"'
		`+inForeground)
	c.expect(t, "ready")
	c.press(t, "hello\n")
	c.expect(t, "got hello", "foreground")
	c.end(t)
}

func TestTerminal_ModesChanged_Restored(t *testing.T) {
	c := newConsole(t, `$run /bin/sh -c 'stty raw; echo raw; kill -KILL $$'; echo "status $?"; read line; echo "$line"`)
	c.expect(t, "raw", fmt.Sprintf("status %d", 128+int(unix.SIGKILL)))
	raw, err := c.master.SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Control(func(fd uintptr) {
		modes, err := unix.IoctlGetTermios(int(fd), unix.TCGETS)
		require.NoError(t, err)
		assert.NotZero(t, modes.Lflag&unix.ICANON)
	}))
	c.press(t, "bye\n")
	c.expect(t, "bye")
	c.end(t)
}

// TestTerminal_BackgroundJob_LeftAlone: the shell's own use goes on undisturbed.
func TestTerminal_BackgroundJob_LeftAlone(t *testing.T) {
	c := newConsole(t, `
		set -m
		$run /bin/sh -c 'echo ready; while :; do :; done' &
		read line
		echo "got $line"
		kill -TERM %1
		wait %1
		echo "status $?"`)
	c.expect(t, "ready")
	c.press(t, "hello\n")
	c.expect(t, "got hello")
	c.end(t)
}
