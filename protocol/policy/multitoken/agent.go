package multitoken

import (
	"math/rand/v2"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/host"
)

// agent is the policy of one slot at one member under the paper's presets. It
// implements policy.Policy and policy.Gauger; after New it does not allocate.
type agent struct {
	uses
	constants
	rng rand.Rand

	// last is the end of the last use, when its token was passed on: what the
	// paper measures the interval from (§2.1). It is host.LongAgo before the first.
	last clock.Instant

	// due is until when a token is early, drawn at the last use.
	due clock.Instant

	// generate is when to make a token if none is here until then.
	generate clock.Instant

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
		last:      host.LongAgo,
		generate:  clock.Never,
		uses:      uses{waiting: make([]ident.Token, 0, places)}, // its capacity is queue_capacity
	}, nil
}

// Step implements policy.Policy. The first interval starts with the first
// event that is not a Recalled; a Timer will do.
func (a *agent) Step(now clock.Instant, event policy.Event, actions []policy.Action) []policy.Action {
	if a.Begin(now, &event, actions) {
		a.measure()
	}
	switch event.Kind {
	case policy.Recalled:
		a.last = max(a.last, a.RecalledAt(&event))
	case policy.Arrival, policy.Generated, policy.Resumed:
		a.receive(event.Token.ID)
	case policy.PassEnded:
		switch event.Outcome {
		case policy.Returned:
			a.receive(event.Token.ID)
		case policy.Abandoned:
			a.lose(event.Token.ID)
			a.proceed()
		}
	case policy.Timer:
		a.proceed()
		a.makeToken()
	case policy.OperationEnded:
		a.ended(&event)
	case policy.DemandChanged:
		a.Demand = event.Demand
		a.run()
	}
	return a.Answer()
}

// receive uses a token, lets it wait or drops it (§2.1). What comes back
// because nobody took it is no different: it was used already, so it is early.
func (a *agent) receive(t ident.Token) {
	if a.holds(t) { // told twice
		return
	}
	a.proceed()                            // what a late Timer has not told yet
	if a.phase == idle && a.Now >= a.due { // then none waits, or proceed had used it
		a.use(t)
		return
	}
	a.queue(t)
}

// use begins a use: it ends the interval. Only now is the pass near; a token
// that waits may do so for long.
func (a *agent) use(t ident.Token) {
	a.observe()
	a.used, a.phase, a.until = t, resting, a.Now.Add(a.skip)
	a.Prepare(t, ident.Member{})
	a.run()
}

// ended passes on the token that ran, whether or not it ran.
func (a *agent) ended(event *policy.Event) {
	switch {
	case a.phase == running && a.used == event.Token.ID:
		a.pass()
	case event.Operated: // one that an earlier life of this policy began
		a.last = a.Now
		a.measure()
	}
}

// pass ends a use, and with it the interval starts over.
func (a *agent) pass() {
	a.phase = idle
	a.last = a.Now
	a.measure()
	a.Pass(a.used, ident.Member{}, nil)
}

// proceed passes on what has rested, or uses the token that has waited
// longest, if it is time.
func (a *agent) proceed() {
	if a.phase == resting && a.Now >= a.until {
		a.pass()
		return
	}
	if a.phase != idle || len(a.waiting) == 0 || a.Now < a.due {
		return
	}
	a.use(a.unqueue())
}

// makeToken asks for a token if none was here for too long. The answer may
// stay out, so the silence starts over.
func (a *agent) makeToken() {
	if a.phase == idle && len(a.waiting) == 0 && a.Now >= a.generate {
		a.generate = a.Now.Add(a.draw(a.silence, &a.rng))
		a.Generate()
	}
}

// measure starts an interval at the end of the last use and draws its
// thresholds. Who begins its work after a longer silence was away, and did not
// miss a token: its silence starts now.
func (a *agent) measure() {
	a.due = a.last.Add(a.draw(a.early, &a.rng))
	silence := a.draw(a.silence, &a.rng)
	a.generate = a.last.Add(silence)
	if a.generate <= a.Now {
		a.generate = a.Now.Add(silence)
	}
}

// observe ends an interval. The average is shown and decides nothing: with it
// in place of the interval the paper's figures do not come out.
func (a *agent) observe() {
	if a.last != host.LongAgo {
		a.intervals.add(a.Now.Sub(a.last))
	}
}

// Deadline implements policy.Policy.
func (a *agent) Deadline() clock.Instant {
	switch {
	case a.phase == resting:
		return a.until
	case a.phase == running:
		return clock.Never
	case len(a.waiting) > 0:
		return a.due
	}
	return a.generate
}
