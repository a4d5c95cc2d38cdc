package wandering

import (
	"math"
	"math/rand/v2"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
)

// longAgo is an Instant before all others.
const longAgo = clock.Instant(math.MinInt64)

// Agent is the policy of one slot at one member. It implements policy.Policy;
// after New it does not allocate.
type Agent struct {
	constants
	rng rand.Rand

	// early is the end of the time in which every token is early: Δmin after
	// the last operation. A token at this very instant still is (line 18).
	early clock.Instant

	// regenerate is when to make a token if none is here until then.
	regenerate clock.Instant

	// asked is the instant of the last Wait.
	asked clock.Instant

	here    int  // tokens that rest or run here
	running bool // one of them runs
	demand  bool
	started bool // there was an event other than Recalled

	history history
}

var _ policy.Policy = (*Agent)(nil)

// New makes an agent that has seen nothing. It draws its regeneration delays
// from rng, which it may share with other agents of the same goroutine. The
// error is that of policy.Params.Validate.
func New(params policy.Params, rng rand.Source) (*Agent, error) {
	if err := params.Validate(); err != nil {
		return nil, err
	}
	return &Agent{
		constants: derive(params),
		rng:       *rand.New(rng),
		early:     longAgo,
		asked:     clock.Never,
	}, nil
}

// Step implements policy.Policy. The regeneration timeout starts with the
// first event that is not a Recalled; a Timer will do.
func (a *Agent) Step(now clock.Instant, event policy.Event, actions []policy.Action) []policy.Action {
	if event.Kind == policy.Recalled {
		a.recall(now, &event)
		return actions
	}
	if !a.started {
		a.started = true
		a.listen(now)
	}
	switch event.Kind {
	case policy.Arrival:
		actions = a.arrive(now, &event.Token, actions)
	case policy.Generated, policy.Resumed:
		actions = a.decide(now, &event.Token, actions)
	case policy.PassSettled:
		if event.Outcome == policy.Returned {
			actions = a.decide(now, &event.Token, actions)
		}
	case policy.Timer:
		actions = a.timer(now, actions)
	case policy.OperationEnded:
		actions = a.ended(now, &event, actions)
	case policy.DemandChanged:
		a.demand = event.Demand
		actions = a.runResting(now, actions)
	}
	return a.wait(event.Kind == policy.Timer, actions)
}

// recall notes a visit from before a restart, and the operation that ran then.
// An operation in the future, which only a wrong clock can tell of, counts as
// one of now, or it could keep the member from running for years.
func (a *Agent) recall(now clock.Instant, event *policy.Event) {
	a.history.push(&event.Token)
	if event.Operated {
		a.operated(min(event.At, now))
	}
}

// operated notes the end of an operation (line 25, which follows line 24).
func (a *Agent) operated(at clock.Instant) {
	a.early = max(a.early, at.Add(a.min))
}

// arrive applies the sandwich rule (lines 12 to 15) before anything else.
func (a *Agent) arrive(now clock.Instant, t *policy.Token, actions []policy.Action) []policy.Action {
	if r := a.history.find(&t.ID); r != nil && r.spurious && r.place == elsewhere {
		a.listen(now)
		return append(actions, policy.Action{Kind: policy.Drop, Reason: policy.Superseded, Token: t.ID})
	}
	return a.decide(now, t, actions)
}

// decide runs the operation under a token that is here, or lets it rest (lines
// 18 to 26; for a generated token line 31: the timeout has outlasted Δmin). It
// is noted as seen now and not after it is passed on (line 35): with several
// tokens here it is the order of their receptions that the rule is about.
func (a *Agent) decide(now clock.Instant, t *policy.Token, actions []policy.Action) []policy.Action {
	r := a.history.push(t)
	if r == nil { // as many rest here as the agent can keep apart: let it walk on
		return append(actions, policy.Action{Kind: policy.Pass, Token: t.ID})
	}
	if r.place == running { // told twice
		return actions
	}
	if r.place == elsewhere {
		a.here++
	}
	if a.mayRun(now) {
		return a.run(r, actions)
	}
	r.place, r.until = resting, now.Add(a.skip)
	return actions
}

// mayRun reports whether the operation may begin: somebody wants it, it does
// not run already, and Δmin has passed since it last did (line 18).
func (a *Agent) mayRun(now clock.Instant) bool {
	return a.demand && !a.running && now > a.early
}

func (a *Agent) run(r *record, actions []policy.Action) []policy.Action {
	r.place, a.running = running, true
	return append(actions, policy.Action{Kind: policy.Run, Token: r.id})
}

// runResting runs the operation under the oldest token that rests here, the
// one least likely to be spurious, if it may begin.
func (a *Agent) runResting(now clock.Instant, actions []policy.Action) []policy.Action {
	if a.here == 0 || !a.mayRun(now) {
		return actions
	}
	var oldest *record
	for i := range a.history.records[:a.history.n] {
		r := &a.history.records[i]
		if r.place == resting && (oldest == nil || r.precedes(oldest)) {
			oldest = r
		}
	}
	return a.run(oldest, actions) // some token is here, and none runs
}

// ended passes the token on at once (line 27).
func (a *Agent) ended(now clock.Instant, event *policy.Event, actions []policy.Action) []policy.Action {
	if event.Operated {
		a.operated(now)
	}
	r := a.history.find(&event.Token.ID)
	if r == nil || r.place != running {
		return actions
	}
	a.running = false
	return a.pass(now, r, actions)
}

// timer passes on what has rested, the longest here first, or generates.
func (a *Agent) timer(now clock.Instant, actions []policy.Action) []policy.Action {
	if a.here == 0 {
		return a.generate(now, actions)
	}
	for i := a.history.n - 1; i >= 0; i-- {
		r := &a.history.records[i]
		if r.place == resting && r.until <= now {
			actions = a.pass(now, r, actions)
		}
	}
	return actions
}

// pass sends a token to a random member (line 27).
func (a *Agent) pass(now clock.Instant, r *record, actions []policy.Action) []policy.Action {
	r.place = elsewhere
	a.here--
	a.listen(now)
	return append(actions, policy.Action{Kind: policy.Pass, Token: r.id})
}

// generate asks for a new token if none was here for too long (line 30). The
// answer may stay out, so the next timeout starts at once.
func (a *Agent) generate(now clock.Instant, actions []policy.Action) []policy.Action {
	if now < a.regenerate {
		return actions
	}
	a.listen(now)
	return append(actions, policy.Action{Kind: policy.Generate})
}

// listen starts the loop over: it draws the timeout of line 8 anew. While a
// token is here the timeout does not count; it is drawn when the last one has
// left.
func (a *Agent) listen(now clock.Instant) {
	if a.here == 0 {
		a.regenerate = now.Add(a.timeout(&a.rng))
	}
}

// wait asks for the earliest of all that is due later, when that has changed.
// After a Timer it always does, as it does not know which Wait that answered.
func (a *Agent) wait(timer bool, actions []policy.Action) []policy.Action {
	next := a.deadline()
	if next == a.asked && !timer {
		return actions
	}
	a.asked = next
	return append(actions, policy.Action{Kind: policy.Wait, At: next})
}

// deadline is when the agent has to act next if nothing happens.
func (a *Agent) deadline() clock.Instant {
	if a.here == 0 {
		return a.regenerate
	}
	next, left := clock.Never, a.here
	for i := 0; left > 0; i++ { // those that are here were seen last: few looks suffice
		r := &a.history.records[i]
		if r.place == elsewhere {
			continue
		}
		left--
		if r.place == resting {
			next = min(next, r.until)
		}
	}
	return next
}
