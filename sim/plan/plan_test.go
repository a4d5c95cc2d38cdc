package plan

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/wandering"
	"github.com/wandertoken/wander/sim/circulation"
)

// little is enough for figures to a few percent in small groups.
var little = effort{300_000, 60_000}

// ask is a group of 20 members, changed.
func ask(change func(*Request)) Request {
	r := Request{
		Policy: catalog.Wandering, Members: 20, First: 1, Seeds: 4,
		Params: policy.Params{OperationTime: 4 * time.Second, MembersMax: 20, SkipDelay: 100 * time.Millisecond},
	}
	if change != nil {
		change(&r)
	}
	if r.Policy == catalog.Wandering && r.Params.Preset == "" {
		r.Params.Preset = wandering.Paper // the walk whose figures are known
	}
	return r
}

func answer(t *testing.T, r Request) *Report {
	t.Helper()
	p, err := r.make(t.Context(), little, func(float64) {})
	require.NoError(t, err)
	return p
}

func TestValidate(t *testing.T) {
	r := ask(nil)
	require.NoError(t, r.Validate())
	for name, c := range map[string]struct {
		change func(*Request)
		want   error
	}{
		"one member":    {func(r *Request) { r.Members = 1 }, ErrMembers},
		"too many":      {func(r *Request) { r.Members = policy.MaxMembers + 1 }, ErrMembers},
		"too many fair": {func(r *Request) { r.Members, r.Params.Preset = MaxFair+1, wandering.Fair }, ErrMembers},
		"no seed":       {func(r *Request) { r.Seeds = 0 }, ErrSeeds},
		"no first":      {func(r *Request) { r.First = 0 }, ErrSeeds},
		"first":         {func(r *Request) { r.First = maxFirst + 1 }, ErrSeeds},
		"seeds":         {func(r *Request) { r.Seeds = MaxSeeds + 1 }, ErrSeeds},
		"all lost":      {func(r *Request) { r.Loss = 1 }, ErrLoss},
		"negative loss": {func(r *Request) { r.Loss = -0.1 }, ErrLoss},
		"no number":     {func(r *Request) { r.Loss = math.NaN() }, ErrLoss},
		"every":         {func(r *Request) { r.Every = -1 }, ErrSpan},
		"crash":         {func(r *Request) { r.Crash = policy.MaxInterval + 1 }, ErrSpan},
		"down":          {func(r *Request) { r.DownFor = -1 }, ErrSpan},
		"latency":       {func(r *Request) { r.Latency = 2 * time.Hour }, ErrSpan},
		"round":         {func(r *Request) { r.Members, r.Latency = policy.MaxMembers, 20*time.Minute }, ErrSpan},
		"crashes":       {func(r *Request) { r.Crash = 1 }, ErrSpan},
		"all down":      {func(r *Request) { r.Crash, r.DownFor = time.Minute, 11*time.Minute }, ErrSpan},
		"target":        {func(r *Request) { r.Policy = catalog.Multitoken }, ErrTarget},
		"policy":        {func(r *Request) { r.Policy = "nonesuch" }, catalog.ErrUnknownPolicy},
		"preset":        {func(r *Request) { r.Params.Preset = "nonesuch" }, policy.ErrPreset},
		"unused":        {func(r *Request) { r.Params.TargetInterval = time.Hour }, policy.ErrUnused},
		"operation":     {func(r *Request) { r.Params.OperationTime = 0 }, policy.ErrOutOfRange},
	} {
		r := ask(c.change)
		_, err := Make(t.Context(), r, func(float64) {})
		assert.ErrorIs(t, err, c.want, name)
	}
}

// TestSaturated: without faults, members that always want share all the time,
// but for Δskip at early visits, and each runs every N operations.
func TestSaturated(t *testing.T) {
	p := answer(t, ask(nil))
	assert.Equal(t, "paper", p.Preset)
	assert.Less(t, p.Idle, 0.05)
	assert.Equal(t, p.Idle, p.IdleWaiting, "somebody always waits")
	assert.InDelta(t, p.Interval.Mean, p.Wait.Mean+4, 0.2)
	perHour := 3600 / p.Interval.Mean * 20
	assert.InEpsilon(t, perHour, p.OperationsPerHour, 0.02)
	assert.InEpsilon(t, p.HandoffsPerHour*4/20, p.MessagesPerHour, 0.001)
	assert.Less(t, p.Wait.P50, p.Wait.P95)
	assert.Less(t, p.Wait.P95, p.Wait.P99)
	assert.Empty(t, p.Hints)
	assert.Zero(t, *p.NoToken)
	assert.Positive(t, p.Recovery.Median)
	assert.Greater(t, p.Recovery.Largest, p.Recovery.Median)
	assert.GreaterOrEqual(t, p.Recovery.Losses, 20)
}

