package experiment

import (
	"cmp"
	"math"
	"math/rand/v2"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/sim/circulation"
)

// The case study of the journal paper and the slides (journal §3, table 1).
const (
	fullLoad  = 300                   // subscribers that saturate the resource
	period    = 1200 * time.Second    // Δop·Nmax, which is also 2·Δmin
	runLength = 100_000 * time.Second // of each simulation
	lossEvery = 10_000 * time.Second
	deltaMin  = period / 2
)

// setting is one simulation, but for its seed.
type setting struct {
	circulation.Config
	length time.Duration
	// series is how often the number of tokens is noted; 0: never.
	series time.Duration
	// settles is how long the time after a recovery is; 0: period.
	settles time.Duration
	// prepare, if not nil, is called before the run, with randomness of its own.
	prepare func(*circulation.Simulation, *rand.Rand)
}

// caseStudy is the journal paper's simulation with so many members: one token
// from the beginning, and at each multiple of 10⁴ s the next token that is
// passed is lost.
func caseStudy(members int) setting {
	return setting{length: runLength, Config: circulation.Config{
		Policy: catalog.Wandering,
		Params: policy.Params{
			Preset: "paper", OperationTime: 4 * time.Second, MembersMax: fullLoad, SkipDelay: 100 * time.Millisecond,
		},
		Members: members, Found: 1, LossEvery: lossEvery,
	}}
}

// outcome is what one run showed.
type outcome struct {
	*circulation.Meter
	watch *tokenWatch
	stats circulation.Stats
}

// run runs the simulation with a seed.
func (s setting) run(seed uint64) (*outcome, error) {
	s.Seed = seed
	w, err := circulation.New(s.Config)
	if err != nil {
		return nil, err
	}
	if s.prepare != nil {
		s.prepare(w, rand.New(rand.NewPCG(seed, streamPrepare)))
	}
	o := &outcome{
		Meter: circulation.NewMeter(circulation.MeterConfig{Series: s.series}),
		watch: newTokenWatch(),
	}
	o.watch.settling.span = cmp.Or(s.settles, period)
	w.Observe(o.Meter)
	w.Observe(o.watch)
	w.Run(clock.Instant(s.length))
	o.stats = w.Stats()
	return o, w.Err()
}

// streamPrepare is the stream of randomness of setting.prepare; those of a
// Simulation have small numbers.
const streamPrepare = 1000

// runs runs the simulation with all seeds.
func (s setting) runs(l *Lab) ([]*outcome, error) { return Gather(l, s.run) }

// loseAll lets a loss take all tokens, not one.
func (s setting) loseAll() setting {
	s.LossEvery = 0
	s.prepare = func(w *circulation.Simulation, _ *rand.Rand) {
		for at := lossEvery; at < s.length; at += lossEvery {
			w.At(clock.Instant(at), func(w *circulation.Simulation) { w.LosePass(w.Tokens()) })
		}
	}
	return s
}

// loseAtRandom lets one token be lost after exponential times of the same mean.
func (s setting) loseAtRandom() setting {
	s.LossEvery = 0
	s.prepare = func(w *circulation.Simulation, rng *rand.Rand) {
		var next func(*circulation.Simulation)
		next = func(w *circulation.Simulation) {
			w.LosePass(1)
			w.At(w.Now().Add(time.Duration(rng.ExpFloat64()*float64(lossEvery))), next)
		}
		w.At(clock.Instant(rng.ExpFloat64()*float64(lossEvery)), next)
	}
	return s
}

// column is one value of each run.
func column[T, V any](runs []T, value func(T) V) []V {
	values := make([]V, len(runs))
	for i, r := range runs {
		values[i] = value(r)
	}
	return values
}

// exactly is the share of time with k operations at once.
func exactly(k int) func(*outcome) float64 {
	return func(o *outcome) float64 { return o.Concurrency(k) }
}

// moreThan is the share of time with more than k operations at once.
func moreThan(k int) func(*outcome) float64 {
	return func(o *outcome) float64 {
		share := 0.0
		for i := k + 1; i <= o.MostOperations(); i++ {
			share += o.Concurrency(i)
		}
		return share
	}
}

// falls compares how the share of time falls from 2 operations to 3 with how it
// falls from 1 to 2: up to 1 it falls at least exponentially.
func falls(o *outcome) float64 {
	return o.Concurrency(3) / o.Concurrency(2) / (o.Concurrency(2) / o.Concurrency(1))
}

// spans are the times between two operations of a member, or two visits.
type spans func(*outcome) *circulation.Histogram

func operations(o *outcome) *circulation.Histogram { return o.Operations }
func visits(o *outcome) *circulation.Histogram     { return o.Visits }

func (s spans) below(d time.Duration) func(*outcome) float64 {
	return func(o *outcome) float64 { return s(o).ShareBelow(d) }
}

func (s spans) quantile(q float64) func(*outcome) float64 {
	return func(o *outcome) float64 { return s(o).Quantile(q).Seconds() }
}

func (s spans) mean(o *outcome) float64    { return s(o).Mean().Seconds() }
func (s spans) longest(o *outcome) float64 { return s(o).Max().Seconds() }

// ratio divides the samples of two settings seed by seed.
func ratio(a, b []float64) []float64 {
	q := make([]float64, len(a))
	for i := range a {
		q[i] = a[i] / b[i]
	}
	return q
}

// worst is the largest of several samples, seed by seed.
func worst(columns ...[]float64) []float64 {
	most := make([]float64, len(columns[0]))
	for i := range most {
		most[i] = math.Inf(-1)
		for _, c := range columns {
			most[i] = max(most[i], c[i])
		}
	}
	return most
}

// least is the smallest of several samples, seed by seed.
func least(columns ...[]float64) []float64 {
	few := make([]float64, len(columns[0]))
	for i := range few {
		few[i] = math.Inf(1)
		for _, c := range columns {
			few[i] = min(few[i], c[i])
		}
	}
	return few
}

// middle is the median of samples.
func middle(samples []float64) float64 { return newRow(Claim{}, samples).Median }
