package experiment

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	published "github.com/wandertoken/wander/protocol/policy/wandering/papers"
	"github.com/wandertoken/wander/sim/circulation"
)

// The group of the goals about one token: the journal paper's constants.
const (
	walkOperation = 4 * time.Second
	walkSkip      = 100 * time.Millisecond

	// walkSeeds is added to the seeds: these are runs that nobody has looked at
	// while the policies were made.
	walkSeeds = 1_000_000

	// walkBins is how finely a round is told apart, and walkSpan how many rounds
	// the histogram of the times between operations has.
	walkBins, walkSpan = 1000, 10
)

// walkGroup is a group under a preset of the wandering token, and what happens to
// it.
type walkGroup struct {
	preset              string
	members, membersMax int
	losses              []lossKind    // one at each multiple of lossEvery, in turn
	length              time.Duration // to measure; more where rounds are long
	warmRounds, rounds  int           // before that, and while it is measured at least
	down                time.Duration // until a member that crashed is back
	detect              time.Duration // until that is found out
	retry               time.Duration // until a token to lose is looked for again
	fallen              float64       // the share of the members that fall for good in the warm-up
	change              func(*circulation.Config)
	timekeepers         int // under fair; 0: the preset's
	// maker makes the members' policies; nil is the catalog's of the preset.
	maker func(circulation.Config) circulation.Maker
}

// walkOf is the group of the goals with a preset, as the journal paper configures
// it: for 300 members, whatever their number.
func walkOf(l *Lab, preset string, members int) walkGroup {
	return walkGroup{
		preset: preset, members: members, membersMax: fullLoad, losses: plainLosses, length: l.span(walkLength),
		warmRounds: l.count(walkWarm), rounds: l.count(walkRounds), down: l.span(walkDown), detect: l.span(walkDetect), retry: l.span(lossRetry),
	}
}

// walkSized is a group that is configured for its own size.
func walkSized(l *Lab, preset string, members int) walkGroup {
	g := walkOf(l, preset, members)
	g.membersMax = members
	return g
}

// least is Δmin of the journal paper.
func (g *walkGroup) least() time.Duration { return published.MinInterval(walkOperation, g.membersMax) }

// ideal is the time between two operations of a member in a perfect round robin of
// those that do not fall for good.
func (g *walkGroup) ideal() time.Duration {
	c := circulation.Config{Members: g.members, Down: g.fallen}
	return max(walkOperation*time.Duration(c.Living()), g.least())
}

func (g *walkGroup) warm() time.Duration     { return time.Duration(g.warmRounds) * g.ideal() }
func (g *walkGroup) measured() time.Duration { return max(g.length, time.Duration(g.rounds)*g.ideal()) }

// config is what is simulated. min_interval is given, so that the report's preset,
// whose formula is another one, has the same load.
func (g *walkGroup) config(seed uint64) circulation.Config {
	c := circulation.Config{
		Policy: catalog.Wandering, Members: g.members, Seed: seed + walkSeeds, Found: 1, Forgetful: true, DownFor: g.down, DetectAfter: g.detect,
		Params: policy.Params{
			Preset: g.preset, OperationTime: walkOperation, MembersMax: g.membersMax, SkipDelay: walkSkip, MinInterval: g.least(),
			Timekeepers: g.timekeepers,
		},
		Down: g.fallen, DownBy: g.warm() / 2,
	}
	if g.change != nil {
		g.change(&c)
	}
	return c
}

// world is the group at its start.
func (g *walkGroup) world(ctx context.Context, seed uint64) (*circulation.Simulation, error) {
	c := g.config(seed)
	if g.maker != nil {
		return circulation.NewWith(c, g.maker(c))
	}
	return circulation.NewContext(ctx, c)
}

// walkRun is what one run of a group showed.
type walkRun struct {
	outcome
	ideal   time.Duration
	traffic circulation.Traffic
	losses  []tokenLoss
	waiting float64 // share of time in which nobody ran though somebody was due
	gain    float64 // of liars, where there are some
	down    []int   // those that had fallen at the end of the warm-up, where some do for good
}

