package experiment

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/wandertoken/wander/lab/gossip"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/multitoken"
	"github.com/wandertoken/wander/sim/circulation"
)

// The constants of the many-token paper's experiment (§2.1, §3).
const (
	gridMembers = 191
	gridRamp    = 30 * time.Minute
	gridEnd     = 150 * time.Minute
	gridTarget  = 2630 * time.Millisecond
	gridLatency = 30 * time.Millisecond
	gridPlaces  = 3 // what its figures come out with; the paper says c = 2

	gridLimit = 30 * time.Second // of the histograms; longer intervals count, but are not told apart
)

// noTime is how long an operation takes that takes no time. The zero Latency
// would be the time that the configuration gives.
var noTime = circulation.Constant(time.Nanosecond)

// ramp is one reading of the paper's experiment.
type ramp struct {
	preset  string
	places  int
	members int
	growth  time.Duration // until all are there
	latency time.Duration
	// operates puts the token latency into the operation, not into the handoff.
	operates bool
	// everybody lets every member know all others at once.
	everybody bool
	registry  gossip.Config
	stable    time.Duration // when the measurement of stability begins
	bin       time.Duration // of intervals
}

// paperRamp is the default reading.
func paperRamp(l *Lab) ramp {
	return ramp{
		preset: multitoken.Paper, places: gridPlaces, members: gridMembers, growth: gridRamp, latency: gridLatency,
		stable: l.span(gridStable), bin: l.span(gridBin),
	}
}

func (r ramp) config(seed uint64) circulation.Config {
	params := policy.Params{
		Preset: r.preset, OperationTime: r.latency, MembersMax: gridMembers, SkipDelay: policy.MinDuration,
		TargetInterval: gridTarget, QueueCapacity: r.places,
	}
	c := circulation.Config{Policy: catalog.Multitoken, Params: params, Members: 1, Found: 1, Seed: seed}
	if !r.operates {
		c.Passing, c.Operation = circulation.Constant(r.latency), noTime
	}
	return c
}

// ramped is what one run of a ramp shows.
type ramped struct {
	whole, stable *circulation.Meter
	series        []int             // tokens, each second
	grown, before circulation.Stats // at the end of the ramp, and of the time before stability
	after         circulation.Stats // at the end
	joins         *joins
	from          time.Duration // when stability begins
	acquainted    float64       // which share of all a member knows at the end of the ramp, on average
}

// run plays the ramp: one member with a token, and the others join at equal
// distances, each with a token of its own and a contact drawn at random.
func (r ramp) run(seed uint64) (*ramped, error) {
	cfg := r.config(seed)
	result := &ramped{joins: newJoins(r.members), from: r.stable}
	if !r.everybody {
		registry := r.registry
		registry.Learned = result.joins.learned
		cfg.Directory = gossip.New(1, registry)
	}
	w, err := circulation.New(cfg)
	if err != nil {
		return nil, err
	}
	meter := circulation.MeterConfig{Bin: r.bin, Limit: gridLimit, Series: time.Second}
	result.whole = circulation.NewMeter(meter)
	meter.Start = clock.Instant(r.stable)
	result.stable = circulation.NewMeter(meter)
	w.Observe(result.whole)
	w.Observe(result.stable)
	contacts := rand.New(rand.NewPCG(seed, 0))
	for i := 1; i < r.members; i++ {
		at := r.growth * time.Duration(i) / time.Duration(r.members-1)
		w.At(clock.Instant(at), func(w *circulation.Simulation) {
			result.joins.begin(w)
			w.Generate(w.Join(contacts.IntN(w.Members())))
		})
	}
	for until, stats := range map[time.Duration]*circulation.Stats{gridRamp: &result.grown, r.stable: &result.before} {
		w.At(clock.Instant(until), func(w *circulation.Simulation) { *stats = w.Stats() })
	}
	w.At(clock.Instant(gridRamp), func(*circulation.Simulation) { result.acquainted = result.joins.acquainted() })
	w.Run(clock.Instant(gridEnd))
	result.after = w.Stats()
	result.joins.end()
	result.series = result.whole.Series()
	return result, w.Err()
}