// TestRecovery: whoever has not seen the token for Δmin, here 40 s, may make
// one already. So after a loss it takes less than from a cold start, where
// that is 2·Δmin on average and 1.7·Δmin in the median.
func TestRecovery(t *testing.T) {
	r := ask(func(r *Request) { r.Seeds = 8 })
	p, err := r.make(t.Context(), effort{10_000, 1_000_000}, func(float64) {})
	require.NoError(t, err)
	t.Logf("%+v", *p.Recovery)
	assert.GreaterOrEqual(t, p.Recovery.Losses, 200)
	assert.Less(t, p.Recovery.Median, 1.7*40)
	assert.Greater(t, p.Recovery.Median, 10.0)
	assert.Greater(t, p.Recovery.Largest, 2*40.0)
}

// TestUncoordinatedShares are the binomial's: each member is busy a part q of
// the time, independently.
func TestUncoordinatedShares(t *testing.T) {
	p := answer(t, ask(func(r *Request) { r.Policy = catalog.Uncoordinated }))
	q := 1.0 / 20
	assert.InDelta(t, math.Pow(1-q, 20), p.Idle, 0.01)
	assert.InDelta(t, 190*q*q*math.Pow(1-q, 18), p.Two, 0.01)
	assert.InDelta(t, 1-math.Pow(1-q, 20)-20*q*math.Pow(1-q, 19)-190*q*q*math.Pow(1-q, 18), p.More, 0.01)
	assert.Nil(t, p.Recovery)
	assert.Nil(t, p.NoToken)
	assert.Zero(t, p.MessagesPerHour)
	require.Len(t, p.Hints, 1)
	assert.Contains(t, p.Hints[0], "more than two operations")
}

func TestHints(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Request)
		says   string
	}{
		"overload":     {func(r *Request) { r.Every = 10 * time.Second }, "overload: members want 5.71 operations at once"},
		"min interval": {func(r *Request) { r.Every, r.Params.MembersMax = 6*time.Minute, 500 }, "min_interval is 16m40s"},
		"losses":       {func(r *Request) { r.Loss = 0.05 }, "there is no token"},
		"rough":        {func(r *Request) { r.Every, r.Params.SkipDelay = 24*time.Hour, time.Millisecond }, "rough figures"},
		"nobody":       {func(r *Request) { r.Every = policy.MaxInterval }, "nobody ran"},
		"runs":         {func(r *Request) { r.Seeds, r.Every = MaxSeeds, 10*time.Minute }, "instead of 100"},
		"short":        {func(r *Request) { r.Every = 30 * 24 * time.Hour }, "shorter than 10 times"},
		"down":         {func(r *Request) { r.Crash, r.DownFor = time.Minute, 5*time.Minute }, "about 5 of 20 members are down"},
		"recoveries":   {func(r *Request) { r.Every = 24 * time.Hour }, "losses were simulated, a larger time is likely"},
		"few faults":   {func(r *Request) { r.Crash = 1000 * time.Hour }, "0 crashes"},
	} {
		t.Run(name, func(t *testing.T) {
			p := answer(t, ask(c.change))
			var all string
			for _, h := range p.Hints {
				all += h + "\n"
			}
			assert.Contains(t, all, c.says)
		})
	}
}

// TestFaults: crashes of volatile members lose tokens, those of durable ones
// do not, and both make others wait.
func TestFaults(t *testing.T) {
	calm := answer(t, ask(nil))
	crash := func(volatile bool) *Report {
		return answer(t, ask(func(r *Request) { r.Crash, r.DownFor, r.Volatile = 30*time.Second, time.Minute, volatile }))
	}
	durable, volatile := crash(false), crash(true)
	assert.Zero(t, durable.Losses)
	assert.Positive(t, volatile.Losses)
	assert.Positive(t, durable.Crashes)
	assert.Greater(t, durable.Idle, calm.Idle+0.02)
	assert.Greater(t, *volatile.NoToken, 0.01)
	assert.Zero(t, *durable.NoToken)
	lossy := answer(t, ask(func(r *Request) { r.Loss = 0.01 }))
	assert.Greater(t, lossy.Idle, 2*calm.Idle)
}

