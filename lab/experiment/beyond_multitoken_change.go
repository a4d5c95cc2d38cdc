package experiment

import (
	"fmt"
	"math"
	"math/cmplx"
	"time"

	"github.com/wandertoken/wander/lab/figure"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy/multitoken"
	"github.com/wandertoken/wander/sim/circulation"
)

const beyondChangeNotes = `As beyond-many-steady. After the three minutes the group doubles at one instant, or every other member leaves and passes on the tokens that it holds.
*Meanwhile* is how far the mean interval of the first ten seconds is off the target, up or down; it has no limit. *Back* is the same of the ten
seconds after them.`

// changeGoals are the interval after a change of the size.
func (g manyGroups) changeGoals(l *Lab) error {
	span := l.count(changeSpan)
	plot := figure.Plot{
		Title: fmt.Sprintf("Mean interval after %d members have doubled or halved, mean of runs", g.plotted()),
		X:     figure.Axis{Label: "time since the change (s)", Min: 0, Max: 3 * float64(span)},
		Y:     figure.Axis{Label: "mean interval of a second (s)"},
	}
	for _, preset := range compared(l, multitoken.Jittered) {
		for _, n := range g.sizes {
			for _, c := range []struct {
				name, text string
				doubles    bool
			}{{"doubles", "doubles", true}, {"halves", "halves", false}} {
				runs, err := Gather(l, func(seed uint64) (changed, error) { return g.group(preset, n).change(seed, c.doubles, span) })
				if err != nil {
					return err
				}
				changeRows(l, preset, c.name, n, span, runs)
				if n == g.plotted() {
					plot.Lines = append(plot.Lines, figure.Line{Name: preset + ", " + c.text, Dashed: !c.doubles, Points: secondByChange(runs, span)})
				}
			}
		}
	}
	l.Plot("beyond-many-change", plot)
	return nil
}

// plotted is the size that is drawn.
func (g manyGroups) plotted() int { return g.sizes[min(1, len(g.sizes)-1)] }

const whyChange = "a few tokens are a coarse number: half of 191 members need one or two, and ten seconds hold few uses. Under split, responses of " +
	"1 to 1.6 and averages over 0.15 to 0.35 targets were tried; stronger ones make more tokens and are hardly nearer."

func changeRows(l *Lab, preset, how string, n, span int, runs []changed) {
	limit := AtMost(0.10)
	if n <= gridMembers {
		limit = AtMost(0.15)
	}
	if preset == multitoken.Jittered {
		limit = Reported()
	}
	id := fmt.Sprintf("many-%s-%s-%d", how, preset, n)
	group := fmt.Sprintf("*%s*, %d members", preset, n)
	l.Row(goal(id, "when the group "+how+", the interval is back in 10 s", group+": off the target, back", Share, limit, whyChange),
		column(runs, func(c changed) float64 { return c.off(span, 2*span) }))
	l.Row(goal(id+"-meanwhile", "when the group "+how+", the interval is back in 10 s", group+": off the target, meanwhile", Share, Reported(), ""),
		column(runs, func(c changed) float64 { return c.off(0, span) }))
}

// changed is a run with a change: the seconds after it, in a group of so many.
type changed struct {
	*counter
	members, at int
}

// off is how far the mean interval between two seconds after the change is off
// that which the preset has in a group that does not change.
func (c changed) off(from, to int) float64 {
	return math.Abs(c.mean(c.members, c.at+from, c.at+to)/gridTarget.Seconds() - 1)
}

func (g manyGroup) change(seed uint64, doubles bool, span int) (changed, error) {
	w, err := g.world(seed)
	if err != nil {
		return changed{}, err
	}
	c := changed{&counter{}, 2 * g.members, int(g.warm / time.Second)}
	if !doubles {
		c.members = g.members - g.members/2
	}
	w.Observe(c.counter)
	w.At(clock.Instant(g.warm), func(w *circulation.Simulation) {
		for m := range g.members {
			switch {
			case doubles:
				w.Join(m)
			case m%2 == 1:
				w.Leave(m)
			}
		}
	})
	w.Run(clock.Instant(g.warm + time.Duration(3*span)*time.Second))
	return c, w.Err()
}

