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
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// gateArg, as the first of two arguments, makes this program a gate; the second
// one names the descriptor of its socket.
const gateArg = "__gate"

// shell runs scripts without a first line that names an interpreter, as execvp
// does.
const shell = "/bin/sh"

// gate is the command's process before it becomes the command: it waits for a
// word from the runner, and ends when the runner dies without one. So there is
// no moment at which the command runs and nobody guards it.
type gate struct {
	pid  int
	fd   int // a pidfd, or -1
	conn *net.UnixConn
}

// gateOrder is what a gate becomes: one JSON object in one line. Its answer is
// the number of the system's error, or nothing.
type gateOrder struct {
	Path string   `json:"path"`
	Args []string `json:"args"`
	Env  []string `json:"env"`
}

// startGate starts a process with the command's streams in a group of its own.
func startGate(c Command) (*gate, error) {
	path, err := selfPath()
	if err != nil {
		return nil, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	if c.Stdin == nil {
		c.Stdin = null
	}
	mine, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	files := append([]uintptr{c.Stdin.Fd(), c.Stdout.Fd(), c.Stderr.Fd()}, inheritedTable()...)
	args := []string{os.Args[0], gateArg, strconv.Itoa(len(files))}
	g := &gate{fd: -1, conn: mine}
	g.pid, err = syscall.ForkExec(path, args, &syscall.ProcAttr{
		Env: []string{"GOMAXPROCS=1"}, Files: append(files, theirs.Fd()), Sys: attributes(&g.fd),
	})
	if err != nil {
		mine.Close()
		return nil, err
	}
	return g, nil
}

// open makes the gate the command. The error is the system's reason why it
// could not become that; then the process has ended and is reaped.
func (g *gate) open(c Command) error {
	defer g.conn.Close()
	line, err := json.Marshal(gateOrder{c.Path, c.Args, c.Env})
	if err == nil {
		// One that was killed meanwhile has ended as the command would have.
		_, _ = g.conn.Write(append(line, '\n'))
	}
	answer, _ := io.ReadAll(g.conn)
	number, err := strconv.Atoi(string(answer))
	if err != nil {
		return nil // it became the command, which has no socket
	}
	for {
		if _, err := unix.Wait4(g.pid, nil, 0, nil); !errors.Is(err, unix.EINTR) {
			return &os.PathError{Op: "exec", Path: c.Path, Err: syscall.Errno(number)}
		}
	}
}

// standAtGate is the gate from the inside.
func standAtGate(number string) error {
	fd, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	unix.CloseOnExec(fd)
	socket := os.NewFile(uintptr(fd), "gate")
	line, err := bufio.NewReader(socket).ReadBytes('\n')
	var o gateOrder
	if err != nil || json.Unmarshal(line, &o) != nil {
		return nil // the runner has died
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
			table = append(table, ^uintptr(0)) // nothing
		}
		table = append(table, uintptr(fd))
	}
	return table
}

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
