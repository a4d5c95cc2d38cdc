//go:build unix

package supervise

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/protocol/clock"
)

const (
	// lag is the part of the grace by which the guards' SIGTERM comes after the
	// runner's, so that the command gets two only when the runner is stuck.
	lag = 4

	// outboxSize bounds the reports that wait for a runner that is stuck. All
	// but those of a suspended command come once.
	outboxSize = 64

	// maxFlush bounds how much later a report may make a SIGKILL at the deadline.
	// Only a runner that is stuck with a full socket takes so long.
	maxFlush = 50 * time.Millisecond

	// maxSweepInterval bounds the pause between two looks after SIGKILL at what
	// the system does not end, such as processes in uninterruptible sleep.
	maxSweepInterval = time.Second
)

// RunGuard returns at once unless this process was started as a guard, or as
// what becomes a command; then it does that work and ends the process. Call it
// first of all in main.
func RunGuard() {
	if len(os.Args) != 4 || os.Args[1] != guardArg && os.Args[1] != gateArg {
		inherited = findInherited()
		return
	}
	level, err := strconv.Atoi(os.Args[2])
	place, err2 := strconv.Atoi(os.Args[3])
	switch {
	case err != nil || err2 != nil || level < 0 || level > guards || place < 3:
		err = fmt.Errorf("%q", os.Args[1:])
	case level == 0:
		err = standAtGate(place)
	default:
		err = standGuard(level, place)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error: this command is for internal use:", err)
		os.Exit(64)
	}
	os.Exit(0)
}

// socketsOf are the descriptors of a level, in the order in which each level
// passes on all but the last: the gate's, the guards' for their reports, and each
// guard's for its orders, the lowest guard's first.
func socketsOf(level, place int) []int {
	if level == 0 {
		return []int{place}
	}
	fds := make([]int, level+2)
	for i := range fds {
		fds[i] = place + i
	}
	return fds
}

// standGuard is a guard from the inside.
func standGuard(level, place int) error {
	runtime.LockOSThread() // the parent-death signal is bound to this thread
	sockets := socketsOf(level, place)
	for _, fd := range sockets {
		unix.CloseOnExec(fd)
	}
	inherited = findInherited()
	w := &watchman{
		level: level, tree: tree{fd: -1, roots: []identity{self()}},
		children: make(chan os.Signal, 1), orders: make(chan order), outbox: make(chan any, outboxSize),
	}
	w.deafen()
	becomeSubreaper()
	if err := w.startBelow(place, sockets[:level+1]); err != nil {
		w.outbox <- hello{Level: level, Failed: err.Error()}
	}
	orders, err := connOf(sockets[level+1])
	if err != nil {
		return err
	}
	reports, err := connOf(sockets[1])
	if err != nil {
		return err
	}
	releaseStreams(append(sockets[2:level+1], sockets[0]))
	go w.send(reports)
	go w.listen(orders)
	w.watch()
	return nil
}

// connOf takes over a descriptor.
func connOf(fd int) (*net.UnixConn, error) {
	file := os.NewFile(uintptr(fd), "guard")
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, err
	}
	unixConn, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, net.UnknownNetworkError(conn.LocalAddr().Network())
	}
	return unixConn, nil
}

// releaseStreams closes what is the command's, and the sockets of the levels
// below: a program that waits for the end of a pipe must not wait for a guard.
func releaseStreams(sockets []int) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err == nil {
		for fd := range 3 {
			_ = dup(int(null.Fd()), fd)
		}
		null.Close()
	}
	for _, fd := range append(inherited, sockets...) {
		unix.Close(fd)
	}
	_ = os.Chdir("/") // keeps no file system busy
}

// watchman is a guard from the inside.
type watchman struct {
	level    int
	tree     tree
	below    int            // the guard below, 0 when there is none or it has died
	children chan os.Signal // SIGCHLD
	orders   chan order     // closed when the runner is gone, then nil
	outbox   chan any       // to the runner; a chan struct{} is closed when its turn comes

	last       order
	ordered    bool
	ended      bool // the leader
	empty      bool // no child is left, so no descendant either
	term, kill *boottime.Alarm
	sweep      <-chan time.Time // runs from SIGKILL on
	pause      time.Duration    // between two sweeps
}

// deafen lets no signal end this process: a service manager that stops
// everything stops this last. The command is started with the signals as this
// process found them, so none is ignored here that was not.
func (w *watchman) deafen() {
	unheard := make(chan os.Signal, 1)
	for s := syscall.Signal(1); s < 32; s++ {
		if s != unix.SIGCHLD && s != unix.SIGURG && !signal.Ignored(s) {
			signal.Notify(unheard, s)
		}
	}
	signal.Notify(w.children, unix.SIGCHLD)
}

