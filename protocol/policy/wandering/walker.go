package wandering

import (
	"math/rand/v2"
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/host"
)

// walker is what the presets light and fair have in common: one token at a time, and
// what was seen and heard of others. It makes none: a keeper does. It implements
// policy.Policy.
type walker struct {
	common
	began  clock.Instant // when the last operation did
	next   ident.Member  // in the preset light: the member that is to be next; zero: any
	waiter ident.Member  // and the one that was said to wait last, until it gets the token; zero: none

	spare holding // a token that came while the operation ran, and precedes it
	sent  passage
	fair  *fair // nil: the preset light
}

// passage is the token that was passed on last.
type passage struct {
	token   ident.Token
	birth   clock.Instant
	to      ident.Member // zero: whom the driver draws
	wanders bool         // not because it was the member's turn
	taken   bool         // another member has had it since
	since   clock.Instant
	awaited bool
	ran     bool // the operation has run under it here
	untaken int  // how many passes have come back since
}

// holding is a token that is here.
type holding struct {
	token   policy.Token
	came    clock.Instant // from another member, or back
	since   clock.Instant // from another member: a pass that came back does not begin it anew
	awaited bool          // a member has been said to wait since then, or has not taken it when it was its turn
	birth   clock.Instant
	streak  uint8 // hops since the last operation
	have    bool
	running bool
	ran     bool          // the operation has begun under it here
	untaken int           // how many passes have come back since, after which another member is offered the token first
	rests   clock.Instant // until then; clock.Never while the operation runs
}

func newWalker(params policy.Params, in policy.Surroundings, isFair bool) *walker {
	w := &walker{
		common: common{
			spans: deriveSpans(params, isFair), isFair: isFair, timekeepers: Timekeepers(params),
			weights: params.Weights.Map(), class: in.Class,
			self: in.Self, roster: in.Roster, rng: *rand.New(in.Random), early: host.LongAgo,
		},
	}
	if w.roster == nil {
		w.roster = policy.Alone{}
	}
	if isFair {
		w.fair = newFair(w)
	}
	return w
}

// Step implements policy.Policy.
func (w *walker) Step(now clock.Instant, event policy.Event, actions []policy.Action) []policy.Action {
	first := w.Begin(now, &event, actions)
	w.happened(&event)
	if first {
		w.had()
	}
	return w.Answer()
}

func (w *walker) happened(event *policy.Event) {
	switch event.Kind {
	case policy.Recalled:
		w.recall(event)
	case policy.Arrival:
		w.arrive(event)
	case policy.Generated, policy.Resumed:
		w.appear(event)
	case policy.PassEnded:
		w.settled(event)
	case policy.Timer:
		w.onTimer()
	case policy.OperationEnded:
		w.ended(event)
	case policy.DemandChanged:
		w.demandChanged(event.Demand)
	case policy.Neighbour:
		if w.fair != nil {
			w.fair.known = event.Members
			w.fair.announce()
		}
	case policy.Wanted:
		w.awaited = w.awaited || w.have
		w.hasten(event.From)
		if w.fair != nil {
			w.fair.looksFor(event.From)
		}
	case policy.Message:
		if w.fair != nil {
			w.hear(event.From, event.Body)
		}
	}
}

// recall notes a visit from before a restart, and the operation that ran then.
func (w *walker) recall(event *policy.Event) {
	at := w.RecalledAt(event)
	w.observations.here(&event.Token, at)
	if event.Operated {
		w.early = max(w.early, at.Add(w.ownMin()))
	}
}

func (w *walker) demandChanged(demand bool) {
	again := demand && w.Demand
	w.Demand = demand
	if w.have && w.mayRun() && !w.owesPass() && (w.fair == nil || !w.fair.isOn()) {
		w.run()
	}
	if w.fair == nil {
		return
	}
	if again {
		w.fair.repeat()
	}
	w.fair.announce()
}

// onTimer does what is due.
func (w *walker) onTimer() {
	if w.fair != nil {
		w.fair.announcement.onTimer()
		w.fair.search.onTimer()
		return
	}
	if w.have && w.rests <= w.Now {
		w.pass(w.next)
	}
}

// Deadline implements policy.Policy.
func (w *walker) Deadline() clock.Instant {
	switch {
	case w.fair != nil:
		return min(w.fair.again, w.fair.deadline())
	case w.have:
		return w.rests
	}
	return clock.Never
}

func contains(list []ident.Member, m ident.Member) bool { return slices.Contains(list, m) }

// had notes that this member has the token.
func (w *walker) had() {
	if w.fair != nil {
		w.fair.had = w.Now
	}
}
