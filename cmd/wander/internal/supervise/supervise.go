package supervise

import (
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

	// sweepInterval is how often to look whether what the command left behind
	// is gone; no system tells.
	sweepInterval = 10 * time.Millisecond

	// sweepTicks bounds that wait after SIGKILL, for processes that the system
	// cannot end, such as those in uninterruptible sleep: two seconds.
	sweepTicks = 200
)

// Command is what to run.
type Command struct {
	Path string   // of the program, found already
	Args []string // with the program's name as Args[0]
	Env  []string // of two values for one name the later one counts
	// Without a Stdin the command has nothing to read and no part in the
	// terminal.
	Stdin          *os.File
	Stdout, Stderr *os.File
}

// OnLost says what to do when the grant is lost before its deadline.
type OnLost int

// What to do when the grant is lost.
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

// Run runs the command until it and everything in its group has ended. One
// guard serves one Run at a time; it may be nil where there is nothing to
// guard. An error means that the command did not start; it is the system's,
// such as fs.ErrNotExist.
func Run(c Command, g *Guard, o Options) (Result, error) {
	r := newRunner(g, o)
	defer r.close()
	c.Env = effective(c.Env)
	p, err := launch(c, r.guarded)
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

	exited   bool
	sweep    *time.Ticker // runs when the command has ended and its group not
	killed   bool
	stubborn int // ticks since SIGKILL
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

// guarded makes the guard watch over the group, before anything runs in it.
func (r *runner) guarded(p *process) {
	r.process, r.order.PID = p, p.pid
	r.alert()
}

// alert tells the guard how things stand.
func (r *runner) alert() {
	if err := r.guard.tell(r.order, r.process); err != nil && r.order.PID != 0 {
		r.Warn("the guard is gone; only this process enforces the deadline now")
		r.guard = nil
	}
}

func (r *runner) close() {
	if r.process != nil {
		r.order = order{}
		r.alert()
	}
	r.stopTerm()
	r.stopKill()
	if r.sweep != nil {
		r.sweep.Stop()
	}
}

// loop serves events until the command and its group have ended.
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
			if r.killed {
				r.stubborn++
			}
		}
	}
	return r.result
}

func (r *runner) finished() bool {
	return r.exited && (r.sweep == nil || r.process.empty() || r.stubborn > sweepTicks)
}

func (r *runner) ticks() <-chan time.Time {
	if r.sweep == nil {
		return nil
	}
	return r.sweep.C
}

// changed takes in what the system tells of the command.
func (r *runner) changed(e event) {
	if !e.ended {
		r.process.suspended(e.signal)
		return
	}
	r.exited = true
	r.result.Exit, r.result.Signal = e.exit, e.signal
	if r.process.empty() {
		return
	}
	r.sweep = time.NewTicker(sweepInterval)
	if r.result.Stopped == NotStopped {
		r.Warn("the command left processes behind; they are stopped")
	}
	r.terminate()
}

// lose acts on the loss of the grant.
func (r *runner) lose(reason api.LostReason) {
	r.result.Lost = reason
	r.Warn("the grant was lost: " + string(reason))
	switch r.OnLost {
	case LostTerm:
		r.stop(ByLoss)
	case LostKill:
		r.killNow(ByLoss)
	case LostWarn:
	}
}

// stop asks the group to end, and kills it after the grace.
func (r *runner) stop(why Cause) {
	r.stopped(why)
	r.terminate()
}

func (r *runner) killNow(why Cause) {
	r.stopped(why)
	r.killed = true
	r.process.kill()
}

// stopped notes the first reason for which the command was stopped. What
// happens after its end does not count.
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
	r.alert()
	r.stopKill()
	r.kill, r.stopKill = r.clock.alarm(min(r.clock.now().Add(r.Grace), r.Deadline))
}