// startBelow starts the guard or the gate below, which inherits what the
// command is to have.
func (w *watchman) startBelow(place int, sockets []int) error {
	path, err := selfPath()
	if err != nil {
		return err
	}
	if w.level == 1 {
		sockets = sockets[:1]
	}
	files := append([]uintptr{0, 1, 2}, inheritedTable()...)
	for len(files) < place {
		files = append(files, noFile)
	}
	for _, fd := range sockets {
		files = append(files, uintptr(fd))
	}
	attr := &syscall.ProcAttr{Env: levelEnviron, Files: files, Sys: &syscall.SysProcAttr{Setpgid: true}}
	args := levelArgs(w.level-1, place)
	if w.level > 1 {
		w.outbox <- hello{Level: w.level, Self: self()}
		w.below, err = syscall.ForkExec(path, args, attr)
		w.tree.roots = append(w.tree.roots, identityOf(w.below))
		return err
	}
	pid, cgroup, err := startLeader(path, args, attr)
	if err != nil {
		return err
	}
	w.tree.leader, w.tree.cgroup = identityOf(pid), cgroup
	w.tree.open()
	w.outbox <- hello{Level: 1, Self: self(), Leader: w.tree.leader, Cgroup: cgroup}
	return nil
}

// send writes the reports. A runner that is stuck keeps only this goroutine
// waiting.
func (w *watchman) send(reports *net.UnixConn) {
	e := json.NewEncoder(reports)
	for r := range w.outbox {
		if flushed, ok := r.(chan struct{}); ok {
			close(flushed)
			continue
		}
		_ = e.Encode(r) // one write; without a runner nobody misses it
	}
}

// listen passes on the runner's orders, until the runner is gone.
func (w *watchman) listen(socket *net.UnixConn) {
	defer close(w.orders)
	lines := bufio.NewScanner(socket)
	for lines.Scan() {
		var o order
		if json.Unmarshal(lines.Bytes(), &o) != nil {
			return
		}
		w.orders <- o
	}
}

// watch returns when the runner is gone and nothing is left to guard.
func (w *watchman) watch() {
	w.term, w.kill = boottime.NewAlarm(clock.Never), boottime.NewAlarm(clock.Never)
	w.reap() // what ended before SIGCHLD was heard
	orders := w.orders
	for orders != nil || !w.empty {
		select {
		case o, alive := <-orders:
			if alive {
				w.obey(o)
			} else {
				orders = nil
				w.alone()
			}
		case <-w.children:
			w.reap()
		case <-w.term.C:
			w.term = boottime.NewAlarm(clock.Never)
			if w.below == 0 {
				w.stopping()
			}
			w.terminate()
		case <-w.kill.C:
			w.kill = boottime.NewAlarm(clock.Never)
			w.stopping()
			w.killAll()
		case <-w.sweep:
			w.killAll()
		}
	}
	removeCgroup(w.tree.cgroup)
}

// obey takes in an order of the runner.
func (w *watchman) obey(o order) {
	if w.level > 1 && !w.ordered {
		w.tree.leader, w.tree.cgroup = o.Leader, o.Cgroup
		w.tree.open()
	}
	w.last, w.ordered = o, true
	if o.Deadline != clock.Never {
		w.set(o.Deadline.Add(o.Grace/lag-o.Grace), o.Deadline)
	}
}

// alone goes on without the runner: the command is stopped now.
func (w *watchman) alone() {
	if !w.ordered { // the gate is still one
		w.killAll()
		return
	}
	w.terminate()
	w.set(clock.Never, min(boottime.Now().Add(w.last.Grace), w.last.Deadline))
}

func (w *watchman) set(term, kill clock.Instant) {
	w.term.Stop()
	w.kill.Stop()
	w.term, w.kill = boottime.NewAlarm(term), boottime.NewAlarm(kill)
}

// stopping reports that the command is being stopped, if it runs.
func (w *watchman) stopping() {
	w.reap() // it may have ended while this process was frozen
	if !w.ended && w.tree.leaderRuns() {
		w.outbox <- event{Stopping: true}
		flushed := make(chan struct{})
		w.outbox <- flushed
		select {
		case <-flushed: // the command's end cannot be reported before this
		case <-time.After(maxFlush):
		}
	}
}

// terminate sends SIGTERM unless somebody has. The lowest guard that lives does,
// so that the command hears one.
func (w *watchman) terminate() {
	if w.last.Terminated || w.below != 0 || w.empty {
		return
	}
	w.last.Terminated = true
	w.tree.terminate()
}

// killAll kills everything, again and again until it is gone.
func (w *watchman) killAll() {
	if w.empty {
		w.sweep = nil
		return
	}
	w.tree.kill()
	w.pause = min(max(sweepInterval, 2*w.pause), maxSweepInterval)
	w.sweep = time.After(w.pause)
}

// reap takes in what has become of the children: the leader or the guard below,
// and whatever of the command has lost its parent.
func (w *watchman) reap() {
	var e event
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG|unix.WUNTRACED, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil { // ECHILD
			e.Gone = !w.empty
			w.empty = true
		}
		if err != nil || pid == 0 {
			break
		}
		switch {
		case pid == w.tree.leader.PID && !w.ended:
			w.leaderChanged(status, &e)
		case pid == w.below && !status.Stopped():
			w.below = 0
		}
	}
	if e.Ended || e.Gone {
		w.outbox <- e
	}
}

// leaderChanged takes in what the system tells of the command.
func (w *watchman) leaderChanged(status unix.WaitStatus, e *event) {
	switch {
	case status.Stopped():
		if len(w.outbox) < outboxSize/2 { // or the runner is stuck
			w.outbox <- event{Suspended: status.StopSignal()}
		}
		return
	case status.Signaled():
		e.Exit, e.Signal = -1, status.Signal()
	default:
		e.Exit = status.ExitStatus()
	}
	w.ended = true
	e.Ended, e.Orphaned = true, w.level > 1
}
