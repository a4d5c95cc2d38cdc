package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/sim/circulation"
)

// Scenario is a simulation with parameters of the user's own.
type Scenario struct {
	circulation.Config // Seed and Directory are set for each run
	// Acquaintances is how many others each member knows, an even number; 0 is
	// everybody. Those of all members together are at most maxAcquainted.
	Acquaintances int
	// Duration is how long a run lasts, up to policy.MaxInterval, and WarmUp
	// how much of its beginning is not measured.
	Duration, WarmUp time.Duration
	// What is measured: names of Measures; none is all.
	What []string
	// Below asks for shares of times below these, up to MaxBelow.
	Below []time.Duration
	// Bin and Limit shape histograms as in circulation.MeterConfig, with its
	// defaults; up to maxBins bins.
	Bin, Limit time.Duration
}

// The limits of a Scenario.
const (
	// MaxBelow is more thresholds than anybody reads.
	MaxBelow = 20
	// maxBins keeps three histograms a run in some megabytes.
	maxBins = 100_000

	// maxAcquainted is how many acquaintances all members have together: at
	// four bytes each they take 256 MB, and a million members may know 66
	// others, three times the logarithm of the group that suffices.
	maxAcquainted = 1 << 26

	// minCrashEvery and minLossEvery keep a run from consisting of faults
	// alone: the whole group hears of a crash, one handoff of a loss.
	minCrashEvery = time.Second
	minLossEvery  = policy.MinDuration
)

const (
	// memory is about what all runs together take. More runs than fit wait for
	// others.
	memory = 1 << 30

	// memberMemory is what a member takes, with what is measured of it.
	memberMemory = 800
)

// What is wrong with a Scenario, beside the errors of circulation.New.
var (
	ErrDuration      = errors.New("duration out of range")
	ErrMeasure       = errors.New("unknown measure")
	ErrAcquaintances = errors.New("acquaintances out of range")
	ErrFaults        = errors.New("faults too frequent")
)

// measure is a group of quantities.
type measure struct {
	name       string
	quantities func(*Scenario) []quantity
}

// quantity is one number of a run.
type quantity struct {
	name  string
	unit  Unit
	value func(*outcome) float64
}

var allMeasures = []measure{
	{"concurrency", concurrencyQuantities},
	{"tokens", tokenQuantities},
	{"operations", func(s *Scenario) []quantity { return spanQuantities(s, operations) }},
	{"visits", func(s *Scenario) []quantity { return spanQuantities(s, visits) }},
	{"waits", func(s *Scenario) []quantity { return spanQuantities(s, waits) }},
	{"gaps", gapQuantities},
	{"counts", countQuantities},
}

func waits(o *outcome) *circulation.Histogram { return o.Waits }

// Measures are the names of what a Scenario can measure:
//
//	concurrency  shares of time by the number of operations at once
//	tokens       shares of time by the number of tokens
//	operations   times between two operations of a member
//	visits       times between two arrivals of a token at a member
//	waits        times from a member's demand to its operation
//	gaps         spans without any token
//	counts       hops, operations, tokens made and lost, messages
func Measures() []string {
	var names []string
	for _, m := range allMeasures {
		names = append(names, m.name)
	}
	return names
}

