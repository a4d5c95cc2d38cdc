package circulation_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/wandering"
	"github.com/wandertoken/wander/sim/circulation"
)

// table1 is the case study of the journal paper (§3, table 1).
var table1 = policy.Params{OperationTime: 4 * time.Second, MembersMax: 300, SkipDelay: 100 * time.Millisecond}

func paperTable1() policy.Params {
	p := table1
	p.Preset = wandering.Paper
	return p
}

// TestCaseStudy: the journal paper's run gives what the simulation in
// protocol/policy/wandering gives, which shares no code with this one (40 runs
// of it: idle 9.1 % ± 1.6, two 6.7 % ± 0.7, more 0.25 % ± 0.13, visits within
// 1200 s 87.3 % ± 0.5, operations 63.3 % ± 0.8).
func TestCaseStudy(t *testing.T) {
	const runs = 4
	var idle, two, more, visits, operations float64
	for seed := range uint64(runs) {
		w, err := circulation.New(circulation.Config{
			Policy: catalog.Wandering, Params: paperTable1(), Members: 300, Found: 1, Seed: seed, LossEvery: 10_000 * time.Second,
		})
		require.NoError(t, err)
		m := circulation.NewMeter(circulation.MeterConfig{})
		w.Observe(m)
		w.Run(clock.Instant(100_000 * time.Second))
		require.NoError(t, w.Err())
		idle += m.Concurrency(0) / runs
		two += m.Concurrency(2) / runs
		more += (1 - m.Concurrency(0) - m.Concurrency(1) - m.Concurrency(2)) / runs
		visits += m.Visits.ShareBelow(1200*time.Second) / runs
		operations += m.Operations.ShareBelow(1200*time.Second) / runs
	}
	t.Logf("idle %.4f, two %.4f, more %.4f, visits %.4f, operations %.4f", idle, two, more, visits, operations)
	assert.InDelta(t, 0.091, idle, 0.025)
	assert.InDelta(t, 0.067, two, 0.012)
	assert.InDelta(t, 0.0025, more, 0.002)
	assert.InDelta(t, 0.873, visits, 0.01)
	assert.InDelta(t, 0.633, operations, 0.015)
}

// world makes a Simulation and a Meter that observes it.
func world(t *testing.T, cfg circulation.Config, mc circulation.MeterConfig) (*circulation.Simulation, *circulation.Meter) {
	t.Helper()
	w, err := circulation.New(cfg)
	require.NoError(t, err)
	m := circulation.NewMeter(mc)
	w.Observe(m)
	return w, m
}

// run lets a Simulation run to an instant without a standstill.
func run(t *testing.T, w *circulation.Simulation, until time.Duration) {
	t.Helper()
	w.Run(clock.Instant(until))
	require.NoError(t, w.Err())
}

// TestReturnTimes: a walk that passes on at each hop, uniformly to the others,
// comes back after k hops with probability q(1-q)^(k-2), q = 1/(N-1): after N
// hops on average.
func TestReturnTimes(t *testing.T) {
	const n = 20
	hop := table1.SkipDelay
	params := paperTable1()
	params.MinInterval, params.RegenerationMean = policy.MaxInterval, policy.MaxInterval
	w, m := world(t, circulation.Config{Policy: catalog.Wandering, Params: params, Members: n, Found: 1, Seed: 5},
		circulation.MeterConfig{Start: clock.Instant(200 * time.Second), Bin: hop, Limit: 400 * hop})
	run(t, w, 40_000*time.Second)
	require.Greater(t, m.Visits.Count(), uint64(390_000))
	assert.InDelta(t, n, m.Visits.Mean().Seconds()/hop.Seconds(), 0.13, "four standard errors")
	q := 1.0 / (n - 1)
	for _, k := range []int{2, 3, 10, 20, 60, 100} {
		below := 1 - math.Pow(1-q, float64(k-1))
		assert.InDelta(t, below, m.Visits.ShareBelow(time.Duration(k+1)*hop), 0.004, "%d hops", k)
	}
}

