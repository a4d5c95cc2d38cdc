// Package hooks tells programs of the operator what happens to a member, without ever making it wait.
//
//	h := hooks.New(map[hooks.Kind]hooks.Run{hooks.Lost: run}, time.Now, counters)
//	h.Put(hooks.Event{Kind: hooks.Lost, Resource: "tape", Reason: "revoked"}) // never blocks
//	h.Close(patience)
//
// Each kind of event has one goroutine, which runs its hook once for each event, one after the other, and a queue of
// QueueLength events. An event that finds the queue full is dropped and counted: a member under attack or in trouble has
// many events, and its hooks are for people. What a hook is, Run knows: here is only the order.
//
// Hooks is safe for concurrent use.
package hooks

import (
	"context"
	"sync"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

const (
	// QueueLength bounds the events of one kind that wait for their hook: about as many as people read.
	QueueLength = 16

	// TimeLimit is how long one run of a hook may take. It then is killed, so that later events are not lost to a hook that hangs.
	TimeLimit = 30 * time.Second

	// endTime is how long the end of a hook is waited for that is to end: to kill takes milliseconds. One whose start hangs does not keep
	// the daemon, with which it dies.
	endTime = 5 * time.Second
)

// Kind is a kind of event.
type Kind string

// The kinds of events.
const (
	Granted   Kind = "on_grant"     // a program got a grant
	Lost      Kind = "on_lost"      // a grant ended before its deadline, without a release
	Isolated  Kind = "on_isolated"  // the member is cut off from every peer, or is no more
	Duplicate Kind = "on_duplicate" // this member dropped a token for another one of the slot
	Evidence  Kind = "on_evidence"  // a proof that a member broke the rules went into the journal
)

// Kinds are all of them.
var Kinds = []Kind{Granted, Lost, Isolated, Duplicate, Evidence}

// Event is something that happened. What does not belong to its kind is zero.
type Event struct {
	Kind     Kind
	At       time.Time // set by Put
	Resource string
	Token    ident.Token
	Hop      uint64
	Fence    uint64
	Deadline time.Time
	// Until is the deadline on the clock by which programs are killed.
	Until clock.Instant
	// Reason is why a grant was lost, "begun" or "ended" of isolation, or the kind of evidence.
	Reason string
	// About is the member that the evidence accuses.
	About ident.Member
}

// Outcome is how a hook has ended.
type Outcome string

// How a hook has ended.
const (
	OK       Outcome = "ok"
	Failed   Outcome = "failed"
	TimedOut Outcome = "timed_out"
)

// Outcomes are all of them.
var Outcomes = []Outcome{OK, Failed, TimedOut}

// Run runs a hook to its end, at most until ctx ends.
type Run func(ctx context.Context, e Event) Outcome

// Counters count what became of events.
type Counters interface {
	HookRan(Kind, Outcome)
	// HookDropped is called for an event that found its queue full.
	HookDropped(Kind)
}

// Hooks are the hooks of one member. A nil Hooks has none.
type Hooks struct {
	queues   map[Kind]chan Event
	now      func() time.Time // the wall clock
	counters Counters
	cancel   context.CancelFunc
	running  sync.WaitGroup

	mu     sync.RWMutex
	closed bool
}

// New starts the hooks.
func New(run map[Kind]Run, now func() time.Time, counters Counters) *Hooks {
	if len(run) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	h := &Hooks{queues: make(map[Kind]chan Event), now: now, counters: counters, cancel: cancel}
	for kind, one := range run {
		queue := make(chan Event, QueueLength)
		h.queues[kind] = queue
		h.running.Go(func() {
			for e := range queue {
				if ctx.Err() != nil {
					return
				}
				limited, stop := context.WithTimeout(ctx, TimeLimit)
				counters.HookRan(kind, one(limited, e))
				stop()
			}
		})
	}
	return h
}

// Put queues an event, or drops it. It never waits.
func (h *Hooks) Put(e Event) {
	if h == nil {
		return
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	e.At = h.now()
	queue, wanted := h.queues[e.Kind]
	if !wanted || h.closed {
		return
	}
	select {
	case queue <- e:
	default:
		h.counters.HookDropped(e.Kind)
	}
}

// Close runs what waits for as long as patience says, and then ends the hook that runs. It returns at most endTime later.
func (h *Hooks) Close(patience time.Duration) {
	if h == nil {
		return
	}
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		for _, queue := range h.queues {
			close(queue)
		}
	}
	h.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.running.Wait()
	}()
	within(ended, patience)
	h.cancel()
	within(ended, endTime)
}

// within waits for the end, at most for so long.
func within(ended <-chan struct{}, most time.Duration) {
	alarm := time.NewTimer(most)
	defer alarm.Stop()
	select {
	case <-ended:
	case <-alarm.C:
	}
}
