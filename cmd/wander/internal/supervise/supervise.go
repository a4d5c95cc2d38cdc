package supervise

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/protocol/clock"
)

const (
	// usualGrace is the longest grace that nobody has asked for: most programs
	// that clean up at all do it within seconds.
	usualGrace = 5 * time.Second

	// sweepInterval is how often to look, and to kill again, after SIGKILL.
	sweepInterval = 10 * time.Millisecond

	// sweepTicks bounds that wait for processes that the system cannot end, such
	// as those in uninterruptible sleep: two seconds.
	sweepTicks = 200

	// quietTicks is how often to see nothing left before that is believed without
	// a guard's word, which comes at once unless the guards are frozen or dead:
	// half a second.
	quietTicks = 50
)

// ReadyTimeout bounds the start of guards and gate, which takes milliseconds on
// an idle machine.
const ReadyTimeout = 30 * time.Second

// Why there is no guard.
var (
	// ErrGuard says that no guard could be started.
	ErrGuard = errors.New("cannot start the guard")
	// ErrReady says that the guard was started and is not ready in time.
	ErrReady = errors.New("it is not ready")
	// ErrLate says that the deadline had come before the command could be executed.
	ErrLate = errors.New("the deadline came before the command was executed")
)

// Command is what to run.
type Command struct {
	Path string   // of the program, found already
	Args []string // with the program's name as Args[0]
	Env  []string // of two values for one name the later one counts
}

// Streams are a command's.
type Streams struct {
	// Without a Stdin the command has nothing to read and no part in the
	// terminal.
	Stdin          *os.File
	Stdout, Stderr *os.File
}

// OnLost says what to do when the grant is lost before its deadline.
type OnLost int

// The things to do when the grant is lost.
const (
	LostTerm OnLost = iota // SIGTERM, and SIGKILL after the grace
	LostKill               // SIGKILL at once
	LostWarn               // warn, and let the command run to its deadline
)

// Cause says why a command was stopped.
type Cause int

// Why a command was stopped.
const (
	NotStopped Cause = iota // it ended by itself, or by a signal from elsewhere
	ByDeadline
	ByLoss
	ByGuard // its guards were killed or frozen
)

// Options are the terms on which a command runs.
type Options struct {
	// Deadline is the end of the grant; clock.Never when there is none.
	Deadline clock.Instant
	// Grace is the time between SIGTERM and SIGKILL; 0 stands for a tenth of
	// the grant, at most usualGrace. It is cut to half of the grant when it is
	// longer, so that every command gets time to work.
	Grace time.Duration
	// Lost delivers the reason when the grant is lost; that it is closed means
	// nothing. May be nil.
	Lost   <-chan api.LostReason
	OnLost OnLost
	// Losing is what the user is told before the reason; empty: the grant was lost.
	Losing string
	// Signals are passed on to the group. May be nil.
	Signals <-chan os.Signal
	// Warn is told in one line what the user should know. May be nil.
	Warn func(string)

	clock *testClock
}

// testClock replaces the machine's clock in tests.
type testClock struct {
	now   func() clock.Instant
	alarm func(clock.Instant) (<-chan struct{}, func())
}

var machineClock = testClock{
	now: boottime.Now,
	alarm: func(at clock.Instant) (<-chan struct{}, func()) {
		a := boottime.NewAlarm(at)
		return a.C, a.Stop
	},
}

// Result is how a command ended.
type Result struct {
	Exit    int            // its exit status, -1 when a signal ended it
	Signal  syscall.Signal // the signal that ended it, 0 when it exited
	Stopped Cause
	Lost    api.LostReason // also when the loss was only warned of
	// SeenFrom and SeenTo are when the command was seen running first and last; both
	// are 0 if it ended before the first look.
	SeenFrom, SeenTo clock.Instant
}

// Run runs the command until it and everything that it has started has ended. A
// guard serves one Run. An error means that the command did not start; it is the
// system's, such as fs.ErrNotExist.
func Run(c Command, g *Guard, o Options) (Result, error) {
	r := newRunner(g, o)
	defer r.close()
	c.Env = effective(c.Env)
	p, err := launch(c, g, r.guarded)
	if err != nil {
		return Result{}, err
	}
	defer p.close()
	seen := r.watch()
	result := r.loop()
	s := seen()
	result.SeenFrom, result.SeenTo = s.first, s.last
	return result, nil
}

// effective drops the earlier ones of several values for one name: programs
// differ in which they take.
func effective(env []string) []string {
	seen := make(map[string]bool, len(env))
	out := make([]string, 0, len(env))
	for _, entry := range slices.Backward(env) {
		name, _, _ := strings.Cut(entry, "=")
		if !seen[name] {
			seen[name] = true
			out = append(out, entry)
		}
	}
	slices.Reverse(out)
	return out
}

// runner is one call of Run.
type runner struct {
	Options
	guard   *Guard
	process *process
	order   order
	result  Result

	term, kill         <-chan struct{}
	stopTerm, stopKill func()

	exited   bool         // the command's own process
	gone     bool         // everything
	sweep    *time.Ticker // runs from SIGKILL on
	stubborn int          // ticks since then
	quiet    int          // ticks without anything to be seen
	lonely   bool         // one guard has died
}