// TestUncoordinated: of N members that begin an operation in an interval of
// mean T each, independently, k operate at once with the binomial probability
// of operation time over T.
func TestUncoordinated(t *testing.T) {
	w, m := world(t, circulation.Config{Policy: catalog.Uncoordinated, Params: table1, Members: 300, Seed: 5},
		circulation.MeterConfig{Start: clock.Instant(20_000 * time.Second)})
	run(t, w, 500_000*time.Second)
	assert.InDelta(t, 1200, m.Operations.Mean().Seconds(), 2)
	q := 4.0 / 1200
	expected := math.Pow(1-q, 300)
	for k := range 6 {
		assert.InDelta(t, expected, m.Concurrency(k), 0.004, "%d at once", k)
		expected *= q / (1 - q) * float64(300-k) / float64(k+1)
	}
}

// TestColdStart: where all begin together and none has seen a token, one is
// made after Δmin and the least of N delays of mean γ: 2·Δmin on average, and
// the first gap is exponential beyond Δmin.
func TestColdStart(t *testing.T) {
	params := paperTable1()
	params.MembersMax = 30
	h := circulation.NewHistogram(time.Second, 1000*time.Second)
	for seed := range uint64(2000) {
		w, m := world(t, circulation.Config{Policy: catalog.Wandering, Params: params, Members: 30, Seed: seed}, circulation.MeterConfig{})
		for len(m.Gaps()) == 0 {
			run(t, w, time.Duration(w.Now())+100*time.Second)
		}
		h.Add(m.Gaps()[0].Length())
	}
	assert.Greater(t, h.Min(), 60*time.Second)
	assert.InDelta(t, 120, h.Mean().Seconds(), 4*60/math.Sqrt(2000))
	assert.InDelta(t, 1-1/math.E, h.ShareBelow(120*time.Second), 4*0.011)
}

// trace is a hash of everything that happens.
type trace struct {
	hash uint64
	n    int
}

func (t *trace) note(now clock.Instant, kind, member int) {
	for _, x := range []uint64{uint64(now), uint64(kind), uint64(member)} {
		t.hash = (t.hash ^ x) * 0x9e3779b97f4a7c15
		t.hash ^= t.hash >> 29
	}
	t.n++
}

func (t *trace) Demanded(now clock.Instant, m int)                 { t.note(now, 1, m) }
func (t *trace) OperationBegan(now clock.Instant, m int)           { t.note(now, 2, m) }
func (t *trace) OperationEnded(now clock.Instant, m int)           { t.note(now, 3, m) }
func (t *trace) Visit(now clock.Instant, m int, _ ident.Token)     { t.note(now, 4, m) }
func (t *trace) TokenBorn(now clock.Instant, m int, _ ident.Token) { t.note(now, 5, m) }
func (t *trace) TokenGone(now clock.Instant, _ ident.Token, how circulation.End) {
	t.note(now, 6, int(how))
}
func (t *trace) MemberUp(now clock.Instant, m int)        { t.note(now, 7, m) }
func (t *trace) MemberDown(now clock.Instant, m int)      { t.note(now, 8, m) }
func (t *trace) WindowsChanged(now clock.Instant, _ bool) { t.note(now, 9, 0) }
func (t *trace) Advanced(clock.Instant)                   {}

// busy is a Config in which everything goes wrong.
func busy(name string, seed uint64) circulation.Config {
	params := table1
	params.MembersMax = 30
	if name == catalog.Multitoken {
		params.TargetInterval = 30 * time.Second
	}
	return circulation.Config{
		Policy: name, Params: params, Members: 30, Found: 2, Seed: seed,
		Passing: circulation.Exponential(20 * time.Millisecond), Telling: circulation.Uniform(0, 10*time.Millisecond),
		PassLoss: 0.0001, TellLoss: 0.1, LossEvery: 10 * time.Minute, CrashEvery: 50 * time.Second, DownFor: 20 * time.Second,
		ClockOffset: time.Second, Demand: circulation.Every(time.Minute),
	}
}

// TestDeterminism: the same Config gives the same run, whoever observes it and
// in however many steps; another seed gives another one.
func TestDeterminism(t *testing.T) {
	const length = 2000 * time.Second
	for _, name := range catalog.Names() {
		t.Run(name, func(t *testing.T) {
			play := func(seed uint64, steps int, observers ...circulation.Observer) (*trace, circulation.Stats) {
				w, err := circulation.New(busy(name, seed))
				require.NoError(t, err)
				tr := &trace{}
				for _, o := range append(observers, tr) {
					w.Observe(o)
				}
				for i := range steps {
					run(t, w, length*time.Duration(i+1)/time.Duration(steps))
				}
				return tr, w.Stats()
			}
			one, oneStats := play(1, 1)
			two, twoStats := play(1, 7, circulation.NewMeter(circulation.MeterConfig{}), circulation.Ignore{})
			other, _ := play(2, 1)
			assert.Greater(t, one.n, 1000)
			assert.Equal(t, one, two)
			assert.Equal(t, oneStats, twoStats)
			assert.NotEqual(t, one.hash, other.hash)
		})
	}
}

