package experiment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/sim/circulation"
)

const journalWalkNotes = `*Return times of the walk alone* are counted in hops: no member wants to operate, no token is lost or generated, and the token
dwells for 0.1 s everywhere. The text says that returns beyond a value of order N·log N are improbable. The measure is the share of
returns that take more than N·ln N hops. On a complete graph 1/N is expected; up to twice that is reproduced.

*Few acquaintances* gives each of the 300 members six others to pass tokens to, about the logarithm of 300: three random rings
through all members.

*Fairness* is the standard deviation of the members' numbers of operations over their mean.`

func journalWalk(l *Lab) error {
	for _, part := range []func(*Lab) error{returnTails, fewAcquaintances, fairness, growth, buffering} {
		if err := part(l); err != nil {
			return err
		}
	}
	return nil
}

func returnTails(l *Lab) error {
	for _, n := range []int{30, 100, 300, 1000} {
		s := caseStudy(n)
		s.LossEvery, s.Demand = 0, circulation.Scripted()
		s.Params.RegenerationMean = 10 * 365 * 24 * time.Hour
		s.length = time.Duration(n*l.count(walkVisits)) * s.Params.SkipDelay
		limit := time.Duration(float64(n) * math.Log(float64(n)) * float64(s.Params.SkipDelay))
		runs, err := s.runs(l)
		if err != nil {
			return err
		}
		l.Row(Claim{
			ID: fmt.Sprintf("journal-return-tail-%d", n), Source: "journal §1", Says: "return times beyond order N·log N have a small probability",
			Quantity: fmt.Sprintf("share of returns after more than N·ln N hops, %d members", n), Unit: Share, Holds: AtMost(2 / float64(n)).ours(),
			Why: "runs are short for so rare an event.",
		}, column(runs, func(o *outcome) float64 { return o.Visits.ShareAbove(limit) }))
	}
	return nil
}

// acquaintances is a circulation.Directory in which everybody knows the
// neighbours in some random rings through all members. Nobody joins or leaves.
type acquaintances struct{ known [][]int }

// newAcquaintances makes so many rings.
func newAcquaintances(members, rings int, rng *rand.Rand) *acquaintances {
	a := &acquaintances{known: make([][]int, members)}
	for range rings {
		order := rng.Perm(members)
		for i, m := range order {
			next := order[(i+1)%members]
			a.known[m] = append(a.known[m], next)
			a.known[next] = append(a.known[next], m)
		}
	}
	return a
}

func (a *acquaintances) Choose(from int, rng *rand.Rand) (int, bool) {
	return a.known[from][rng.IntN(len(a.known[from]))], true
}
func (a *acquaintances) Joined(int, int)              {}
func (a *acquaintances) Left(int)                     {}
func (a *acquaintances) Passed(ident.Token, int, int) {}

func fewAcquaintances(l *Lab) error {
	all, err := caseStudy(fullLoad).runs(l)
	if err != nil {
		return err
	}
	rings := l.count(acquaintanceRings)
	few, err := Gather(l, func(seed uint64) (*outcome, error) {
		s := caseStudy(fullLoad)
		s.Directory = newAcquaintances(fullLoad, rings, rand.New(rand.NewPCG(seed, streamPrepare)))
		return s.run(seed)
	})
	if err != nil {
		return err
	}
	c := Claim{
		Source: "journal §1", Says: "it suffices that members know about log N others", Unit: Number, Holds: Between(0.8, 1.25),
		Why: "the walk returns to where it came from more often when members know few others.",
	}
	c.ID, c.Quantity = "journal-log-degree-one", "share of time with 1 operation, six acquaintances over all"
	l.Row(c, ratio(column(few, exactly(1)), column(all, exactly(1))))
	c.ID, c.Quantity = "journal-log-degree-more", "share of time with 2 operations or more, six acquaintances over all"
	l.Row(c, ratio(column(few, moreThan(1)), column(all, moreThan(1))))
	c.ID, c.Quantity = "journal-log-degree-tail", "95th percentile of times between operations, six acquaintances over all"
	tail := spans(operations).quantile(0.95)
	l.Row(c, ratio(column(few, tail), column(all, tail)))
	return nil
}