func newRunner(g *Guard, o Options) *runner {
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	if o.clock == nil {
		o.clock = &machineClock
	}
	o.Grace = graceWithin(o.Deadline.Sub(o.clock.now()), o.Grace)
	r := &runner{Options: o, guard: g, order: order{Deadline: o.Deadline, Grace: o.Grace}}
	if o.clock != &machineClock { // which the guards do not know
		r.order.Deadline = clock.Never
	}
	termAt := o.Deadline
	if termAt != clock.Never {
		termAt = termAt.Add(-o.Grace)
	}
	r.term, r.stopTerm = o.clock.alarm(termAt)
	r.kill, r.stopKill = o.clock.alarm(o.Deadline)
	return r
}

// graceWithin is the grace of a grant.
func graceWithin(grant, asked time.Duration) time.Duration {
	if asked == 0 {
		asked = min(grant/10, usualGrace)
	}
	return max(0, min(asked, grant/2))
}

// guarded makes the guards watch over the command before it runs.
func (r *runner) guarded(p *process) {
	r.process = p
	r.guard.tell(r.order)
}

func (r *runner) close() {
	r.stopTerm()
	r.stopKill()
	if r.sweep != nil {
		r.sweep.Stop()
	}
}

// loop serves events until everything has ended.
func (r *runner) loop() Result {
	for !r.finished() {
		select {
		case e := <-r.process.events:
			r.changed(e)
		case s := <-r.Signals:
			r.process.forward(s)
		case reason, lost := <-r.Lost:
			r.Lost = nil
			if lost {
				r.lose(reason)
			}
		case <-r.term:
			r.term = nil
			r.stop(ByDeadline)
		case <-r.kill:
			r.kill = nil
			r.killNow(ByDeadline)
		case <-r.ticks():
			r.look()
		}
	}
	if !r.exited { // no guard could tell how
		r.stopped(ByGuard)
		r.result.Exit, r.result.Signal = -1, syscall.SIGKILL
	}
	return r.result
}

func (r *runner) finished() bool {
	return r.gone || r.stubborn > sweepTicks || r.quiet > quietTicks
}

func (r *runner) ticks() <-chan time.Time {
	if r.sweep == nil {
		return nil
	}
	return r.sweep.C
}

// look looks whether anything is left after SIGKILL, and kills it again.
func (r *runner) look() {
	r.stubborn++
	if r.process.empty() {
		r.quiet++
		return
	}
	r.quiet = 0
	r.process.kill()
}

// changed takes in what the guards tell.
func (r *runner) changed(e event) {
	if e.Suspended != 0 {
		r.process.suspended(e.Suspended)
	}
	if e.Stopping {
		r.stopped(ByDeadline)
	}
	if e.Ended {
		r.ended(e)
	}
	switch {
	case e.Gone:
		r.gone = true
	case e.Ended:
		if r.result.Stopped == NotStopped {
			r.Warn("stopping processes that the command left behind")
		}
		r.terminate()
	case e.guardLost && !r.lonely:
		r.lonely = true
		r.Warn("a guard of the command was killed")
	case e.unguarded:
		r.process.deserted()
		r.killNow(ByGuard)
	}
}

// ended takes in how the command ended. With the guard that is its parent it is
// killed by the system.
func (r *runner) ended(e event) {
	if e.Orphaned && e.Signal == syscall.SIGKILL {
		r.stopped(ByGuard)
	}
	r.exited = true
	r.result.Exit, r.result.Signal = e.Exit, e.Signal
}

// lose acts on the loss of the grant.
func (r *runner) lose(reason api.LostReason) {
	r.result.Lost = reason
	r.Warn(cmp.Or(r.Losing, "the grant was lost") + ": " + string(reason))
	switch r.OnLost {
	case LostTerm:
		r.stop(ByLoss)
	case LostKill:
		r.killNow(ByLoss)
	case LostWarn:
	}
}

// stop asks the command to end, and kills it after the grace.
func (r *runner) stop(why Cause) {
	if r.process.leaderRuns() {
		r.stopped(why)
	}
	r.terminate()
}

func (r *runner) killNow(why Cause) {
	if why == ByGuard || r.process.leaderRuns() {
		r.stopped(why)
	}
	if r.sweep == nil {
		r.sweep = time.NewTicker(sweepInterval)
	}
	r.process.kill()
}

// stopped notes the first reason for which the command was stopped. What
// happens after its end does not count, also where this process has not heard of
// that yet because it was frozen.
func (r *runner) stopped(why Cause) {
	if r.result.Stopped == NotStopped && !r.exited {
		r.result.Stopped = why
	}
}

// terminate sends SIGTERM, and SIGKILL after the grace or at the deadline. It
// does so once: many programs take a second SIGTERM for an order to leave
// everything as it is.
func (r *runner) terminate() {
	if r.order.Terminated {
		return
	}
	r.order.Terminated = true
	r.process.terminate()
	r.guard.tell(r.order)
	r.stopKill()
	r.kill, r.stopKill = r.clock.alarm(min(r.clock.now().Add(r.Grace), r.Deadline))
}