// TestNoAllocations: a run allocates nothing, with a Meter neither, once what
// has room for tokens, messages and links has grown; but for a few that keepers make in
// ten seconds.
func TestNoAllocations(t *testing.T) {
	for _, name := range catalog.Names() {
		t.Run(name, func(t *testing.T) {
			cfg := busy(name, 1)
			cfg.CrashEvery = 0 // a crashed member gets a new policy
			w, _ := world(t, cfg, circulation.MeterConfig{})
			run(t, w, 1000*time.Second)
			hops, messages := w.Stats().Hops, w.Stats().Messages
			allowed := 0.0
			if catalog.Presets(name)[0].Kept {
				allowed = 16
			}
			assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { w.Run(w.Now().Add(10 * time.Second)) }), allowed)
			assert.Greater(t, w.Stats().Hops+w.Stats().Operations+w.Stats().Messages-hops-messages, uint64(100))
		})
	}
}

// TestReplay: a policy that is told what one in a Simulation was told, with the
// same random source, answers the same.
func TestReplay(t *testing.T) {
	params := paperTable1()
	params.MembersMax = 2
	events := []circulation.Recorded{
		{Now: 0, Event: policy.Event{Kind: policy.Timer}},
		{Now: 5, Event: policy.Event{Kind: policy.DemandChanged, Demand: true}},
		{Now: 9, Event: policy.Event{Kind: policy.Arrival, Token: policy.Token{ID: ident.Token{1}, Born: 7}}},
	}
	first, err := circulation.Replay(catalog.Wandering, params, policy.Surroundings{Random: rand.NewPCG(1, 2)}, events)
	require.NoError(t, err)
	require.Len(t, first, 3)
	require.Empty(t, first[0])
	assert.Equal(t, policy.Run, first[2][0].Kind)
	again, err := circulation.Replay(catalog.Wandering, params, policy.Surroundings{Random: rand.NewPCG(1, 2)}, events)
	require.NoError(t, err)
	assert.Equal(t, first, again)
	events = events[:1]
	for s := range 60 { // it generates when its random timeout has passed
		events = append(events, circulation.Recorded{Now: clock.Instant(s) * clock.Instant(time.Second), Event: policy.Event{Kind: policy.Timer}})
	}
	first, err = circulation.Replay(catalog.Wandering, params, policy.Surroundings{Random: rand.NewPCG(1, 2)}, events)
	require.NoError(t, err)
	other, err := circulation.Replay(catalog.Wandering, params, policy.Surroundings{Random: rand.NewPCG(1, 3)}, events)
	require.NoError(t, err)
	assert.NotEqual(t, first, other)
	_, err = circulation.Replay("nonesuch", params, policy.Surroundings{Random: rand.NewPCG(1, 2)}, nil)
	assert.ErrorIs(t, err, catalog.ErrUnknownPolicy)
}

// TestRing: where everybody always wants, a token in a ring comes round in
// exactly N times operation and handoff.
func TestRing(t *testing.T) {
	params := table1
	params.MembersMax = 12
	for _, preset := range catalog.Presets(catalog.Ring) {
		params.Preset = preset.Name
		w, m := world(t, circulation.Config{
			Policy: catalog.Ring, Params: params, Members: 12, Found: 1, Seed: 1,
			Passing: circulation.Constant(250 * time.Millisecond), Telling: circulation.Constant(10 * time.Millisecond),
		}, circulation.MeterConfig{Start: clock.Instant(1000 * time.Second)})
		run(t, w, 10_000*time.Second)
		assert.Equal(t, 51*time.Second, m.Operations.Min(), preset.Name)
		assert.Equal(t, 51*time.Second, m.Operations.Max(), preset.Name)
		assert.InDelta(t, 4/4.25, m.Concurrency(1), 0.001, preset.Name)
		assert.Zero(t, m.Concurrency(2), preset.Name)
	}
}