// TestBudget: however little is spent, in however many runs, what takes longer
// than a run is not left out of the figures.
func TestBudget(t *testing.T) {
	nightly := func(r *Request) { r.Every, r.Params.SkipDelay = 24*time.Hour, 10*time.Second }
	day := (24*time.Hour + 4*time.Second).Seconds()
	for _, c := range []struct {
		events uint64
		seeds  int
		runs   int
		long   bool
	}{
		{5_000_000, 2, 2, true}, {5_000_000, MaxSeeds, 10, true}, {200_000, MaxSeeds, 1, false}, {200_000, 8, 1, false},
	} {
		r := ask(nightly)
		r.Seeds = c.seeds
		p, err := r.make(t.Context(), effort{c.events, 1000}, func(float64) {})
		require.NoError(t, err)
		t.Logf("%d runs of %.1f days: mean %.2f, %+v", p.Seeds, p.Simulated/day, p.Interval.Mean/day, *p.Interval)
		assert.Equal(t, c.long, p.Simulated >= 10*day)
		assert.InDelta(t, c.runs, p.Seeds, float64(c.runs)/9, "as many as are long enough")
		assert.InDelta(t, 1, p.Interval.Mean/day, 4/math.Sqrt(20*p.Simulated*float64(p.Seeds)/day), "within what chance does")
		if c.long {
			assert.InEpsilon(t, math.Log(2), p.Interval.P50/day, 0.15, "exponential, but for the wait")
			assert.Empty(t, p.Interval.LowerBounds)
		} else {
			assert.Contains(t, p.Interval.LowerBounds, "p99")
			assert.LessOrEqual(t, p.Interval.P99, p.Simulated+1)
		}
	}
}

// TestPrice: what takes longer is done less often.
func TestPrice(t *testing.T) {
	fair, paper := ask(func(r *Request) { r.Params.Preset = wandering.Fair }), ask(nil)
	assert.Less(t, fair.share(1000), paper.share(1000)/3)
	assert.Positive(t, fair.share(1000))
	fair.Params.Preset = ""
	assert.Less(t, fair.share(1000), paper.share(1000)/3, "the default is fair")
}

// TestAtOnce: where all members run at once and then pause, the number of runs
// is a poor measure of the time between them.
func TestAtOnce(t *testing.T) {
	r := ask(func(r *Request) { r.Params.MinInterval = 24 * time.Hour; r.Params.SkipDelay = 10 * time.Second })
	p, err := r.make(t.Context(), effort{400_000, 1000}, func(float64) {})
	require.NoError(t, err)
	assert.Empty(t, p.Interval.LowerBounds)
	assert.GreaterOrEqual(t, p.Interval.Mean, 24*3600.0)
	assert.Less(t, p.Interval.Mean, 25*3600.0)
}

// TestCancel: a plan ends with its context.
func TestCancel(t *testing.T) {
	over := errors.New("over")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(over)
	_, err := Make(ctx, ask(nil), func(float64) {})
	assert.ErrorIs(t, err, over)
}

// TestLatency: a handoff's time is idle time.
func TestLatency(t *testing.T) {
	p := answer(t, ask(func(r *Request) { r.Latency = 2 * time.Second }))
	assert.Greater(t, p.Idle, 0.3)
}

// TestDeterministic: the same request has the same report.
func TestDeterministic(t *testing.T) {
	r := ask(func(r *Request) { r.Crash, r.Loss, r.Every = time.Minute, 0.001, time.Minute })
	assert.Equal(t, answer(t, r), answer(t, r))
}

// TestStandstill: what the simulator cannot do is an error.
func TestStandstill(t *testing.T) {
	r := ask(nil)
	err := r.each(4, func(i int) error {
		if i == 2 {
			return circulation.ErrStandstill
		}
		return nil
	})
	assert.ErrorIs(t, err, circulation.ErrStandstill)
}