// Validate says whether the scenario can be run.
func (s *Scenario) Validate() error {
	switch {
	case s.Duration <= 0 || s.Duration > policy.MaxInterval:
		return fmt.Errorf("%w: duration is %v, permitted are up to %v", ErrDuration, s.Duration, policy.MaxInterval)
	case s.WarmUp < 0 || s.WarmUp >= s.Duration:
		return fmt.Errorf("%w: warm_up is %v, permitted is less than the duration, %v", ErrDuration, s.WarmUp, s.Duration)
	case s.Bin < 0 || s.Limit < 0 || s.bins() > maxBins:
		return fmt.Errorf("%w: limit is more than %d times bin", ErrDuration, maxBins)
	case len(s.Below) > MaxBelow:
		return fmt.Errorf("%w: %d times in below, at most %d", ErrMeasure, len(s.Below), MaxBelow)
	case s.CrashEvery > 0 && s.CrashEvery < minCrashEvery:
		return fmt.Errorf("%w: crash_every is %v, permitted are %v and more, and 0 (never)", ErrFaults, s.CrashEvery, minCrashEvery)
	case s.LossEvery > 0 && s.LossEvery < minLossEvery:
		return fmt.Errorf("%w: loss_every is %v, permitted are %v and more, and 0 (never)", ErrFaults, s.LossEvery, minLossEvery)
	}
	if most := s.mostAcquaintances(); s.Acquaintances != 0 && (s.Acquaintances < 0 || s.Acquaintances%2 != 0 || s.Acquaintances > most) {
		return fmt.Errorf("%w: %d, permitted are even numbers up to %d for %d members, and 0 (everybody)",
			ErrAcquaintances, s.Acquaintances, most, s.Members)
	}
	for _, name := range s.What {
		if !slices.Contains(Measures(), name) {
			return fmt.Errorf("%w %q, known are %s", ErrMeasure, name, strings.Join(Measures(), ", "))
		}
	}
	return s.Config.Validate()
}

// mostAcquaintances is the largest number that is permitted: others, in
// memory, and even.
func (s *Scenario) mostAcquaintances() int {
	most := max(0, min(s.Members-1, maxAcquainted/max(1, s.Members)))
	return most - most%2
}

// atOnce is how many runs there may be at once.
func (s *Scenario) atOnce() int {
	const acquaintance = 4 // bytes
	return max(1, memory/(s.Members*(memberMemory+acquaintance*s.Acquaintances)))
}

// The shape of histograms where a Scenario has none.
const (
	defaultBin   = time.Second
	defaultLimit = 10_000 * time.Second
)

// bins is how many bins a histogram has.
func (s *Scenario) bins() time.Duration {
	return cmp.Or(s.Limit, defaultLimit) / cmp.Or(s.Bin, defaultBin)
}

// Experiment runs the scenario. Its rows are measured, and held against
// nothing; their IDs say what they are.
func (s Scenario) Experiment() Experiment {
	return Experiment{Name: "scenario", Title: "A scenario", Source: "no paper", Run: func(l *Lab) error {
		quantities := s.quantities()
		seats := make(chan struct{}, s.atOnce())
		runs, err := Gather(l, func(seed uint64) ([]float64, error) {
			seats <- struct{}{} // whoever has one looks at the context
			defer func() { <-seats }()
			o, err := s.run(l.Context(), seed)
			if err != nil {
				return nil, err
			}
			return column(quantities, func(q quantity) float64 { return q.value(o) }), nil
		})
		if err != nil {
			return err
		}
		for i, q := range quantities {
			l.Row(Claim{ID: q.name, Source: "no paper", Says: "nothing", Quantity: q.name, Unit: q.unit, Holds: Reported()},
				column(runs, func(values []float64) float64 { return values[i] }))
		}
		return nil
	}}
}

func (s *Scenario) quantities() []quantity {
	var all []quantity
	for _, m := range allMeasures {
		if len(s.What) > 0 && !slices.Contains(s.What, m.name) {
			continue
		}
		for _, q := range m.quantities(s) {
			q.name = m.name + ": " + q.name
			all = append(all, q)
		}
	}
	return all
}

func (s *Scenario) run(ctx context.Context, seed uint64) (*outcome, error) {
	cfg := s.Config
	cfg.Seed = seed
	if s.Acquaintances > 0 {
		known, err := newNeighbours(ctx, s.Members, s.Acquaintances, rand.New(rand.NewPCG(seed, streamPrepare)))
		if err != nil {
			return nil, err
		}
		cfg.Directory = known
	}
	w, err := circulation.NewContext(ctx, cfg)
	if err != nil {
		return nil, err
	}
	o := &outcome{Meter: circulation.NewMeter(circulation.MeterConfig{
		Start: clock.Instant(s.WarmUp), Bin: cmp.Or(s.Bin, defaultBin), Limit: cmp.Or(s.Limit, defaultLimit),
	})}
	w.Observe(o.Meter)
	w.Run(clock.Instant(s.Duration))
	o.stats = w.Stats()
	return o, w.Err()
}

