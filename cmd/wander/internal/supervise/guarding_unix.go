//go:build unix

package supervise

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/protocol/clock"
)

// lag is the part of the grace by which the guard's SIGTERM comes after the
// runner's, so that the group gets two only when the runner is stuck.
const lag = 4

// RunGuard returns at once unless this process was started as a guard, or as
// what becomes a command; then it does that work and ends the process. Call it
// first of all in main.
func RunGuard() {
	var err error
	switch {
	case len(os.Args) == 2 && os.Args[1] == guardArg:
		err = standGuard()
	case len(os.Args) == 3 && os.Args[1] == gateArg:
		err = standAtGate(os.Args[2])
	default:
		inherited = findInherited()
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error: this command is for internal use:", err)
		os.Exit(64)
	}
	os.Exit(0)
}

func standGuard() error {
	file := os.NewFile(guardSocket, "guard")
	conn, err := net.FileConn(file)
	if err != nil {
		return err
	}
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return net.UnknownNetworkError(conn.LocalAddr().Network())
	}
	file.Close()
	signal.Ignore() // a service manager that stops everything stops this last
	if _, err := socket.Write([]byte{'.'}); err != nil {
		return nil // the runner is gone already
	}
	orders := make(chan guarded)
	go listen(socket, orders)
	w := &watchman{orders: orders, last: guarded{fd: -1}}
	w.watch()
	return nil
}

// guarded is an order with the group's pidfd, or -1.
type guarded struct {
	order
	fd int
}

// listen passes on the runner's orders, until the runner is gone.
func listen(socket *net.UnixConn, orders chan<- guarded) {
	defer close(orders)
	rights := &rightsReader{socket: socket, fd: -1}
	lines := bufio.NewScanner(rights)
	last := guarded{fd: -1}
	for lines.Scan() {
		next := guarded{fd: last.fd}
		if json.Unmarshal(lines.Bytes(), &next.order) != nil {
			return
		}
		if next.PID != last.PID {
			next.fd = -1
			if next.PID != 0 {
				next.fd = rights.take()
			}
		}
		orders <- next
		if last.fd >= 0 && last.fd != next.fd { // nobody uses it any more
			unix.Close(last.fd)
		}
		last = next
	}
}

// rightsReader keeps the descriptor that comes with the bytes.
type rightsReader struct {
	socket *net.UnixConn
	fd     int
}

func (r *rightsReader) Read(p []byte) (int, error) {
	rights := make([]byte, unix.CmsgSpace(4)) // one descriptor
	n, m, _, _, err := r.socket.ReadMsgUnix(p, rights)
	if err != nil || m == 0 {
		return n, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:m])
	if err != nil || len(messages) == 0 {
		return n, nil
	}
	if fds, err := unix.ParseUnixRights(&messages[0]); err == nil && len(fds) == 1 {
		r.fd = fds[0]
	}
	return n, nil
}

func (r *rightsReader) take() int {
	fd := r.fd
	r.fd = -1
	return fd
}

// watchman is a guard from the inside.
type watchman struct {
	orders <-chan guarded // closed when the runner is gone, then nil
	last   guarded
}

// watch returns when there is nothing left to guard.
func (w *watchman) watch() {
	term, kill := boottime.NewAlarm(clock.Never), boottime.NewAlarm(clock.Never)
	var look <-chan time.Time // runs when the runner is gone
	for {
		select {
		case o, alive := <-w.orders:
			switch {
			case alive:
				w.last = o
			case w.last.PID == 0:
				return
			default:
				w.orders = nil
				look = time.Tick(sweepInterval)
				w.terminate()
			}
			term.Stop()
			kill.Stop()
			term, kill = w.alarms()
		case <-term.C:
			term = boottime.NewAlarm(clock.Never)
			w.terminate()
		case <-kill.C:
			kill = boottime.NewAlarm(clock.Never)
			_ = signalGroup(w.last.PID, w.last.fd, unix.SIGKILL)
			if w.orders == nil {
				return
			}
		case <-look:
			if emptyGroup(w.last.PID, w.last.fd) {
				return
			}
		}
	}
}

// alarms are set for the guard's part in the runner's plan, or, when the runner
// is gone, for the end of the grace.
func (w *watchman) alarms() (term, kill *boottime.Alarm) {
	o := w.last
	termAt, killAt := clock.Never, clock.Never
	switch {
	case o.PID == 0:
	case w.orders == nil:
		killAt = min(boottime.Now().Add(o.Grace), o.Deadline)
	case o.Deadline != clock.Never:
		termAt, killAt = o.Deadline.Add(o.Grace/lag-o.Grace), o.Deadline
	}
	return boottime.NewAlarm(termAt), boottime.NewAlarm(killAt)
}

// terminate sends SIGTERM unless somebody has.
func (w *watchman) terminate() {
	if !w.last.Terminated && w.last.PID != 0 {
		w.last.Terminated = true
		terminateGroup(w.last.PID, w.last.fd)
	}
}
