package node

import (
	"bytes"
	"iter"
	"sync"
	"time"

	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
)

const (
	// maxBacklog is how much may wait for the engine before frames are held
	// back, each frame and each KiB of it counting one: who talks too fast is
	// then slowed down by QUIC's flow control. Inputs other than frames are
	// rare, or asked for by this machine.
	maxBacklog = 8192
	// maxPeerBacklog is how much of that one peer may have, so that others do
	// not wait behind it for longer than their offers wait for an answer: to
	// check the worst frame of 64 KiB takes about 10 ms. It is four messages for
	// each of 64 tokens, and as much again.
	maxPeerBacklog = 512
	// maxBatch is how many inputs are stepped before their effects are performed.
	// More would share one sync; but the first would wait for its answer
	// while the signatures of all others are checked.
	maxBatch = 32
	// maxTurn is how many batches a borrowed goroutine performs before
	// another one takes over: a connection's reader must get back to its
	// reading.
	maxTurn = 16
	// maxSleep bounds how long the engine sleeps. Go's timers stand still
	// while a machine is suspended; after a resume it is at most so late.
	maxSleep = 5 * time.Second
)

// engine steps a member. Whoever brings an input while nobody is at work does
// the work itself: on a quiet node a frame is handled and answered by the
// goroutine that read it. What comes meanwhile waits, and is stepped and synced
// together. While the disk is waited for, readers go on reading, so that what
// arrives during one sync shares the next.
type engine struct {
	n *Node

	mu      sync.Mutex
	change  sync.Cond // room in the backlog, or the end of work
	backlog []item
	spare   []item
	load    map[ident.Member]int // how much of the backlog is each peer's
	loaded  int                  // and all peers'
	working bool
	begun   bool // start was called: before, inputs only wait
	closed  bool

	// step is held while the member is stepped or looked at.
	step   sync.Mutex
	member *member.Member

	// What follows belongs to who works.
	effects []effect.Effect // to be performed
	timer   *time.Timer
	alarm   clock.Instant // when the timer comes, or clock.Never
	began   clock.Instant // when the last batch was stepped
	took    time.Duration // by the last batch, its sync included: what came meanwhile has waited
}

// item is one thing in the backlog: an input, or a function to be called when
// everything before it has been performed.
type item struct {
	input member.Input
	then  func()
	alarm bool // it comes from the timer
}

// newEngine makes an engine that holds its inputs until start. The effects are
// those of the member's making.
func newEngine(n *Node, m *member.Member, effects []effect.Effect) *engine {
	e := &engine{n: n, member: m, effects: effects, alarm: clock.Never, load: make(map[ident.Member]int)}
	e.change.L = &e.mu
	e.timer = time.AfterFunc(time.Hour, func() { e.put(item{input: member.Tick{}, alarm: true}) })
	e.timer.Stop()
	return e
}

// start performs what waits, the member's first effects before all else, and
// returns when that is done.
func (e *engine) start() {
	e.mu.Lock()
	e.begun = true
	e.mu.Unlock()
	e.do(member.Tick{})
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
	e.lend()
}

// frames brings frames, whose bodies are copied only when they have to wait: all
// but those that this goroutine steps before it returns.
func (e *engine) frames(from ident.Member, bodies iter.Seq[[]byte]) {
	e.mu.Lock()
	for e.full(from) && !e.closed {
		e.change.Wait()
	}
	if e.closed {
		e.mu.Unlock()
		return
	}
	waits := e.working || !e.begun
	for body := range bodies {
		if waits || len(e.backlog) >= maxBatch {
			body = bytes.Clone(body)
		}
		e.loaded += weight(body)
		e.load[from] += weight(body)
		e.backlog = append(e.backlog, item{input: member.Received{From: from, Body: body}})
	}
	e.lend()
}

// full reports whether a peer has to wait. It is called with mu held.
func (e *engine) full(from ident.Member) bool {
	return e.load[from] >= maxPeerBacklog || e.loaded >= maxBacklog
}

// weight is what a frame counts in the backlog.
func weight(body []byte) int { return 1 + len(body)>>10 }

// unload takes a batch out of the account. It is called with mu held.
func (e *engine) unload(batch []item) {
	for _, it := range batch {
		r, ok := it.input.(member.Received)
		if !ok {
			continue
		}
		e.loaded -= weight(r.Body)
		if e.load[r.From] -= weight(r.Body); e.load[r.From] == 0 {
			delete(e.load, r.From)
		}
	}
}

