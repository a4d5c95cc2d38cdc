package papers

import (
	"fmt"
	"math/rand/v2"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
)

// The presets, by the names that policy.Params.Preset has for them.
const (
	// Paper is the journal paper.
	Paper = "paper"
	// Report is the report paper.
	Report = "report"
)

// New makes the policy of one slot at one member, which has seen nothing. It draws from
// rng under the preset Paper only, and does not allocate once its buffers have grown.
// Errors: policy.ErrPreset, and those of policy.Params.Validate.
func New(params policy.Params, rng rand.Source) (policy.Policy, error) {
	if err := params.Validate(); err != nil {
		return nil, err
	}
	switch params.Preset {
	case Paper:
		return newAgent(params, rng), nil
	case Report:
		return newReporter(params)
	}
	return nil, fmt.Errorf("%w %q, known are %s, %s", policy.ErrPreset, params.Preset, Paper, Report)
}

// agent is the journal paper's figure 1. It implements policy.Policy.
type agent struct {
	common
	rng rand.Rand
}

func newAgent(params policy.Params, rng rand.Source) *agent {
	return &agent{common: newCommon(derive(params)), rng: *rand.New(rng)}
}

// Step implements policy.Policy. The regeneration timeout starts with the
// first event that is not a Recalled; a Timer will do.
func (a *agent) Step(now clock.Instant, event policy.Event, actions []policy.Action) []policy.Action {
	a.Begin(now, &event, actions)
	switch event.Kind {
	case policy.Recalled:
		a.recall(&event)
		return actions
	case policy.Arrival:
		a.arrive(&event.Token)
	case policy.Generated, policy.Resumed:
		a.decide(&event.Token)
	case policy.PassEnded:
		if a.settled(&event) {
			a.again(&event.Token)
		}
	case policy.Timer:
		a.timer()
	case policy.OperationEnded:
		a.ended(&event)
	case policy.DemandChanged:
		a.Demand = event.Demand
		a.runResting()
	}
	if a.listens() {
		a.regenerate = now.Add(a.timeout(&a.rng))
	}
	return a.Answer()
}

// recall notes a visit from before a restart, and the operation that ran then.
func (a *agent) recall(event *policy.Event) {
	a.history.push(&event.Token)
	if event.Operated {
		a.recallOperation(event)
	}
}

// arrive applies the sandwich rule (lines 12 to 15) before anything else.
func (a *agent) arrive(t *policy.Token) {
	if r := a.history.find(&t.ID); r != nil && r.spurious && r.place == elsewhere {
		a.drop(t)
	} else {
		a.decide(t)
	}
}

// timer passes on what has rested, or generates.
func (a *agent) timer() {
	if a.overdue() {
		a.generate()
	} else {
		a.passRested()
	}
}
