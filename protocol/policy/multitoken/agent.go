package multitoken

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// longAgo is an Instant before all others.
const longAgo = clock.Instant(math.MinInt64)

// phase is what an agent does with the token it uses.
type phase uint8

const (
	idle    phase = iota // it uses none
	resting              // nobody here wants to run: it stays until agent.until
	running              // the operation runs under it
	keeping              // it is not used, or not any more, and stays until steered.until
)

// agent is the policy of one slot at one member under the paper's presets. It
// implements policy.Policy and policy.Gauger; after newAgent it does not allocate.
type agent struct {
	constants
	rng rand.Rand

	// last is the end of the last use, when its token was passed on: what the
	// paper measures the interval from (§2.1). It is longAgo before the first.
	last clock.Instant

	// due is until when a token is early, drawn at the last use.
	due clock.Instant

	// generate is when to make a token if none is here until then.
	generate clock.Instant

	// asked is the instant of the last Wait.
	asked clock.Instant

	used  ident.Token // the token in use, unless idle
	phase phase
	until clock.Instant

	// queue are the tokens that wait, in the order of their use. Its capacity
	// is queue_capacity and does not change.
	queue []ident.Token

	demand  bool
	started bool // there was an event other than Recalled

	intervals
}

var (
	_ policy.Policy = (*agent)(nil)
	_ policy.Gauger = (*agent)(nil)
)

// newAgent makes an agent that has seen nothing. It draws its thresholds from rng,
// which it may share with other agents of the same goroutine. Errors:
// policy.ErrOutOfRange, also when target_interval is zero, and
// policy.ErrPreset.
func newAgent(params policy.Params, rng rand.Source) (*agent, error) {
	c, err := derive(params)
	if err != nil {
		return nil, err
	}
	places := params.QueueCapacity
	if places == 0 {
		places = capacity
	}
	return &agent{
		constants: c,
		rng:       *rand.New(rng),
		last:      longAgo,
		asked:     clock.Never,
		queue:     make([]ident.Token, 0, places),
	}, nil
}

// Step implements policy.Policy. The first interval starts with the first
// event that is not a Recalled; a Timer will do.
func (a *agent) Step(now clock.Instant, event policy.Event, actions []policy.Action) []policy.Action {
	if event.Kind == policy.Recalled {
		a.last = max(a.last, min(event.At, now)) // what comes from the future is a wrong clock's
		return actions
	}
	if !a.started {
		a.started = true
		a.measure(now)
	}
	switch event.Kind {
	case policy.Arrival, policy.Generated, policy.Resumed:
		actions = a.receive(now, event.Token.ID, actions)
	case policy.PassSettled:
		switch event.Outcome {
		case policy.Returned:
			actions = a.receive(now, event.Token.ID, actions)
		case policy.Abandoned:
			a.lose(event.Token.ID)
			actions = a.proceed(now, actions)
		}
	case policy.Timer:
		actions = a.makeToken(now, a.proceed(now, actions))
	case policy.OperationEnded:
		actions = a.ended(now, &event, actions)
	case policy.DemandChanged:
		a.demand = event.Demand
		actions = a.run(actions)
	}
	return a.wait(event.Kind == policy.Timer, actions)
}

// receive uses a token, lets it wait or drops it (§2.1). What comes back
// because nobody took it is no different: it was used already, so it is early.
func (a *agent) receive(now clock.Instant, t ident.Token, actions []policy.Action) []policy.Action {
	if a.holds(t) { // told twice
		return actions
	}
	actions = a.proceed(now, actions)    // what a late Timer has not told yet
	if a.phase == idle && now >= a.due { // then none waits, or proceed had used it
		return a.use(now, t, actions)
	}
	if len(a.queue) == cap(a.queue) {
		return append(actions, policy.Action{Kind: policy.Drop, Reason: policy.Overflow, Token: t})
	}
	a.queue = append(a.queue, t)
	return actions
}

func (a *agent) holds(t ident.Token) bool {
	if a.phase != idle && a.used == t {
		return true
	}
	return slices.Contains(a.queue, t)
}