// secondByChange is the mean interval of each second, over the runs.
func secondByChange(runs []changed, span int) [][2]float64 {
	points := make([][2]float64, 3*span)
	for second := range points {
		uses := 0.0
		for _, r := range runs {
			uses += float64(r.members) / r.mean(r.members, r.at+second, r.at+second+1)
		}
		points[second] = [2]float64{float64(second) + 0.5, float64(runs[0].members) * float64(len(runs)) / uses}
	}
	return points
}

const beyondColdNotes = `All members begin at one instant, without a token. *In step* is the mean resultant length of the instants of operations, on a circle of a third of the
target or of three targets, whichever is larger, between the 30th and the 40th target: 1 is all at once, 0 is evenly spread. A test of its package
(TestColdStart_NoJitterNoIntegral_Oscillates) shows that *t3gj* without both jitter and integral locks permanently; *paper* shows it here.`

// coldSpan is for how many targets it is observed whether members are in step.
const coldSpan = 10

// coldGoals are what happens after a synchronised cold start.
func (g manyGroups) coldGoals(l *Lab) error {
	plot := figure.Plot{
		Title: fmt.Sprintf("Operations of %d members that begin together without a token", g.plotted()),
		X:     figure.Axis{Label: "time (s)", Min: 0, Max: 60}, Y: figure.Axis{Label: "operations in a second for each member"},
	}
	from := l.count(coldFrom)
	for _, preset := range compared(l, multitoken.Paper) {
		for _, n := range g.sizes {
			runs, err := Gather(l, func(seed uint64) (cold, error) { return g.group(preset, n).coldStart(seed, from) })
			if err != nil {
				return err
			}
			limit := AtMost(0.3)
			if preset == multitoken.Paper {
				limit = Reported()
			}
			id, group := fmt.Sprintf("many-cold-%s-%d", preset, n), fmt.Sprintf("*%s*, %d members", preset, n)
			l.Row(goal(id, "a synchronised cold start does not lock", group+": in step", Number, limit, "operations bunch where few tokens are."),
				column(runs, cold.inStep))
			l.Row(goal(id+"-first", "a synchronised cold start does not lock", group+": first operation", Seconds, Reported(), ""),
				column(runs, func(c cold) float64 { return c.first.Sub(0).Seconds() }))
			if n == g.plotted() {
				line := figure.Line{Name: preset, Style: figure.Steps}
				for second := range 60 {
					line.Points = append(line.Points, [2]float64{float64(second), 1 / runs[0].mean(n, second, second+1)})
				}
				plot.Lines = append(plot.Lines, line)
			}
		}
	}
	l.Plot("beyond-many-coldstart", plot)
	return nil
}

// cold notes a cold start.
type cold struct {
	*counter
	*bunching
}

// bunching is how much operations bunch on two circles.
type bunching struct {
	circulation.Ignore
	from, to clock.Instant // when operations count
	first    clock.Instant // operation
	sums     [2]complex128
	count    float64
}

// OperationBegan implements circulation.Observer.
func (b *bunching) OperationBegan(now clock.Instant, _ int) {
	if b.first == 0 {
		b.first = now
	}
	if now < b.from || now >= b.to {
		return
	}
	b.count++
	for i, period := range []time.Duration{gridTarget / 3, 3 * gridTarget} {
		b.sums[i] += cmplx.Rect(1, 2*math.Pi*now.Sub(0).Seconds()/period.Seconds())
	}
}

// inStep is the larger of the two mean resultant lengths; NaN when there was no
// operation.
func (b *bunching) inStep() float64 { return max(cmplx.Abs(b.sums[0]), cmplx.Abs(b.sums[1])) / b.count }

func (c cold) inStep() float64 { return c.bunching.inStep() }

func (g manyGroup) coldStart(seed uint64, from int) (cold, error) {
	g.cold = true
	w, err := g.world(seed)
	if err != nil {
		return cold{}, err
	}
	begin := clock.Instant(from) * clock.Instant(gridTarget)
	c := cold{&counter{}, &bunching{from: begin, to: begin.Add(coldSpan * gridTarget)}}
	w.Observe(c.counter)
	w.Observe(c.bunching)
	w.Run(max(c.to, clock.Instant(time.Minute))) // a minute is drawn
	return c, w.Err()
}
