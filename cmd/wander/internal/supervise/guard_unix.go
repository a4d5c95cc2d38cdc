//go:build unix

package supervise

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wandertoken/wander/protocol/clock"
)

// guards is how many stand between the runner and the command, each the child of
// the one before. With two, any two of the three processes may be killed or
// frozen at the same moment, and one is left to stop the command.
const guards = 2

// guardArg and gateArg, as the first of three arguments, make this program a
// guard or the gate. The others are the level (the gate's is 0, and each guard
// starts the level below) and the place of the sockets (see socketsOf).
const (
	guardArg = "__guard"
	gateArg  = "__gate"
)

// hello is the first word of each guard.
type hello struct {
	Level  int      `json:"level"`
	Self   identity `json:"self"`
	Leader identity `json:"leader"`           // of the lowest guard: the gate
	Cgroup string   `json:"cgroup,omitempty"` // the command's own, if it has one
	Failed string   `json:"failed,omitempty"` // why the level below did not start
}

// Guard is the runner's side of the guards, with the process that becomes the
// command.
type Guard struct {
	pid    int // of the highest guard, a child of this process
	orders [guards]*net.UnixConn
	gate   *net.UnixConn
	stdin  *os.File // nil when the command has none
	tree   tree

	reports *json.Decoder // of all guards
	source  *net.UnixConn // of reports
	events  chan event
	quit    chan struct{}
	dismiss sync.Once

	deadline clock.Instant // of the last order
	deserted bool          // every guard has died
}

// StartGuard starts the guards and the process that is to become the command,
// with its streams, and returns when they are ready. They go away when this
// process ends. Errors: ErrGuard, with ErrReady if they are not ready within the wait.
func StartGuard(s Streams, within time.Duration) (*Guard, error) {
	g := &Guard{stdin: s.Stdin, tree: tree{fd: -1}, events: make(chan event), quit: make(chan struct{})}
	if err := g.start(s); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrGuard, err)
	}
	if err := g.ready(within); err != nil {
		g.Close()
		return nil, fmt.Errorf("%w: %w", ErrGuard, err)
	}
	go g.hear()
	for _, conn := range g.orders {
		go g.watch(conn)
	}
	return g, nil
}

// start makes the sockets and starts the highest guard.
func (g *Guard) start(s Streams) (err error) {
	path, err := selfPath()
	if err != nil {
		return err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	if s.Stdin == nil {
		s.Stdin = null
	}
	files := append([]uintptr{s.Stdin.Fd(), s.Stdout.Fd(), s.Stderr.Fd()}, inheritedTable()...)
	place := len(files)
	for _, mine := range []**net.UnixConn{&g.gate, &g.source, &g.orders[0], &g.orders[1]} {
		var theirs *os.File
		if *mine, theirs, err = socketPair(); err != nil {
			g.Close()
			return err
		}
		defer theirs.Close()
		files = append(files, theirs.Fd())
	}
	g.reports = json.NewDecoder(g.source)
	g.pid, err = syscall.ForkExec(path, levelArgs(guards, place), &syscall.ProcAttr{
		Env: levelEnviron, Files: files, Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		g.Close()
	}
	return err
}

// levelEnviron is that of guards and gate, which nearly always wait. In builds with the
// race detector, they end when this program would.
var levelEnviron = []string{"GOMAXPROCS=1", "GORACE=" + os.Getenv("GORACE")}

// levelArgs starts a level whose sockets begin at a place in the table.
func levelArgs(level, place int) []string {
	arg := guardArg
	if level == 0 {
		arg = gateArg
	}
	return []string{os.Args[0], arg, strconv.Itoa(level), strconv.Itoa(place)}
}

// ready waits until all guards stand, and the lowest one has started the gate.
func (g *Guard) ready(within time.Duration) error {
	if err := g.source.SetReadDeadline(time.Now().Add(within)); err != nil {
		return err
	}
	for range guards {
		var h hello
		err := g.reports.Decode(&h)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return fmt.Errorf("%w within %v", ErrReady, within)
		}
		if err != nil {
			return err
		}
		if h.Failed != "" {
			return errors.New(h.Failed)
		}
		g.tree.roots = append(g.tree.roots, h.Self)
		if h.Level == 1 {
			g.tree.leader, g.tree.cgroup = h.Leader, h.Cgroup
			g.tree.open()
		}
	}
	return g.source.SetReadDeadline(time.Time{})
}

// hear passes on what the guards report, until none is left.
func (g *Guard) hear() {
	for {
		var e event
		if g.reports.Decode(&e) != nil {
			g.pass(event{unguarded: true})
			return
		}
		if !g.pass(e) {
			return
		}
	}
}

// watch waits for the end of one guard, which is the end of its socket.
func (g *Guard) watch(conn *net.UnixConn) {
	_, _ = conn.Read(make([]byte, 1)) // a guard writes nothing there
	g.pass(event{guardLost: true})
}

// pass hands an event to Run, unless the guards have been dismissed.
func (g *Guard) pass(e event) bool {
	select {
	case g.events <- e:
		return true
	case <-g.quit:
		return false
	}
}

// tell sends an order to every guard. An order reaches them even if this
// process dies the moment after.
func (g *Guard) tell(o order) {
	g.deadline = o.Deadline
	o.Leader, o.Cgroup = g.tree.leader, g.tree.cgroup
	line, err := json.Marshal(o)
	if err != nil {
		return
	}
	for _, conn := range g.orders {
		_, _ = conn.Write(append(line, '\n')) // the death of a guard is an event
	}
}

// maxDismissal bounds the wait for guards that have been dismissed. They end at
// once, unless they are frozen or still have something to stop.
const maxDismissal = time.Second

// Close dismisses the guards, and waits until they have gone: a run that this one
// is within would take them for processes left behind. They stop the processes that
// the command has left.
func (g *Guard) Close() {
	if g == nil {
		return
	}
	g.dismiss.Do(func() {
		close(g.quit)
		for _, conn := range []*net.UnixConn{g.gate, g.source, g.orders[0], g.orders[1]} {
			if conn != nil {
				conn.Close()
			}
		}
		g.tree.close()
		if g.deserted { // and have left this to do
			reapAdopted()
			removeCgroup(g.tree.cgroup)
		}
		if g.pid == 0 {
			return
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for {
				if _, err := unix.Wait4(g.pid, nil, 0, nil); err != unix.EINTR {
					return
				}
			}
		}()
		select {
		case <-ended:
		case <-time.After(maxDismissal):
		}
	})
}
