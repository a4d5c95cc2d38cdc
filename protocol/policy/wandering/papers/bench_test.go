package papers

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// walk carries tokens over agents without a queue of events: each hop is the
// two steps that it costs in a simulator, and nothing else.
type walk struct {
	agents  []policy.Policy
	tokens  []policy.Token
	rng     *rand.Rand
	now     clock.Instant
	actions []policy.Action
	hops    int
}

func newWalk(tb testing.TB, agents, tokens int, demand bool) *walk {
	w := &walk{rng: rand.New(rand.NewPCG(1, 1)), actions: make([]policy.Action, 0, 8)}
	source := rand.NewPCG(2, 2)
	params := table1
	params.MembersMax, params.RegenerationMean = agents, policy.MaxInterval
	for range agents {
		agent, err := New(params, source)
		require.NoError(tb, err)
		agent.Step(0, policy.Event{Kind: policy.DemandChanged, Demand: demand}, nil)
		w.agents = append(w.agents, agent)
	}
	for i := range tokens {
		w.tokens = append(w.tokens, policy.Token{ID: ident.Token{byte(i)}, Born: uint64(tokens - i)})
	}
	return w
}

// hop lets the next token visit a random agent.
func (w *walk) hop() {
	agent := w.agents[w.rng.IntN(len(w.agents))]
	token := &w.tokens[w.hops%len(w.tokens)]
	w.hops++
	w.actions = agent.Step(w.now, policy.Event{Kind: policy.Arrival, Token: *token}, w.actions[:0])
	switch w.actions[0].Kind {
	case policy.Run:
		w.now = w.now.Add(4 * time.Second)
		w.actions = agent.Step(w.now, policy.Event{Kind: policy.OperationEnded, Operated: true, Token: *token}, w.actions[:0])
	case policy.Prepare: // it rests
		w.now = w.now.Add(100 * time.Millisecond)
		w.actions = agent.Step(w.now, policy.Event{Kind: policy.Timer}, w.actions[:0])
	case policy.Drop: // in a benchmark it comes again as another
		token.Born--
		token.ID[8]++
	}
}

func BenchmarkHop(b *testing.B) {
	for _, c := range []struct {
		name           string
		agents, tokens int
		demand         bool
	}{
		{"300agents", 300, 1, true},
		{"300agents,idle", 300, 1, false},
		{"300agents,3tokens", 300, 3, true},
		{"1000000agents", 1_000_000, 1, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			w := newWalk(b, c.agents, c.tokens, c.demand)
			for range 1000 {
				w.hop()
			}
			b.ReportAllocs()
			for b.Loop() {
				w.hop()
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mhops/s")
		})
	}
}

// TestNoAllocations: an agent allocates nothing after New, whatever happens.
func TestNoAllocations(t *testing.T) {
	for _, tokens := range []int{1, 3, 3 * historySize} {
		w := newWalk(t, 30, tokens, true)
		assert.Zero(t, testing.AllocsPerRun(10_000, w.hop), "%d tokens", tokens)
	}
}

// TestSize: a million agents and their sources fit into a gigabyte, and leave
// room for what a simulator keeps about them.
func TestSize(t *testing.T) {
	assert.LessOrEqual(t, reflect.TypeFor[agent]().Size(), uintptr(576), "the size class of the allocator")
}
