package uncoordinated

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/host"
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
	host.Host
	rng               rand.Rand
	shortest, longest time.Duration // between two starts
	retry             time.Duration // after a Generate without an answer

	due     clock.Instant // of the next start
	rested  clock.Instant // before it no start may be, by what a restart told
	wanting bool          // a Generate has no answer yet
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
		due: clock.Never, rested: host.LongAgo,
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
	if a.Begin(now, &event, actions) {
		a.due = max(now.Add(a.draw(0, (a.shortest+a.longest)/2)), a.rested)
	}
	switch event.Kind {
	case policy.Recalled:
		if event.Operated {
			a.rested = max(a.rested, a.RecalledAt(&event).Add(a.shortest))
		}
		return actions
	case policy.Generated:
		a.begin(event.Token.ID)
	case policy.Arrival, policy.Resumed:
		a.remove(event.Token.ID)
	case policy.PassEnded:
		if event.Outcome == policy.Returned {
			a.remove(event.Token.ID)
		}
	case policy.OperationEnded:
		a.ended(event.Token.ID)
	case policy.DemandChanged:
		a.Demand = event.Demand
	}
	a.start()
	return a.Answer()
}

// draw is uniform in an interval.
func (a *Agent) draw(low, high time.Duration) time.Duration {
	return low + time.Duration(a.rng.Int64N(int64(high-low)+1))
}

// start asks for a token if it is time to; without demand it lets the time
// pass. The next one, if there is no answer, is when to try again.
func (a *Agent) start() {
	if a.running || a.Now < a.due {
		return
	}
	a.wanting = a.Demand
	if !a.Demand {
		a.due = a.Now.Add(a.draw(a.shortest, a.longest))
		return
	}
	a.due = a.Now.Add(a.retry)
	a.Generate()
}

// begin runs the operation under the token that was asked for. One that was
// not, as when a group is founded, is removed.
func (a *Agent) begin(id ident.Token) {
	wanted := a.wanting && a.Demand && !a.running
	a.wanting = false
	if !wanted {
		a.remove(id)
		return
	}
	a.running, a.token = true, id
	a.due = a.Now.Add(a.draw(a.shortest, a.longest))
	a.Run(id)
}

// remove takes a token out of circulation, unless the operation runs under it.
func (a *Agent) remove(id ident.Token) {
	if !a.running || id != a.token {
		a.Drop(id, policy.Spent)
	}
}

func (a *Agent) ended(id ident.Token) {
	if a.running && id == a.token {
		a.running = false
		a.remove(id)
	}
}

// Deadline implements policy.Policy: it is the next start. While the operation
// runs the agent waits for its end.
func (a *Agent) Deadline() clock.Instant {
	if a.running {
		return clock.Never
	}
	return a.due
}