// TestProgress: it goes up to 1, once for each run.
func TestProgress(t *testing.T) {
	r := ask(func(r *Request) { r.Seeds = 3 })
	var seen []float64
	_, err := r.make(t.Context(), effort{100_000, 1000}, func(done float64) { seen = append(seen, done) })
	require.NoError(t, err)
	assert.Equal(t, []float64{1.0 / 3, 2.0 / 3, 1}, seen)
}

// TestSchema: the JSON has the fields that it had in version 1.
func TestSchema(t *testing.T) {
	text, err := json.Marshal(answer(t, ask(nil)))
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(text, &fields))
	assert.EqualValues(t, 1, fields["v"])
	for _, name := range []string{
		"policy", "preset", "members", "wait_s", "interval_s", "idle_share", "idle_while_waiting_share", "two_share",
		"more_than_two_share", "no_token_share", "recovery_s", "operations_per_hour", "handoffs_per_hour",
		"messages_per_hour_and_member", "messages_per_operation", "policy_messages_per_operation", "gossip_messages_per_operation",
		"hello_messages_per_operation", "all_messages_per_operation", "first_seed", "seeds", "simulated_s", "warm_up_s", "losses", "crashes", "hints",
	} {
		assert.Contains(t, fields, name)
	}
	assert.Len(t, fields, 27)
	assert.IsType(t, []any{}, fields["hints"])
	assert.Contains(t, fields["wait_s"], "p99")
	assert.Contains(t, fields["wait_s"], "lower_bounds")
}

// The prediction that was wrong: among 20 members under fair with operations of a
// second, 22 ms one way leave the resource idle for the one way of TRANSFER, and
// not for the three of a handoff that begins when the operation ends. A walk that
// does not prepare in time waits for all three.
func TestLatency_PreOffer_OneWayIdle(t *testing.T) {
	idle := func(operation time.Duration) float64 {
		return answer(t, ask(func(r *Request) {
			r.Params.Preset, r.Params.OperationTime, r.Params.SkipDelay = wandering.Fair, operation, operation/40
			r.Latency = 22 * time.Millisecond
		})).Idle
	}
	assert.InEpsilon(t, 22.0/1022, idle(time.Second), 0.05)
	assert.Greater(t, idle(44*time.Millisecond), 0.5, "fair asks for longer than the operation takes")
}

// Messages beside the handoffs and the policy's: each member compares directories
// twice a minute, and pairs that have nothing to say to each other connect anew.
func TestMessages_Upkeep_Counted(t *testing.T) {
	busy := answer(t, ask(nil))
	perOperation := 2 * 20 / 30.0 * 3600 / busy.OperationsPerHour
	assert.InEpsilon(t, perOperation, busy.GossipPerOperation, 0.001)
	assert.InEpsilon(t, busy.MessagesPerOperation+busy.GossipPerOperation+busy.HelloPerOperation, busy.AllPerOperation, 1e-9)
	rare := answer(t, ask(func(r *Request) { r.Every = time.Hour; r.Params.SkipDelay = time.Minute }))
	assert.Greater(t, rare.GossipPerOperation, 100.0)
	assert.Greater(t, rare.HelloPerOperation, rare.GossipPerOperation/2, "most pairs have no connection")
	assert.Less(t, rare.HelloPerOperation, 1.5*rare.GossipPerOperation+8*rare.HandoffsPerHour/rare.OperationsPerHour)
}

// The first seed makes other runs, and is told.
func TestFirst_OtherSeeds_OtherFigures(t *testing.T) {
	one, other := answer(t, ask(nil)), answer(t, ask(func(r *Request) { r.First = 100 }))
	assert.Equal(t, [2]uint64{1, 100}, [2]uint64{one.First, other.First})
	assert.NotEqual(t, one.Interval.P99, other.Interval.P99)
}

// TestEvents_Given_RunsShorter: a plan that may cost less has simulated less, and is the one of that effort.
func TestEvents_Given_RunsShorter(t *testing.T) {
	r := ask(func(r *Request) { r.Events = 40_000 })
	short, err := Make(t.Context(), r, func(float64) {})
	require.NoError(t, err)
	same, err := r.make(t.Context(), effort{40_000, 10_000}, func(float64) {})
	require.NoError(t, err)
	assert.Equal(t, same, short)
	longer, err := r.make(t.Context(), little, func(float64) {})
	require.NoError(t, err)
	assert.Greater(t, longer.Simulated*float64(longer.Seeds), short.Simulated*float64(short.Seeds))
}
