package uncoordinated

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// caseStudy is that of the journal paper: 300 members whose operations take
// 4 s and start every 1200 ± 600 s.
var caseStudy = policy.Params{OperationTime: 4 * time.Second, MembersMax: 300, SkipDelay: 100 * time.Millisecond}

func TestBetween(t *testing.T) {
	for _, c := range []struct {
		preset            string
		min               time.Duration
		shortest, longest time.Duration
	}{
		{"", 0, 600 * time.Second, 1800 * time.Second},
		{Journal, 0, 600 * time.Second, 1800 * time.Second},
		{Journal, 100 * time.Second, 100 * time.Second, 300 * time.Second},
		{Report, 0, 1800 * time.Second, 2700 * time.Second},
		{Report, 600 * time.Second, 600 * time.Second, 900 * time.Second},
	} {
		p := caseStudy
		p.Preset, p.MinInterval = c.preset, c.min
		shortest, longest, err := Between(p)
		require.NoError(t, err)
		assert.Equal(t, []time.Duration{c.shortest, c.longest}, []time.Duration{shortest, longest}, "%+v", c)
	}
	p := caseStudy
	p.Preset = "jurnal"
	_, err := New(p, rand.NewPCG(0, 0))
	require.ErrorIs(t, err, policy.ErrPreset)
	assert.ErrorContains(t, err, Report)
	p.MembersMax = 0
	_, err = New(p, rand.NewPCG(0, 0))
	require.ErrorIs(t, err, policy.ErrOutOfRange)
}

const longAgo = clock.Instant(-time.Hour)

// member plays a member by its own books, and checks that what the agent
// answers is permitted.
type member struct {
	*rapid.T
	agent   *Agent
	now     clock.Instant
	here    map[ident.Token]bool // custody; true: the operation runs
	demand  bool
	pending bool // a Generate has no answer
	steady  bool // and the demand for it has not gone since
	began   clock.Instant
	next    byte
}

func (m *member) token() policy.Token {
	m.next++
	return policy.Token{ID: ident.Token{m.next, 1}}
}

func (m *member) running() (id ident.Token, ok bool) {
	for id, runs := range m.here {
		if runs {
			return id, true
		}
	}
	return id, false
}

func (m *member) draw() (e policy.Event, ok bool) {
	m.now = m.now.Add(time.Duration(rapid.SampledFrom([]int{0, 0, 1, 40, 500}).Draw(m.T, "ms")) * time.Millisecond)
	e.Kind = rapid.SampledFrom([]policy.EventKind{
		policy.Arrival, policy.Generated, policy.Generated, policy.Resumed, policy.Timer, policy.Timer,
		policy.OperationEnded, policy.DemandChanged, policy.PassEnded, policy.Message, policy.Neighbour,
	}).Draw(m.T, "kind")
	if m.pending && rapid.Bool().Draw(m.T, "answer") {
		e.Kind = policy.Generated
	}
	switch e.Kind {
	case policy.Arrival, policy.Resumed:
		e.Token = m.token()
	case policy.Generated:
		e.Token = m.token()
		if _, running := m.running(); running && m.pending {
			return e, false // the answer to a Generate comes at once
		}
	case policy.OperationEnded:
		e.Token.ID, ok = m.running()
		e.Operated = rapid.Bool().Draw(m.T, "operated")
		return e, ok
	case policy.Timer:
		if due := m.agent.Deadline(); due != clock.Never && rapid.Bool().Draw(m.T, "due") {
			m.now = max(m.now, due)
		}
	case policy.DemandChanged:
		e.Demand = rapid.IntRange(0, 3).Draw(m.T, "demand") > 0
		m.demand = e.Demand
		m.steady = m.steady && m.demand
	case policy.PassEnded:
		e.Token = m.token()
		e.Outcome = policy.Returned
	}
	return e, true
}

// step hands over an event, and books the answer.
func (m *member) step(e policy.Event) {
	switch e.Kind {
	case policy.Arrival, policy.Resumed, policy.Generated, policy.PassEnded:
		m.here[e.Token.ID] = false
	case policy.OperationEnded:
		m.here[e.Token.ID] = false
	}
	wanted := e.Kind == policy.Generated && m.pending && m.demand
	if e.Kind == policy.Generated {
		m.pending = false
	}
	ran := false
	for _, a := range m.agent.Step(m.now, e, nil) {
		switch a.Kind {
		case policy.Run:
			require.True(m, wanted, "runs under what it did not ask for")
			_, running := m.running()
			require.False(m, running)
			require.Equal(m, e.Token.ID, a.Token)
			require.True(m, m.now.Sub(m.began) >= m.agent.shortest, "starts too soon")
			m.here[a.Token], m.began, ran = true, m.now, true
		case policy.Drop:
			runs, here := m.here[a.Token]
			require.True(m, here && !runs)
			require.Equal(m, policy.Spent, a.Reason)
			delete(m.here, a.Token)
		case policy.Generate:
			require.Empty(m, m.here, "asks while it has one")
			require.True(m, m.demand)
			m.pending, m.steady = true, true
		default:
			require.Fail(m, "unexpected", "%+v", a)
		}
	}
	require.True(m, ran || !wanted || !m.steady, "does not run what it asked for")
	_, running := m.running()
	require.True(m, len(m.here) == 0 || running && len(m.here) == 1, "keeps only what runs: %v", m.here)
	require.True(m, running || m.agent.Deadline() > m.now && m.agent.Deadline() != clock.Never, "waits for nothing")
}

