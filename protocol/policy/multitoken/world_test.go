package multitoken

import (
	"encoding/binary"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/agenda"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
)

// world is a group of agents in virtual time. Each handoff takes latency, each
// operation no time at all.
type world struct {
	t       *testing.T
	rng     *rand.Rand
	agents  []policy.Policy
	lie     []byte // if not nil, what the first agent writes on each token
	asked   []clock.Instant
	latency time.Duration

	now    clock.Instant
	agenda agenda.Agenda[clock.Instant, queuedEvent]
	minted uint64

	alive     int
	uses      []clock.Instant // operations that began
	last      []clock.Instant // of each agent
	intervals []time.Duration // between two operations of one agent
	generated int
	dropped   int
}

type queuedEvent struct {
	to    int
	event policy.Event
}

// newWorld starts all agents at the same instant, without a token: the
// synchronised cold start.
func newWorld(t *testing.T, seed uint64, agents int, params policy.Params) *world {
	w := &world{t: t, rng: rand.New(rand.NewPCG(seed, 0)), latency: 30 * time.Millisecond}
	for i := range agents {
		agent, err := Make(params, rand.NewPCG(seed, uint64(i)+1))
		require.NoError(t, err)
		w.agents = append(w.agents, agent)
		w.asked = append(w.asked, clock.Never)
		w.last = append(w.last, -1)
		w.schedule(0, i, policy.Event{Kind: policy.DemandChanged, Demand: true})
	}
	return w
}

func (w *world) schedule(at clock.Instant, to int, e policy.Event) {
	w.agenda.Plan(at, queuedEvent{to, e})
}

func (w *world) run(until clock.Instant) {
	for {
		at, h, ok := w.agenda.Next(until)
		if !ok {
			break
		}
		if h.event.Kind == policy.Timer && w.asked[h.to] != at {
			continue // replaced meanwhile
		}
		w.now = at
		for _, a := range w.agents[h.to].Step(w.now, h.event, nil) {
			w.act(h.to, a)
		}
		if due := w.agents[h.to].Deadline(); due != w.asked[h.to] || h.event.Kind == policy.Timer {
			w.asked[h.to] = due
			if due != clock.Never {
				w.schedule(due, h.to, policy.Event{Kind: policy.Timer})
			}
		}
	}
	w.now = until
}

func (w *world) act(at int, a policy.Action) {
	token := policy.Token{ID: a.Token}
	switch a.Kind {
	case policy.Run:
		w.use(at)
		w.schedule(w.now, at, policy.Event{Kind: policy.OperationEnded, Operated: true, Token: token})
	case policy.Pass:
		to := w.rng.IntN(len(w.agents) - 1)
		if to >= at {
			to++
		}
		token.Field = slices.Clone(a.Field)
		if w.lie != nil && at == 0 {
			token.Field = w.lie
		}
		w.schedule(w.now.Add(w.latency), to, policy.Event{Kind: policy.Arrival, Token: token})
		w.schedule(w.now.Add(w.latency), at, policy.Event{Kind: policy.PassEnded, Outcome: policy.Delivered, Token: token})
	case policy.Drop:
		w.alive--
		w.dropped++
	case policy.Generate:
		w.alive++
		w.generated++
		w.minted++
		binary.BigEndian.PutUint64(token.ID[:], w.rng.Uint64()) // as of a hash
		binary.BigEndian.PutUint64(token.ID[8:], w.minted)
		w.schedule(w.now, at, policy.Event{Kind: policy.Generated, Token: token})
	}
}

func (w *world) use(at int) {
	w.uses = append(w.uses, w.now)
	if w.last[at] >= 0 {
		w.intervals = append(w.intervals, w.now.Sub(w.last[at]))
	}
	w.last[at] = w.now
}

// forget ends the warm-up.
func (w *world) forget() { w.uses, w.intervals, w.generated, w.dropped = nil, nil, 0, 0 }

// step is how much in step the uses are with a period: 1 when all fall on the
// same phase of it, near 0 when they are spread evenly (the mean resultant
// length of circular statistics).
func (w *world) step(period time.Duration) float64 {
	var sum complex128
	for _, at := range w.uses {
		sum += cmplx.Rect(1, 2*math.Pi*float64(at)/float64(period))
	}
	return cmplx.Abs(sum) / float64(len(w.uses))
}

// crowd is the largest number of uses that begin within one span.
func (w *world) crowd(span time.Duration) int {
	most, first := 0, 0
	for i, at := range w.uses {
		for at.Sub(w.uses[first]) >= span {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

func (w *world) meanInterval() time.Duration {
	var sum time.Duration
	for _, d := range w.intervals {
		sum += d
	}
	return sum / time.Duration(max(len(w.intervals), 1))
}

// shareAbove is which part of the intervals is longer than limit.
func (w *world) shareAbove(limit time.Duration) float64 {
	n := 0
	for _, d := range w.intervals {
		if d > limit {
			n++
		}
	}
	return float64(n) / float64(max(len(w.intervals), 1))
}
