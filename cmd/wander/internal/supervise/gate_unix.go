//go:build unix

package supervise

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/protocol/clock"
)

// shell runs scripts without a first line that names an interpreter, as execvp
// does.
const shell = "/bin/sh"

// late is a gate's answer when the deadline has come before it could execute.
const late = "late"

// gateOrder is what a gate becomes: one JSON object in one line. Its answer is
// the number of the system's error, late, or nothing.
type gateOrder struct {
	Path     string        `json:"path"`
	Args     []string      `json:"args"`
	Env      []string      `json:"env"`
	Deadline clock.Instant `json:"deadline"` // from which on it executes nothing
}

// openGate makes the gate at the other end the command. The error is ErrLate, or the
// system's reason why it could not become that; then its process has ended.
func openGate(gate *net.UnixConn, c Command, deadline clock.Instant) error {
	defer gate.Close()
	line, err := json.Marshal(gateOrder{c.Path, c.Args, c.Env, deadline})
	if err == nil {
		// One that was killed meanwhile has ended as the command would have.
		_, _ = gate.Write(append(line, '\n'))
	}
	answer, _ := io.ReadAll(gate)
	if string(answer) == late {
		return ErrLate
	}
	number, err := strconv.Atoi(string(answer))
	if err != nil {
		return nil // it became the command, which has no socket
	}
	return &os.PathError{Op: "exec", Path: c.Path, Err: syscall.Errno(number)}
}

// standAtGate is the gate from the inside: it becomes the command when the
// runner says so, and ends when the runner dies without a word.
func standAtGate(fd int) error {
	unix.CloseOnExec(fd)
	socket := os.NewFile(uintptr(fd), "gate")
	line, err := bufio.NewReader(socket).ReadBytes('\n')
	var o gateOrder
	if err != nil || json.Unmarshal(line, &o) != nil {
		return nil // the runner has died
	}
	runtime.LockOSThread()
	dieWithParent()
	if boottime.Now() >= o.Deadline { // it was frozen, or the machine suspended
		_, err = fmt.Fprint(socket, late)
		return err
	}
	err = syscall.Exec(o.Path, o.Args, o.Env)
	if errors.Is(err, syscall.ENOEXEC) {
		err = syscall.Exec(shell, append([]string{shell, o.Path}, o.Args[1:]...), o.Env)
	}
	var reason syscall.Errno
	errors.As(err, &reason)
	_, err = fmt.Fprint(socket, int(reason))
	return err
}

// inherited are the descriptors behind the three streams with which the program
// was started, in rising order: those of make's job server, for example.
// RunGuard finds them before the program opens any itself.
var inherited []int

// inheritedTable is what stands behind the three streams in the command's table
// of descriptors: what this program inherited and has not kept for itself since,
// under the same numbers.
func inheritedTable() []uintptr {
	var table []uintptr
	for _, fd := range inherited {
		if !staysOnExec(fd) {
			continue
		}
		for len(table) < fd-3 {
			table = append(table, noFile)
		}
		table = append(table, uintptr(fd))
	}
	return table
}

// noFile is a place in a table of descriptors that stays empty.
const noFile = ^uintptr(0)

func findInherited() []int {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return nil
	}
	var found []int
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 && staysOnExec(fd) {
			found = append(found, fd)
		}
	}
	slices.Sort(found)
	return found
}

// staysOnExec reports whether the descriptor is open and stays so on exec, which
// none does that Go has opened.
func staysOnExec(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	return err == nil && flags&unix.FD_CLOEXEC == 0
}

// socketPair returns two connected sockets that close on exec.
func socketPair() (*net.UnixConn, *os.File, error) {
	syscall.ForkLock.RLock()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	file := os.NewFile(uintptr(fds[0]), "supervise")
	defer file.Close()
	theirs := os.NewFile(uintptr(fds[1]), "supervise")
	conn, err := net.FileConn(file)
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return conn.(*net.UnixConn), theirs, nil
}
