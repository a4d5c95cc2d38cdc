package multitoken

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

// good are parameters that newAgent accepts.
var good = policy.Params{
	OperationTime: 4 * time.Second, MembersMax: 191, SkipDelay: 100 * time.Millisecond, TargetInterval: time.Minute,
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*policy.Params)
		reason error
		text   string
	}{
		{"no target", func(p *policy.Params) { p.TargetInterval = 0 }, policy.ErrOutOfRange, "target_interval"},
		{"range", func(p *policy.Params) { p.MembersMax = 0 }, policy.ErrOutOfRange, "members_max"},
		{"queue", func(p *policy.Params) { p.QueueCapacity = policy.MaxQueue + 1 }, policy.ErrOutOfRange, "queue_capacity"},
		{"preset", func(p *policy.Params) { p.Preset = "e" }, policy.ErrPreset, "split, t3gj, s3gj, jittered, paper"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := good
			c.change(&p)
			agent, err := newAgent(p, rand.NewPCG(0, 0))
			require.ErrorIs(t, err, c.reason)
			assert.ErrorContains(t, err, c.text)
			assert.Nil(t, agent)
		})
	}
}

// TestThresholds: what the parameters ask for, at the ends of their ranges too.
func TestThresholds(t *testing.T) {
	const year = 365 * 24 * time.Hour
	for _, c := range []struct {
		target         time.Duration
		factor         policy.Ratio
		early, silence time.Duration
	}{
		{2630 * time.Millisecond, 0, 876666666, 7890 * time.Millisecond},
		{time.Minute, 2000, 30 * time.Second, 2 * time.Minute},
		{time.Minute, policy.MinRatio, time.Minute, time.Minute},
		{policy.MinDuration, policy.MaxRatio, time.Microsecond, time.Second},
		{policy.MaxInterval, policy.MaxRatio, policy.MaxInterval / 1000, 10 * year}, // does not overflow
	} {
		p := good
		p.TargetInterval, p.IntervalFactor, p.Preset = c.target, c.factor, Paper
		paper, err := derive(p)
		require.NoError(t, err)
		assert.Equal(t, c.early, paper.early)
		assert.Equal(t, c.silence, paper.silence)
		assert.Equal(t, c.early, paper.draw(c.early, nil), "without any randomness")
	}
}

// TestJitter: thresholds vary by 30 % to both sides, evenly; an empty preset is
// the jittered one.
func TestJitter(t *testing.T) {
	c, err := derive(good)
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(1, 1))
	const draws = 10_000
	low, high, sum := time.Hour, time.Duration(0), time.Duration(0)
	for range draws {
		d := c.draw(time.Minute, rng)
		low, high, sum = min(low, d), max(high, d), sum+d
	}
	assert.InDelta(t, 42, low.Seconds(), 0.1)
	assert.InDelta(t, 78, high.Seconds(), 0.1)
	assert.InDelta(t, 60, (sum / draws).Seconds(), 0.5)
	assert.GreaterOrEqual(t, low, 42*time.Second)
	assert.LessOrEqual(t, high, 78*time.Second)
}

// TestAverage: the gauges follow the intervals, the average with an eighth of
// each step.
func TestAverage(t *testing.T) {
	p := good
	p.Preset = Paper
	agent, err := newAgent(p, rand.NewPCG(0, 0))
	require.NoError(t, err)
	var names []string
	var values []float64
	read := func() []float64 {
		names, values = nil, nil
		agent.Gauges(func(name string, value float64) { names, values = append(names, name), append(values, value) })
		return values
	}
	use := func(at time.Duration) {
		token := policy.Token{ID: ident.Token{1}}
		agent.Step(clock.Instant(at), policy.Event{Kind: policy.Arrival, Token: token}, nil)
		agent.Step(clock.Instant(at), policy.Event{Kind: policy.OperationEnded, Operated: true, Token: token}, nil)
	}
	agent.Step(0, policy.Event{Kind: policy.DemandChanged, Demand: true}, nil)
	assert.Equal(t, []float64{0, 0}, read())
	assert.Equal(t, []string{"interval_seconds", "interval_ewma_seconds"}, names)
	use(10 * time.Second)
	assert.Equal(t, []float64{0, 0}, read(), "one use makes no interval")
	use(50 * time.Second)
	assert.Equal(t, []float64{40, 40}, read())
	use(130 * time.Second)
	assert.Equal(t, []float64{80, 45}, read())
}

// carousel hands a few tokens round to one agent.
type carousel struct {
	agent   *agent
	now     clock.Instant
	actions []policy.Action
	turn    int
}

func (c *carousel) hop() {
	c.turn++
	token := policy.Token{ID: ident.Token{byte(c.turn)}}
	c.tell(policy.Event{Kind: policy.Arrival, Token: token})
	if c.agent.phase == running {
		token.ID = c.agent.used
		c.tell(policy.Event{Kind: policy.OperationEnded, Operated: true, Token: token})
	}
	c.tell(policy.Event{Kind: policy.Timer})
	c.now = c.now.Add(time.Duration(c.turn%40) * time.Second)
}

func (c *carousel) tell(e policy.Event) { c.actions = c.agent.Step(c.now, e, c.actions[:0]) }

func newCarousel(t testing.TB) *carousel {
	agent, err := newAgent(good, rand.NewPCG(0, 0))
	require.NoError(t, err)
	c := &carousel{agent: agent, actions: make([]policy.Action, 0, 8)}
	c.tell(policy.Event{Kind: policy.DemandChanged, Demand: true})
	return c
}

// TestNoAllocations: an agent allocates nothing after newAgent, whether tokens are
// used, wait or are dropped.
func TestNoAllocations(t *testing.T) {
	assert.Zero(t, testing.AllocsPerRun(10_000, newCarousel(t).hop))
}

// TestSize: a million agents with their queues fit into a third of a gigabyte.
func TestSize(t *testing.T) {
	size := reflect.TypeFor[agent]().Size() + capacity*reflect.TypeFor[ident.Token]().Size()
	assert.LessOrEqual(t, size, uintptr(320))
}

func BenchmarkHop(b *testing.B) {
	c := newCarousel(b)
	b.ReportAllocs()
	for b.Loop() {
		c.hop()
	}
}