// tokens is the mean number of tokens between two instants.
func (r *ramped) tokens(from, to time.Duration) float64 {
	sum, n := 0, 0
	for at := int(from / time.Second); at < min(int(to/time.Second), len(r.series)); at++ {
		sum += r.series[at]
		n++
	}
	return float64(sum) / float64(n)
}

// life is the mean life of a token in the time of stability: how many there
// were, over how many were removed in a second (Little's law).
func (r *ramped) life() float64 {
	dropped := r.after.Dropped[policy.Overflow] - r.before.Dropped[policy.Overflow]
	return r.tokens(r.from, gridEnd) * (gridEnd - r.from).Seconds() / float64(dropped)
}

// slope fits the number of tokens during the ramp with a straight line: how
// many each member adds, and which part of the variance the line explains.
func (r *ramped) slope() (perMember, explained float64) {
	points := make([][2]float64, 0, len(r.series))
	for second, n := range r.series[:min(len(r.series), int(gridRamp/time.Second))] {
		points = append(points, [2]float64{float64(second), float64(n)})
	}
	slope, explained := fitLine(points)
	return slope * gridRamp.Seconds() / float64(gridMembers-1), explained
}

// fitLine is the slope of the least-squares line, and its coefficient of
// determination.
func fitLine(points [][2]float64) (slope, explained float64) {
	var sx, sy float64
	for _, p := range points {
		sx += p[0]
		sy += p[1]
	}
	mx, my := sx/float64(len(points)), sy/float64(len(points))
	var xx, xy, yy float64
	for _, p := range points {
		xx += (p[0] - mx) * (p[0] - mx)
		xy += (p[0] - mx) * (p[1] - my)
		yy += (p[1] - my) * (p[1] - my)
	}
	return xy / xx, xy * xy / (xx * yy)
}

// joins notes when who heard of whose joining.
type joins struct {
	world   *circulation.Simulation `keep:"-"`
	members int
	at      []clock.Instant // of each joining
	knowers []int           // how many know each member, itself too
	knows   []int           // how many each member knows, itself too
	// everybody is how long it took until all that are members in the end knew
	// of a joining; present, until all that were members then did; most, until
	// nine tenths of these did. In seconds; NaN where it did not happen.
	everybody, present, most []float64
	// complete is how long a member took to know all there are in the end.
	complete []float64
}

func newJoins(members int) *joins {
	return &joins{
		members: members, at: make([]clock.Instant, 1, members), knowers: []int{1}, knows: []int{1},
		everybody: []float64{math.NaN()}, present: []float64{math.NaN()}, most: []float64{math.NaN()},
		complete: []float64{math.NaN()},
	}
}

// acquainted is which share of all members a member knows, on average.
func (j *joins) acquainted() float64 {
	sum := 0
	for _, n := range j.knows {
		sum += n
	}
	return float64(sum) / float64(len(j.knows)) / float64(j.members)
}

// end forgets the joining of the first member, which was none, and the world.
func (j *joins) end() {
	j.world = nil
	j.everybody, j.present, j.most = j.everybody[1:], j.present[1:], j.most[1:]
}

// begin notes that the next member is about to join.
func (j *joins) begin(w *circulation.Simulation) {
	j.world = w
	j.at = append(j.at, w.Now())
	j.knowers, j.knows = append(j.knowers, 1), append(j.knows, 1)
	for _, list := range []*[]float64{&j.everybody, &j.present, &j.most, &j.complete} {
		*list = append(*list, math.NaN())
	}
}

// learned is gossip.Config.Learned.
func (j *joins) learned(member, subject int) {
	j.knowers[subject]++
	j.knows[member]++
	since := func(m int) float64 { return j.world.Now().Sub(j.at[m]).Seconds() }
	first := func(list []float64, reached bool, m int) {
		if reached && math.IsNaN(list[m]) {
			list[m] = since(m)
		}
	}
	now := len(j.at)
	first(j.everybody, j.knowers[subject] == j.members, subject)
	first(j.present, j.knowers[subject] >= now, subject)
	first(j.most, 10*j.knowers[subject] >= 9*now, subject)
	first(j.complete, j.knows[member] == j.members, member)
}
