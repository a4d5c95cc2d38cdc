package node

import (
	"sync"
	"time"

	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
)

const (
	// maxBacklog is how many inputs may wait for the engine before frames are
	// held back: a peer that talks too fast is then slowed down by QUIC's flow
	// control. Everything else is rare or asked for by this machine.
	maxBacklog = 4096
	// maxTurn is how many batches one goroutine carries out before it hands
	// over to another: a connection's reader must get back to its reading.
	maxTurn = 16
	// maxSleep bounds how long the engine sleeps. Go's timers stand still
	// while a machine is suspended; after a resume it is at most so late.
	maxSleep = 5 * time.Second
)

// engine steps a member. Whoever brings an input while nobody is at work does
// the work itself: on a quiet node a frame is handled, synced and answered by
// the goroutine that read it. What comes meanwhile waits, and is stepped and
// synced together.
type engine struct {
	n *Node

	mu      sync.Mutex
	room    sync.Cond
	backlog []item
	spare   []item
	working bool
	closed  bool

	// step is held while the member is stepped or looked at.
	step   sync.Mutex
	member *member.Member

	timer   *time.Timer
	wake    clock.Instant
	effects []effect.Effect
}

// item is one thing in the backlog: an input, or a function to be called when
// everything before it has been carried out.
type item struct {
	input member.Input
	then  func()
}

func newEngine(n *Node, m *member.Member) *engine {
	e := &engine{n: n, member: m, wake: clock.Never}
	e.room.L = &e.mu
	e.timer = time.AfterFunc(time.Hour, func() { e.put(item{input: member.Tick{}}) })
	e.timer.Stop()
	return e
}

// put brings an input. It returns when the input waits or has been handled,
// and never waits for room: the engine's own work brings inputs, too.
func (e *engine) put(it item) {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return
	}
	e.backlog = append(e.backlog, it)
	if e.working {
		e.mu.Unlock()
		return
	}
	e.working = true
	e.mu.Unlock()
	e.work()
}

// frame brings a frame, whose body is copied only when it has to wait.
func (e *engine) frame(from ident.Member, body []byte) {
	e.mu.Lock()
	for len(e.backlog) >= maxBacklog && !e.closed {
		e.room.Wait()
	}
	if e.working {
		e.mu.Unlock()
		e.put(item{input: member.Received{From: from, Body: append([]byte(nil), body...)}})
		return
	}
	if e.closed {
		e.mu.Unlock()
		return
	}
	e.backlog = append(e.backlog, item{input: member.Received{From: from, Body: body}})
	e.working = true
	e.mu.Unlock()
	e.work()
}

// call waits until everything brought so far has been carried out. It must not
// be called by the engine's own work.
func (e *engine) call() {
	done := make(chan struct{})
	e.put(item{then: func() { close(done) }})
	select {
	case <-done:
	case <-e.n.done:
	}
}

// work carries out batches until nothing waits, or until its turn is over.
func (e *engine) work() {
	for turn := 0; ; turn++ {
		e.mu.Lock()
		if len(e.backlog) == 0 || e.closed {
			e.working = false
			e.mu.Unlock()
			return
		}
		if turn == maxTurn {
			e.mu.Unlock()
			go e.work()
			return
		}
		batch := e.backlog
		e.backlog, e.spare = e.spare[:0], nil
		e.room.Broadcast()
		e.mu.Unlock()
		e.batch(batch)
		clear(batch)
		e.mu.Lock()
		e.spare = batch[:0]
		e.mu.Unlock()
	}
}

// batch steps the member through the inputs and carries the effects out.
func (e *engine) batch(batch []item) {
	e.step.Lock()
	now := e.n.now()
	for _, it := range batch {
		if it.input != nil {
			e.effects = append(e.effects, e.member.Step(now, it.input)...)
		}
	}
	deadline := e.member.NextDeadline()
	e.step.Unlock()

	if err := e.n.carryOut(e.effects); err != nil {
		e.n.fail(err)
		return
	}
	clear(e.effects)
	e.effects = e.effects[:0]
	e.checkpoint()
	e.sleep(deadline)
	for _, it := range batch {
		if it.then != nil {
			it.then()
		}
	}
}

// checkpoint begins a new journal segment when the last is full. Nothing is
// under way at this point, so that what the member remembers is what the
// journal says.
func (e *engine) checkpoint() {
	if !e.n.store.NeedsCheckpoint() {
		return
	}
	e.step.Lock()
	now := e.n.now()
	records := e.member.Checkpoint()
	e.step.Unlock()
	if err := e.n.checkpoint(now, records); err != nil {
		e.n.fail(err)
	}
}

// sleep sets the timer for the member's next deadline.
func (e *engine) sleep(deadline clock.Instant) {
	if deadline == e.wake && deadline == clock.Never {
		return
	}
	e.wake = deadline
	if deadline == clock.Never {
		e.timer.Stop()
		return
	}
	e.timer.Reset(min(maxSleep, max(0, deadline.Sub(boottime.Now()))))
}

// look calls f with the member, which does not change meanwhile.
func (e *engine) look(f func(*member.Member)) {
	e.step.Lock()
	defer e.step.Unlock()
	f(e.member)
}

// close makes the engine deaf. Work under way ends after its batch.
func (e *engine) close() {
	e.mu.Lock()
	e.closed = true
	e.room.Broadcast()
	e.mu.Unlock()
	e.timer.Stop()
}