// TestProperties: whatever happens, an agent runs only under tokens that it
// asked for, keeps none, keeps the shortest time between two starts, and never
// stops trying.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := policy.Params{
			OperationTime: 40 * time.Millisecond, MembersMax: 5, SkipDelay: 10 * time.Millisecond,
			Preset: rapid.SampledFrom([]string{Journal, Report}).Draw(t, "preset"),
		}
		agent, err := New(p, rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		require.NoError(t, err)
		m := &member{T: t, agent: agent, here: map[ident.Token]bool{}, began: longAgo}
		if rapid.Bool().Draw(t, "restarted") {
			at := clock.Instant(rapid.IntRange(-200, 200).Draw(t, "ms")) * clock.Instant(time.Millisecond)
			require.Empty(t, agent.Step(0, policy.Event{Kind: policy.Recalled, At: at, Operated: true}, nil))
			m.began = min(at, 0)
		}
		for range rapid.IntRange(1, 100).Draw(t, "events") {
			if e, possible := m.draw(); possible {
				m.step(e)
			}
		}
	})
}

// run lets one agent alone live until the end, and lists its starts.
func run(t *testing.T, p policy.Params, seed uint64, end clock.Instant) (began []clock.Instant) {
	agent, err := New(p, rand.NewPCG(seed, 0))
	require.NoError(t, err)
	step := func(now clock.Instant, e policy.Event) (kind policy.ActionKind) {
		for _, a := range agent.Step(now, e, nil) {
			kind = a.Kind
		}
		return kind
	}
	step(0, policy.Event{Kind: policy.DemandChanged, Demand: true})
	for agent.Deadline() < end {
		now := agent.Deadline()
		require.Equal(t, policy.Generate, step(now, policy.Event{Kind: policy.Timer}))
		token := policy.Token{ID: ident.Token{1}}
		require.Equal(t, policy.Run, step(now, policy.Event{Kind: policy.Generated, Token: token}))
		began = append(began, now)
		ended := now.Add(p.OperationTime)
		require.Equal(t, policy.Drop, step(ended, policy.Event{Kind: policy.OperationEnded, Operated: true, Token: token}))
	}
	return began
}

// TestTimes: starts are uniformly spread over the interval, and the first ones
// of all members over a mean period.
func TestTimes(t *testing.T) {
	for _, preset := range []string{Journal, Report} {
		p := caseStudy
		p.Preset = preset
		shortest, longest, err := Between(p)
		require.NoError(t, err)
		mean := (shortest + longest) / 2
		var first, spans []float64
		for seed := range uint64(300) {
			began := run(t, p, seed, clock.Instant(20*mean))
			first = append(first, float64(began[0]))
			for i := range began[1:] {
				spans = append(spans, float64(began[i+1]-began[i]))
			}
		}
		checkUniform(t, first, 0, mean)
		checkUniform(t, spans, shortest, longest)
	}
}

// checkUniform compares mean, ends and quarters.
func checkUniform(t *testing.T, values []float64, low, high time.Duration) {
	var sum float64
	var quarters [4]float64
	for _, v := range values {
		sum += v
		require.GreaterOrEqual(t, v, float64(low))
		require.LessOrEqual(t, v, float64(high))
		quarters[min(3, int(4*(v-float64(low))/float64(high-low)))]++
	}
	n := float64(len(values))
	assert.InEpsilon(t, float64(low+high)/2, sum/n, 0.1)
	for _, q := range quarters {
		assert.InDelta(t, 0.25, q/n, 0.08)
	}
}

// TestOverlap: members do not know of each other, so at any time each of the N
// runs with probability p = Δop / mean period, and the number that run is
// binomial. For the journal paper's case study that is 37 % idle, 18 % two and
// 8 % more than two.
func TestOverlap(t *testing.T) {
	const members, end = 300, clock.Instant(50_000 * time.Second)
	warm := clock.Instant(5000 * time.Second)
	var all []clock.Instant
	for seed := range uint64(members) {
		all = append(all, run(t, caseStudy, seed, end)...)
	}
	slices.Sort(all)
	var at [members]float64 // time with so many at once
	var ends []clock.Instant
	last, running := clock.Instant(0), 0
	book := func(now clock.Instant, change int) {
		at[running] += float64(max(0, now-max(last, warm)))
		last, running = now, running+change
	}
	for _, began := range all {
		for len(ends) > 0 && ends[0] <= began {
			book(ends[0], -1)
			ends = ends[1:]
		}
		book(began, +1)
		ends = append(ends, began.Add(caseStudy.OperationTime))
	}
	span := float64(last - warm)
	p, expected := 4.0/1200, 1.0
	for range members {
		expected *= 1 - p
	}
	for k := range 4 {
		t.Logf("%d at once: %.4f, binomial %.4f", k, at[k]/span, expected)
		assert.InDelta(t, expected, at[k]/span, 0.012)
		expected *= float64(members-k) / float64(k+1) * p / (1 - p)
	}
}

// TestNoAllocations: an agent allocates nothing after New.
func TestNoAllocations(t *testing.T) {
	agent, err := New(caseStudy, rand.NewPCG(1, 1))
	require.NoError(t, err)
	actions, now := make([]policy.Action, 0, 8), clock.Instant(0)
	agent.Step(0, policy.Event{Kind: policy.DemandChanged, Demand: true}, actions)
	token := policy.Token{ID: ident.Token{1}}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		now = now.Add(1800 * time.Second)
		agent.Step(now, policy.Event{Kind: policy.Timer}, actions)
		agent.Step(now, policy.Event{Kind: policy.Generated, Token: token}, actions)
		agent.Step(now, policy.Event{Kind: policy.OperationEnded, Token: token}, actions)
	}))
}
