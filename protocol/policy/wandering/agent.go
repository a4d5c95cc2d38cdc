package wandering

import (
	"fmt"
	"math/rand/v2"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
)

// The presets, by the names that policy.Params.Preset has for them.
const (
	// Fair passes the token to the member that has waited longest. It is the default.
	Fair = "fair"
	// Light passes the token on at random, and removes a second one where it comes. It
	// says nothing to other members.
	Light = "light"
	// Paper is the journal paper.
	Paper = "paper"
	// Report is the report paper.
	Report = "report"
)

// New makes the policy of one slot at one member, which has seen nothing. Of its
// surroundings the papers' presets need Random only, and report not even that. Under
// light and fair it makes no token: that is for a keeper around it (package keeper).
// What New makes does not allocate once its buffers have grown. Errors:
// policy.ErrPreset, and those of policy.Params.Validate.
func New(params policy.Params, in policy.Surroundings) (policy.Policy, error) {
	if err := params.Validate(); err != nil {
		return nil, err
	}
	switch params.Preset {
	case "", Fair:
		return newWalker(params, in, true), nil
	case Light:
		return newWalker(params, in, false), nil
	case Paper:
		return newAgent(params, in.Random), nil
	case Report:
		return newReporter(params)
	}
	return nil, fmt.Errorf("%w %q, known are %s, %s, %s, %s", policy.ErrPreset, params.Preset, Fair, Light, Paper, Report)
}

// agent is the journal paper's figure 1. It implements policy.Policy.
type agent struct {
	host
	constants constants
	rng       rand.Rand
}

func newAgent(params policy.Params, rng rand.Source) *agent {
	c := derive(params)
	return &agent{host: newHost(c.min, c.skip), constants: c, rng: *rand.New(rng)}
}

// Step implements policy.Policy. The regeneration timeout starts with the
// first event that is not a Recalled; a Timer will do.
func (a *agent) Step(now clock.Instant, event policy.Event, actions []policy.Action) []policy.Action {
	switch event.Kind {
	case policy.Recalled:
		a.recall(now, &event)
		return actions
	case policy.Arrival:
		actions = a.arrive(now, &event.Token, actions)
	case policy.Generated, policy.Resumed:
		actions = a.decide(now, &event.Token, actions)
	case policy.PassSettled:
		if a.settled(&event) {
			actions = a.again(now, &event.Token, actions)
		}
	case policy.Timer:
		actions = a.timer(now, actions)
	case policy.OperationEnded:
		actions = a.ended(now, &event, actions)
	case policy.DemandChanged:
		a.demand = event.Demand
		actions = a.runResting(now, actions)
	}
	if a.listens() {
		a.regenerate = now.Add(a.constants.timeout(&a.rng))
	}
	return actions
}

// recall notes a visit from before a restart, and the operation that ran then.
func (a *agent) recall(now clock.Instant, event *policy.Event) {
	a.history.push(&event.Token)
	if event.Operated {
		a.recallOperation(now, event)
	}
}

// arrive applies the sandwich rule (lines 12 to 15) before anything else.
func (a *agent) arrive(now clock.Instant, t *policy.Token, actions []policy.Action) []policy.Action {
	if r := a.history.find(&t.ID); r != nil && r.spurious && r.place == elsewhere {
		return a.drop(t, actions)
	}
	return a.decide(now, t, actions)
}

// timer passes on what has rested, or generates.
func (a *agent) timer(now clock.Instant, actions []policy.Action) []policy.Action {
	if a.overdue(now) {
		return a.generate(actions)
	}
	return a.passRested(now, actions)
}