// neighbours is what acquaintances are, in as little memory as they can be in.
type neighbours struct {
	acquaintances // of nobody: its methods but Choose
	known         []int32
	each          int
}

// newNeighbours makes rings through all members until each has so many
// acquaintances, an even number. Errors: the context's cause.
func newNeighbours(ctx context.Context, members, each int, rng *rand.Rand) (*neighbours, error) {
	d := &neighbours{known: make([]int32, members*each), each: each}
	for ring := 0; ring < each; ring += 2 {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		order := rng.Perm(members)
		before := order[members-1]
		for i, m := range order {
			d.known[m*each+ring], d.known[m*each+ring+1] = int32(before), int32(order[(i+1)%members])
			before = m
		}
		first := order[0] * each // as acquaintances has it, so that a seed's run stays what it was
		d.known[first+ring], d.known[first+ring+1] = d.known[first+ring+1], d.known[first+ring]
	}
	return d, nil
}

// Choose implements circulation.Directory.
func (d *neighbours) Choose(from int, rng *rand.Rand) (int, bool) {
	return int(d.known[from*d.each+rng.IntN(d.each)]), true
}

func concurrencyQuantities(*Scenario) []quantity {
	return []quantity{
		{"share of time with no operation", Share, exactly(0)},
		{"share of time with 1 operation", Share, exactly(1)},
		{"share of time with 2 operations", Share, exactly(2)},
		{"share of time with more than 2 operations", Share, moreThan(2)},
		{"most operations at once", Number, func(o *outcome) float64 { return float64(o.MostOperations()) }},
	}
}

func tokenQuantities(*Scenario) []quantity {
	return []quantity{
		{"share of time with no token", Share, func(o *outcome) float64 { return o.TokensAlive(0) }},
		{"share of time with 1 token", Share, func(o *outcome) float64 { return o.TokensAlive(1) }},
		{"share of time with more than 1 token", Share, moreTokensThan(1)},
		{"most tokens at once", Number, func(o *outcome) float64 { return float64(o.MostTokens()) }},
	}
}

func spanQuantities(s *Scenario, of spans) []quantity {
	all := []quantity{
		{"mean", Seconds, of.mean},
		{"median", Seconds, of.quantile(0.5)},
		{"95th percentile", Seconds, of.quantile(0.95)},
		{"99th percentile", Seconds, of.quantile(0.99)},
		{"longest", Seconds, of.longest},
	}
	for _, d := range s.Below {
		all = append(all, quantity{"share below " + Seconds.Text(d.Seconds()), Share, of.below(d)})
	}
	for i := range all {
		value := all[i].value
		all[i].value = func(o *outcome) float64 {
			if of(o).Count() == 0 {
				return math.NaN()
			}
			return value(o)
		}
	}
	return all
}

func gapQuantities(*Scenario) []quantity {
	return []quantity{
		{"number", Number, func(o *outcome) float64 { return float64(len(o.Gaps())) }},
		{"mean", Seconds, func(o *outcome) float64 { return meanSeconds(lengths(o.Gaps())) }},
		{"longest", Seconds, func(o *outcome) float64 { return longest(lengths(o.Gaps())) }},
	}
}

// countQuantities are counted from the beginning, warm-up or not.
func countQuantities(*Scenario) []quantity {
	count := func(of func(*circulation.Stats) uint64) func(*outcome) float64 {
		return func(o *outcome) float64 { return float64(of(&o.stats)) }
	}
	return []quantity{
		{"hops", Number, count(func(s *circulation.Stats) uint64 { return s.Hops })},
		{"operations", Number, count(func(s *circulation.Stats) uint64 { return s.Operations })},
		{"tokens made", Number, count(func(s *circulation.Stats) uint64 { return s.Generated })},
		{"tokens dropped", Number, count(dropped)},
		{"tokens lost", Number, count(func(s *circulation.Stats) uint64 { return s.Lost })},
		{"crashes", Number, count(func(s *circulation.Stats) uint64 { return s.Crashed })},
		{"messages between policies", Number, count(func(s *circulation.Stats) uint64 { return s.Messages })},
	}
}

func dropped(s *circulation.Stats) (n uint64) {
	for _, d := range s.Dropped {
		n += d
	}
	return n
}