// lend lets the caller do the work if nobody is at it. It is called with mu
// held, and releases it.
func (e *engine) lend() {
	idle := e.begun && !e.working
	e.working = e.working || idle
	e.mu.Unlock()
	if idle {
		e.work(true)
	}
}

// do brings an input and waits until it has been performed. It must not be
// called by the engine's own work.
func (e *engine) do(input member.Input) {
	done := make(chan struct{})
	e.put(item{input: input, then: func() { close(done) }})
	select {
	case <-done:
	case <-e.n.done:
	}
}

// work performs batches until nothing waits. On a borrowed goroutine it
// does not wait for the disk, and does not go on without end: another takes over.
func (e *engine) work(borrowed bool) {
	for turn := 1; ; turn++ {
		batch := e.take()
		if len(batch) == 0 {
			return
		}
		deadline := e.stepThrough(batch)
		if borrowed && (turn == maxTurn || e.n.journal.waits(e.effects)) {
			go func() {
				e.finish(batch, deadline)
				e.work(false)
			}()
			return
		}
		e.finish(batch, deadline)
	}
}

// take takes the next batch out of the backlog, or ends the work.
func (e *engine) take() []item {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.backlog) == 0 || e.closed {
		e.working = false
		e.change.Broadcast()
		return nil
	}
	batch, rest := e.backlog, []item(nil)
	if len(batch) > maxBatch {
		batch, rest = batch[:maxBatch], batch[maxBatch:]
	}
	e.backlog, e.spare = append(e.spare[:0], rest...), nil
	clear(rest)
	e.unload(batch)
	e.change.Broadcast()
	return batch
}

// stepThrough steps the member through a batch, and returns its next deadline.
func (e *engine) stepThrough(batch []item) clock.Instant {
	e.step.Lock()
	defer e.step.Unlock()
	now := e.n.now()
	e.began = now.Boot
	if by := max(e.n.lookout.pulse.late(now.Boot), e.took); by >= member.LateFrom { // first: it judges the others by it
		e.effects = append(e.effects, e.member.Step(now, member.Late{By: by})...)
	}
	for _, it := range batch {
		if it.alarm {
			e.alarm = clock.Never
		}
		if it.input != nil {
			e.effects = append(e.effects, e.member.Step(now, it.input)...)
		}
	}
	return e.member.NextDeadline()
}

// finish performs the effects of a batch.
func (e *engine) finish(batch []item, deadline clock.Instant) {
	if err := e.n.perform(e.effects); err != nil {
		e.n.fail(err)
		return
	}
	clear(e.effects)
	e.effects = e.effects[:0]
	e.checkpoint()
	e.took = boottime.Now().Sub(e.began)
	e.sleep(deadline)
	for _, it := range batch {
		if it.then != nil {
			it.then()
		}
	}
	clear(batch)
	e.mu.Lock()
	e.spare = batch[:0]
	e.mu.Unlock()
}

// checkpoint begins a new journal segment when the last is full. Nothing is
// in progress at this point, so that what the member remembers is what the
// journal says.
func (e *engine) checkpoint() {
	if !e.n.journal.store.NeedsCheckpoint() {
		return
	}
	e.step.Lock()
	now := e.n.now()
	records := e.member.Checkpoint()
	e.step.Unlock()
	if err := e.n.journal.checkpoint(now, records); err != nil {
		e.n.fail(err)
	}
}

// sleep sees to it that the timer comes by the member's next deadline. One that
// comes earlier, because the deadline has moved since, does no harm, while
// setting it anew for every batch costs more.
func (e *engine) sleep(deadline clock.Instant) {
	if deadline >= e.alarm {
		return
	}
	now := boottime.Now()
	wait := min(maxSleep, max(0, deadline.Sub(now)))
	e.alarm = now.Add(wait)
	e.timer.Reset(wait)
}

// look calls f with the member, which does not change meanwhile.
func (e *engine) look(f func(*member.Member)) {
	e.step.Lock()
	defer e.step.Unlock()
	f(e.member)
}

// close makes the engine deaf. Work in progress ends after its batch.
func (e *engine) close() {
	e.mu.Lock()
	e.closed = true
	e.change.Broadcast()
	e.mu.Unlock()
	e.timer.Stop()
}

// rest waits until nobody works any more, after close.
func (e *engine) rest() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.working {
		e.change.Wait()
	}
}
