package uncoordinated

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// The presets, by the names that policy.Params.Preset has for them.
const (
	// Journal is the benchmark of the journal paper, and the default.
	Journal = "journal"
	// Report is the benchmark of the report paper.
	Report = "report"
)

// Agent is the policy of one slot at one member. It implements policy.Policy;
// after New it does not allocate.
type Agent struct {
	rng               rand.Rand
	shortest, longest time.Duration // between two starts
	retry             time.Duration // after a Generate without an answer

	due     clock.Instant // of the next start
	rested  clock.Instant // before it no start may be, by what a restart told
	demand  bool
	started bool // there was an event other than Recalled
	wanting bool // a Generate has no answer yet
	running bool
	token   ident.Token // that runs
}

var _ policy.Policy = (*Agent)(nil)

// New makes an agent that draws its times from rng, which it may share with
// other agents of the same goroutine. Errors: policy.ErrPreset, and those of
// policy.Params.Validate.
func New(params policy.Params, rng rand.Source) (*Agent, error) {
	if err := params.Validate(); err != nil {
		return nil, err
	}
	shortest, longest, err := Between(params)
	if err != nil {
		return nil, err
	}
	return &Agent{
		rng: *rand.New(rng), shortest: shortest, longest: longest, retry: params.OperationTime,
		due: clock.Never, rested: math.MinInt64,
	}, nil
}

// Between is the interval from which the time between two starts is drawn. The
// error is policy.ErrPreset.
func Between(p policy.Params) (shortest, longest time.Duration, err error) {
	round := p.OperationTime * time.Duration(p.MembersMax)
	shortest = p.MinInterval
	switch p.Preset {
	case "", Journal:
		if shortest == 0 {
			shortest = round / 2
		}
		return shortest, 3 * shortest, nil
	case Report:
		if shortest == 0 {
			shortest = round * 3 / 2
		}
		return shortest, shortest * 3 / 2, nil
	}
	return 0, 0, fmt.Errorf("%w %q, known are %s, %s", policy.ErrPreset, p.Preset, Journal, Report)
}

// Step implements policy.Policy. The first start is drawn at the first event
// that is not a Recalled; a Timer will do.
func (a *Agent) Step(now clock.Instant, event policy.Event, actions []policy.Action) []policy.Action {
	if event.Kind == policy.Recalled {
		a.recall(now, &event)
		return actions
	}
	if !a.started {
		a.started = true
		a.due = max(now.Add(a.draw(0, (a.shortest+a.longest)/2)), a.rested)
	}
	switch event.Kind {
	case policy.Generated:
		actions = a.begin(now, &event.Token, actions)
	case policy.Arrival, policy.Resumed:
		actions = a.remove(&event.Token, actions)
	case policy.PassSettled:
		if event.Outcome == policy.Returned {
			actions = a.remove(&event.Token, actions)
		}
	case policy.OperationEnded:
		actions = a.ended(&event.Token, actions)
	case policy.DemandChanged:
		a.demand = event.Demand
	}
	return a.start(now, actions)
}

// recall keeps the shortest time from an operation before a restart. One in
// the future, which only a wrong clock can tell of, counts as one of now.
func (a *Agent) recall(now clock.Instant, event *policy.Event) {
	if event.Operated {
		a.rested = max(a.rested, min(event.At, now).Add(a.shortest))
	}
}

// draw is uniform in an interval.
func (a *Agent) draw(low, high time.Duration) time.Duration {
	return low + time.Duration(a.rng.Int64N(int64(high-low)+1))
}

// start asks for a token if it is time to; without demand it lets the time
// pass. The next one, if there is no answer, is when to try again.
func (a *Agent) start(now clock.Instant, actions []policy.Action) []policy.Action {
	if a.running || now < a.due {
		return actions
	}
	a.wanting = a.demand
	if !a.demand {
		a.due = now.Add(a.draw(a.shortest, a.longest))
		return actions
	}
	a.due = now.Add(a.retry)
	return append(actions, policy.Action{Kind: policy.Generate})
}

// begin runs the operation under the token that was asked for. One that was
// not, as when a group is founded, is removed.
func (a *Agent) begin(now clock.Instant, t *policy.Token, actions []policy.Action) []policy.Action {
	wanted := a.wanting && a.demand && !a.running
	a.wanting = false
	if !wanted {
		return a.remove(t, actions)
	}
	a.running, a.token = true, t.ID
	a.due = now.Add(a.draw(a.shortest, a.longest))
	return append(actions, policy.Action{Kind: policy.Run, Token: t.ID})
}

// remove takes a token out of circulation, unless the operation runs under it.
func (a *Agent) remove(t *policy.Token, actions []policy.Action) []policy.Action {
	if a.running && t.ID == a.token {
		return actions
	}
	return append(actions, policy.Action{Kind: policy.Drop, Reason: policy.Spent, Token: t.ID})
}

func (a *Agent) ended(t *policy.Token, actions []policy.Action) []policy.Action {
	if !a.running || t.ID != a.token {
		return actions
	}
	a.running = false
	return a.remove(t, actions)
}

// Deadline implements policy.Policy: it is the next start. While the operation
// runs the agent waits for its end.
func (a *Agent) Deadline() clock.Instant {
	if a.running {
		return clock.Never
	}
	return a.due
}