// lose forgets a token that rested or waited here. A use that was to begin has not.
func (a *agent) lose(t ident.Token) {
	if a.phase == resting && a.used == t {
		a.phase = idle
	}
	if i := slices.Index(a.queue, t); i >= 0 {
		a.queue = slices.Delete(a.queue, i, i+1)
	}
}

// use begins a use: it ends the interval. Only now is the pass near; a token
// that waits may do so for long.
func (a *agent) use(now clock.Instant, t ident.Token, actions []policy.Action) []policy.Action {
	a.observe(now)
	a.used, a.phase, a.until = t, resting, now.Add(a.skip)
	actions = append(actions, policy.Action{Kind: policy.Prepare, Token: t})
	return a.run(actions)
}

// run runs the operation under the token in use, if it rests and somebody
// wants it.
func (a *agent) run(actions []policy.Action) []policy.Action {
	if a.phase != resting || !a.demand {
		return actions
	}
	a.phase = running
	return append(actions, policy.Action{Kind: policy.Run, Token: a.used})
}

// ended passes on the token that ran, whether or not it ran.
func (a *agent) ended(now clock.Instant, event *policy.Event, actions []policy.Action) []policy.Action {
	switch {
	case a.phase == running && a.used == event.Token.ID:
		return a.pass(now, actions)
	case event.Operated: // one that an earlier life of this policy began
		a.last = now
		a.measure(now)
	}
	return actions
}

// pass ends a use, and with it the interval starts over.
func (a *agent) pass(now clock.Instant, actions []policy.Action) []policy.Action {
	a.phase = idle
	a.last = now
	a.measure(now)
	return append(actions, policy.Action{Kind: policy.Pass, Token: a.used})
}

// proceed passes on what has rested, or uses the token that has waited
// longest, if it is time.
func (a *agent) proceed(now clock.Instant, actions []policy.Action) []policy.Action {
	if a.phase == resting && now >= a.until {
		return a.pass(now, actions)
	}
	if a.phase != idle || len(a.queue) == 0 || now < a.due {
		return actions
	}
	t := a.queue[0]
	a.queue = append(a.queue[:0], a.queue[1:]...) // moves a few: the capacity stays
	return a.use(now, t, actions)
}

// makeToken asks for a token if none was here for too long. The answer may
// stay out, so the silence starts over.
func (a *agent) makeToken(now clock.Instant, actions []policy.Action) []policy.Action {
	if a.phase != idle || len(a.queue) > 0 || now < a.generate {
		return actions
	}
	a.generate = now.Add(a.draw(a.silence, &a.rng))
	return append(actions, policy.Action{Kind: policy.Generate})
}

// measure starts an interval at the end of the last use and draws its
// thresholds. Who begins its work after a longer silence was away, and did not
// miss a token: its silence starts now.
func (a *agent) measure(now clock.Instant) {
	a.due = a.last.Add(a.draw(a.early, &a.rng))
	silence := a.draw(a.silence, &a.rng)
	a.generate = a.last.Add(silence)
	if a.generate <= now {
		a.generate = now.Add(silence)
	}
}

// observe ends an interval. The average is shown and decides nothing: with it
// in place of the interval the paper's figures do not come out.
func (a *agent) observe(now clock.Instant) {
	if a.last != longAgo {
		a.intervals.add(now.Sub(a.last))
	}
}

// wait asks for the earliest of all that is due later, when that has changed.
// After a Timer it always does, as it does not know which Wait that answered.
func (a *agent) wait(timer bool, actions []policy.Action) []policy.Action {
	next := a.deadline()
	if next == a.asked && !timer {
		return actions
	}
	a.asked = next
	return append(actions, policy.Action{Kind: policy.Wait, At: next})
}

// deadline is when the agent has to act next if nothing happens.
func (a *agent) deadline() clock.Instant {
	switch {
	case a.phase == resting:
		return a.until
	case a.phase == running:
		return clock.Never
	case len(a.queue) > 0:
		return a.due
	}
	return a.generate
}
