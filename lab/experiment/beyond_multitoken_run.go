package experiment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wandertoken/wander/lab/figure"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/multitoken"
	"github.com/wandertoken/wander/sim/circulation"
)

// manyGroup is a group under a preset of multitoken, in the conditions of the
// many-token paper.
type manyGroup struct {
	preset       string
	members      int
	warm, length time.Duration
	latency      circulation.Latency
	loss         float64
	knows        int // how many others each member knows; 0: all
	cold         bool
}

func (g manyGroups) group(preset string, members int) manyGroup {
	length := g.length
	if members >= largeGroup {
		length /= largeGroupShare
	}
	return manyGroup{preset: preset, members: members, warm: g.warm, length: length, latency: circulation.Constant(gridLatency)}
}

// least is how many tokens it takes under the preset.
func (g *manyGroup) least() float64 {
	least := float64(g.members) * gridLatency.Seconds() / gridTarget.Seconds()
	if g.preset == multitoken.S3gj {
		least *= 1.5
	}
	return least
}

func (g *manyGroup) world(seed uint64) (*circulation.Simulation, error) {
	c := circulation.Config{
		Policy: catalog.Multitoken, Members: g.members, Found: max(1, int(g.least())), Seed: seed,
		Passing: g.latency, Operation: noTime, PassLoss: g.loss,
		Params: policy.Params{
			Preset: g.preset, OperationTime: policy.MinDuration, MembersMax: g.members, SkipDelay: policy.MinDuration,
			TargetInterval: gridTarget,
		},
	}
	if g.cold {
		c.Found = 0
	}
	if g.knows > 0 {
		c.Directory = newSampled(g.members, min(g.knows, g.members-1), seed)
	}
	return circulation.New(c)
}

// many is what one run shows.
type many struct{ interval, tokens, least, made float64 }

func (g manyGroup) run(seed uint64) (many, error) {
	w, err := g.world(seed)
	if err != nil {
		return many{}, err
	}
	count := &counter{from: clock.Instant(g.warm)}
	w.Observe(count)
	w.Run(clock.Instant(g.warm))
	before := w.Stats()
	w.Run(clock.Instant(g.warm + g.length))
	after := w.Stats()
	return many{
		interval: g.length.Seconds() * float64(g.members) / float64(after.Operations-before.Operations),
		tokens:   count.area / g.length.Seconds(), least: g.least(),
		made: float64(after.Generated-before.Generated) / g.length.Minutes(),
	}, w.Err()
}

// off is by which share of the target the mean interval misses it.
func (m many) off() float64 { return math.Abs(m.interval/gridTarget.Seconds() - 1) }

// surplus is by which share there are more tokens than it takes.
func (m many) surplus() float64 { return m.tokens/m.least - 1 }

func madePerMinute(m many) float64 { return m.made }

// counter counts the uses of each second, and adds up the tokens there are.
type counter struct {
	circulation.Ignore
	from   clock.Instant // of area
	area   float64       // tokens times seconds
	tokens int
	since  clock.Instant
	uses   []float64
}

// OperationBegan implements circulation.Observer.
func (c *counter) OperationBegan(now clock.Instant, _ int) {
	second := int(now / clock.Instant(time.Second))
	for len(c.uses) <= second {
		c.uses = append(c.uses, 0)
	}
	c.uses[second]++
}

func (c *counter) book(now clock.Instant, change int) {
	if now > c.from {
		c.area += float64(c.tokens) * now.Sub(max(c.since, c.from)).Seconds()
	}
	c.tokens, c.since = c.tokens+change, now
}

// TokenBorn, TokenGone and Advanced implement circulation.Observer.
func (c *counter) TokenBorn(now clock.Instant, _ int, _ ident.Token)             { c.book(now, 1) }
func (c *counter) TokenGone(now clock.Instant, _ ident.Token, _ circulation.End) { c.book(now, -1) }
func (c *counter) Advanced(now clock.Instant)                                    { c.book(now, 0) }

// mean is the mean interval in a group of so many, between two seconds: members
// times time over uses. It is infinite when there are none.
func (c *counter) mean(members, from, to int) float64 {
	uses := 0.0
	for second := from; second < min(to, len(c.uses)); second++ {
		uses += c.uses[second]
	}
	return float64(members) * float64(to-from) / uses
}

// sampled is a directory in which each member knows the same few others for good.
type sampled struct{ peers [][]int32 }

func newSampled(members, knows int, seed uint64) *sampled {
	rng := rand.New(rand.NewPCG(seed, 1))
	s := &sampled{make([][]int32, members)}
	for m := range s.peers {
		for len(s.peers[m]) < knows {
			if other := int32(rng.IntN(members)); int(other) != m && !slices.Contains(s.peers[m], other) {
				s.peers[m] = append(s.peers[m], other)
			}
		}
	}
	return s
}

// Choose implements circulation.Directory; nobody joins or leaves.
func (s *sampled) Choose(from int, rng *rand.Rand) (int, bool) {
	return int(s.peers[from][rng.IntN(len(s.peers[from]))]), true
}

// Joined, Left and Passed implement circulation.Directory.
func (*sampled) Joined(int, int)              {}
func (*sampled) Left(int)                     {}
func (*sampled) Passed(ident.Token, int, int) {}

// paretoSteps are the steps of heavyTail that the simulator draws from.
const paretoSteps = 2000

// paretoQuantiles are quantiles of a Pareto distribution, cut near most and
// scaled so that what is drawn from them has this mean.
func paretoQuantiles(mean time.Duration, exponent float64, most time.Duration) []time.Duration {
	q := make([]float64, paretoSteps+1)
	for i := range q {
		q[i] = min(math.Pow(1-float64(i)/paretoSteps, -1/exponent), 3*most.Seconds()/mean.Seconds())
	}
	sum := 0.0
	for i := range paretoSteps {
		sum += (q[i] + q[i+1]) / 2 / paretoSteps
	}
	spans := make([]time.Duration, len(q))
	for i := range q {
		spans[i] = time.Duration(q[i] / sum * float64(mean))
	}
	return spans
}

// madePlot collects how many tokens each preset makes.
type madePlot struct {
	names  []string
	points map[string][][2]float64
}

func newMadePlot() *madePlot { return &madePlot{points: map[string][][2]float64{}} }

func (p *madePlot) add(preset string, members int, made []float64) {
	if p.points[preset] == nil {
		p.names = append(p.names, preset)
	}
	sorted := slices.Sorted(slices.Values(made))
	p.points[preset] = append(p.points[preset], [2]float64{float64(members), quantile(sorted, 0.5) / float64(members)})
}

func (p *madePlot) plot() figure.Plot {
	plot := figure.Plot{
		Title: "Tokens made, target interval 2.63 s, handoffs of 30 ms",
		X:     figure.Axis{Label: "members"}, Y: figure.Axis{Label: "tokens made in a minute for each member", Log: true},
	}
	for _, name := range p.names {
		plot.Lines = append(plot.Lines, figure.Line{Name: fmt.Sprint(name), Points: p.points[name]})
	}
	return plot
}
