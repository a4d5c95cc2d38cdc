//go:build unix

package supervise

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// guardArg, as the only argument, makes this program a guard.
const guardArg = "__guard"

// guardSocket is the guard's descriptor of the socket.
const guardSocket = 3

// readyTimeout bounds a guard's start, which takes milliseconds on an idle
// machine.
const readyTimeout = 30 * time.Second

// ErrGuard says that no guard could be started.
var ErrGuard = errors.New("cannot start the guard")

// Guard is the runner's side of a guard.
type Guard struct {
	conn *net.UnixConn
	pid  int
	told int // the last order's group
}

// StartGuard starts a guard that has nothing to guard yet, and returns when it
// is ready. It goes away when this process ends.
func StartGuard() (*Guard, error) {
	g, err := startGuard()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrGuard, err)
	}
	if err := g.ready(); err != nil {
		g.Close()
		return nil, fmt.Errorf("%w: %w", ErrGuard, err)
	}
	return g, nil
}

func startGuard() (*Guard, error) {
	path, err := selfPath()
	if err != nil {
		return nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	mine, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	pid, err := syscall.ForkExec(path, []string{os.Args[0], guardArg}, &syscall.ProcAttr{
		Dir:   "/",                      // keeps no file system busy
		Env:   []string{"GOMAXPROCS=1"}, // it waits, nearly always
		Files: []uintptr{null.Fd(), null.Fd(), null.Fd(), theirs.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		mine.Close()
		return nil, err
	}
	return &Guard{conn: mine, pid: pid}, nil
}

// ready waits for the byte with which the guard says that it stands.
func (g *Guard) ready() error {
	if err := g.conn.SetReadDeadline(time.Now().Add(readyTimeout)); err != nil {
		return err
	}
	_, err := g.conn.Read(make([]byte, 1))
	return err
}

// tell sends an order. What is sent reaches the guard even if this process dies
// the moment after. A nil guard hears nothing.
func (g *Guard) tell(o order, p *process) error {
	if g == nil {
		return nil
	}
	line, err := json.Marshal(o)
	if err != nil {
		return err
	}
	var rights []byte
	if o.PID != 0 && o.PID != g.told && p.fd >= 0 {
		rights = unix.UnixRights(p.fd)
	}
	g.told = o.PID
	_, _, err = g.conn.WriteMsgUnix(append(line, '\n'), rights, nil)
	return err
}

// Close dismisses the guard. No Run may use it any more.
func (g *Guard) Close() {
	if g == nil {
		return
	}
	g.conn.Close()
	go unix.Wait4(g.pid, nil, 0, nil)
}