// run runs the group. What happened in the warm-up is in none of the figures.
func (g *walkGroup) run(ctx context.Context, seed uint64) (*walkRun, error) {
	w, err := g.world(ctx, seed)
	if err != nil {
		return nil, err
	}
	start, end := clock.Instant(g.warm()), clock.Instant(g.warm()+g.measured())
	r := &walkRun{ideal: g.ideal()}
	r.Meter = circulation.NewMeter(circulation.MeterConfig{Start: start, Bin: r.ideal / walkBins, Limit: walkSpan * r.ideal})
	due := newDueWatch(g.members, g.least(), start)
	injected := newLosing(g.losses, start, g.down, g.retry, rand.New(rand.NewPCG(seed, streamPrepare)))
	w.Observe(r.Meter)
	w.Observe(due)
	w.Observe(injected)
	injected.plan(w, end)
	w.Run(start)
	if g.fallen > 0 {
		r.down = fallenOf(w)
		due.forget(r.down)
	}
	stats, traffic := w.Stats(), w.Traffic()
	w.Run(end)
	r.stats, r.traffic = sinceThen(w.Stats(), stats), w.Traffic().Since(traffic)
	r.losses = injected.finish(w.Now())
	r.waiting = float64(due.waited) / float64(g.measured())
	r.Visits, r.Waits = nil, nil // large, and of no goal
	return r, w.Err()
}

// fallenOf are the members that are down.
func fallenOf(w *circulation.Simulation) (down []int) {
	for m := range w.Members() {
		if !w.Up(m) {
			down = append(down, m)
		}
	}
	return down
}

// sinceThen are the counts of which the goals tell.
func sinceThen(now, then circulation.Stats) circulation.Stats {
	now.Hops -= then.Hops
	now.Operations -= then.Operations
	now.Messages -= then.Messages
	now.Generated -= then.Generated
	now.Lost -= then.Lost
	now.Refused -= then.Refused
	return now
}

// runs runs the group with all seeds.
func (g walkGroup) runs(l *Lab) ([]*walkRun, error) {
	return Gather(l, func(seed uint64) (*walkRun, error) { return g.run(l.Context(), seed) })
}

// The figures of a run.

func (r *walkRun) share(k int) float64 { return r.Concurrency(k) }

func (r *walkRun) crowd() float64 { return moreThan(2)(&r.outcome) }

// stretched is a percentile of the times between operations, over the ideal.
func (r *walkRun) stretched(q float64) float64 {
	return r.Operations.Quantile(q).Seconds() / r.ideal.Seconds()
}

func (r *walkRun) messagesPerOperation() float64 {
	return float64(r.stats.Messages) / float64(r.stats.Operations)
}

func (r *walkRun) messagesPerHop() float64 { return float64(r.stats.Messages) / float64(r.stats.Hops) }

func (r *walkRun) hopsPerOperation() float64 {
	return float64(r.stats.Hops) / float64(r.stats.Operations)
}

func (r *walkRun) refusedPerOperation() float64 {
	return float64(r.stats.Refused) / float64(r.stats.Operations)
}

// plainLosses are the goals' losses: in transit and with the holder in turn.
var plainLosses = []lossKind{inTransit, withHolder}

// felt is for how many seconds each loss of these kinds was felt.
func (r *walkRun) felt(kinds []lossKind) []float64 {
	return r.lossTimes(kinds, func(l tokenLoss) time.Duration { return l.operation })
}

func (r *walkRun) lossTimes(kinds []lossKind, of func(tokenLoss) time.Duration) []float64 {
	var seconds []float64
	for _, loss := range r.losses {
		if slices.Contains(kinds, loss.kind) {
			seconds = append(seconds, of(loss).Seconds())
		}
	}
	return seconds
}

// longestOf is NaN of nothing.
func longestOf(seconds []float64) float64 {
	if len(seconds) == 0 {
		return math.NaN()
	}
	return slices.Max(seconds)
}

// fieldBytes is what a token carries on average.
func (r *walkRun) fieldBytes() float64 { return float64(r.traffic.Fields) / float64(r.traffic.Passes) }