// fairness holds a run of one day against one of ten.
func fairness(l *Lab) error {
	day, err := caseStudy(fullLoad).runs(l)
	if err != nil {
		return err
	}
	long := caseStudy(fullLoad)
	long.length *= time.Duration(l.count(longDays))
	days, err := long.runs(l)
	if err != nil {
		return err
	}
	c := Claim{
		ID: "journal-fair", Source: "journal §1", Says: "all hold the token equally often in the long run", Unit: Number,
		Quantity: "unfairness after 10⁶ s over that after 10⁵ s; it falls like 1/√10 = 0.32 when numbers converge", Holds: AtMost(0.5).trend().ours(),
		Why: "numbers do not converge.",
	}
	l.Row(c, ratio(column(days, unfairness), column(day, unfairness)))
	c.ID, c.Quantity, c.Unit, c.Holds = "journal-fair-day", "standard deviation of the number of operations over its mean, 10⁵ s", Share, Reported()
	l.Row(c, column(day, unfairness))
	return nil
}

// unfairness is the standard deviation of the operations per member over their
// mean.
func unfairness(o *outcome) float64 {
	var sum, squares float64
	counts := o.PerMember()
	for _, c := range counts {
		sum += float64(c)
		squares += float64(c) * float64(c)
	}
	n := float64(len(counts))
	mean := sum / n
	return math.Sqrt(max(0, squares/n-mean*mean)) / mean
}

// overloads are sizes from saturation to twice that.
var overloads = []int{300, 360, 420, 480, 540, 600}

// growth looks at what happens above saturation.
func growth(l *Lab) error {
	curves, err := bySize(l, overloads)
	if err != nil {
		return err
	}
	for _, m := range measures {
		l.Row(Claim{
			ID: "journal-linear" + m.id, Source: "journal §3", Says: "over saturation, interarrival times grow along a line with the number of members",
			Quantity: "R² of a line through the mean of " + m.quantity + " at 300, 360, … 600 members", Reading: m.text, Unit: Number, Holds: AtLeast(0.99).ours(),
			Why: "they grow, but more slowly the more members there are: more spurious tokens are made, and serve some of them.",
		}, linearities(overloads, columns(curves, m.mean)))
	}
	means := columns(curves, spans(operations).mean)
	l.Row(Claim{
		ID: "journal-share-shrinks", Source: "journal §4", Says: "above capacity each agent's share of the resource is reduced gradually",
		Quantity: "mean time between operations, 600 members over 300", Unit: Number, Holds: Between(1, 2),
		Why: "more than the capacity's share would be lost.",
	}, ratio(means[5], means[0]))
	return nil
}

// linearities is the linearity of each run; ys has a column of all runs for each x.
func linearities(xs []int, ys [][]float64) []float64 {
	all := make([]float64, len(ys[0]))
	for run := range all {
		var line []float64
		for _, column := range ys {
			line = append(line, column[run])
		}
		all[run] = linearity(xs, line)
	}
	return all
}

// linearity is the coefficient of determination of the best straight line.
func linearity(xs []int, ys []float64) float64 {
	var sx, sy, sxx, sxy, syy float64
	for i, x := range xs {
		x := float64(x)
		sx, sy = sx+x, sy+ys[i]
		sxx, sxy, syy = sxx+x*x, sxy+x*ys[i], syy+ys[i]*ys[i]
	}
	n := float64(len(xs))
	covariance := n*sxy - sx*sy
	return covariance * covariance / ((n*sxx - sx*sx) * (n*syy - sy*sy))
}

// buffering is what the server has to keep for the subscriber that comes last.
func buffering(l *Lab) error {
	runs, err := caseStudy(fullLoad).runs(l)
	if err != nil {
		return err
	}
	const stream = 0.65e-3 // GBps
	c := Claim{
		ID: "journal-buffer", Source: "journal §3", Says: "the server buffers of the order of gigabytes",
		Quantity: "650 KBps for the 99th percentile of times between operations, in GB", Unit: Number, Holds: Between(1, 10),
		Why: "the tail is longer or shorter than that.",
	}
	buffer := func(q float64) []float64 {
		return column(runs, func(o *outcome) float64 { return stream * spans(operations).quantile(q)(o) })
	}
	l.Row(c, buffer(0.99))
	c.ID, c.Reading, c.Quantity = "journal-buffer/longest", "longest", "650 KBps for the longest time between operations, in GB"
	l.Row(c, buffer(1))
	return nil
}
