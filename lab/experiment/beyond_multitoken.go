package experiment

import (
	"fmt"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/policy/multitoken"
	"github.com/wandertoken/wander/sim/circulation"
)

const beyondManyFinding = `The mean interval is the target under each of *split*, *t3gj* and *s3gj*, at every size, with
losses, heavy-tailed latencies and directories that know a sample. *split* makes a thirtieth of the tokens that *t3gj* makes,
*s3gj* a tenth, and *t3gj* answers changes fastest.`

// beyondManyExperiments are the goals about many tokens.
func beyondManyExperiments() []Experiment {
	return []Experiment{
		{
			Name: "beyond-many-steady", Title: "The mean interval, the number of tokens and how many are made", Source: "goal",
			Goals: true, Notes: beyondSteadyNotes, Run: func(l *Lab) error { return manyFull(l).steadyGoals(l) },
		},
		{
			Name: "beyond-many-stress", Title: "Losses, heavy-tailed latency and directories that know a sample", Source: "goal",
			Goals: true, Notes: beyondStressNotes, Run: func(l *Lab) error { return manyFull(l).stressGoals(l) },
		},
		{
			Name: "beyond-many-change", Title: "After the group doubles or halves", Source: "goal",
			Goals: true, Notes: beyondChangeNotes, Run: func(l *Lab) error { return manyFull(l).changeGoals(l) },
		},
		{
			Name: "beyond-many-coldstart", Title: "Members that start together, without a token", Source: "goal",
			Goals: true, Notes: beyondColdNotes, Run: func(l *Lab) error { return manyFull(l).coldGoals(l) },
		},
	}
}

// manyGroups are the groups that goals are measured in. Tests take smaller ones.
type manyGroups struct {
	sizes        []int
	warm, length time.Duration
}

// manyFull are the groups of the goals; in a sweep the two smaller ones.
func manyFull(l *Lab) manyGroups {
	g := manyGroups{sizes: []int{191, 1000, 10_000}, warm: l.span(manyWarm), length: l.span(manyLength)}
	if l.sweeping() {
		g.sizes = g.sizes[:2]
	}
	return g
}

// compared are the presets of a comparison: in a sweep those with goals alone.
func compared(l *Lab, others ...string) []string {
	if l.sweeping() {
		return steeredPresets
	}
	return slices.Concat(steeredPresets, others)
}

// Groups of largeGroup and more are measured for a share of the time: what varies
// with the number of tokens varies less there, and a run takes ten times as long.
const (
	largeGroup      = 10_000
	largeGroupShare = 5
)

// steeredPresets are those that have goals; the others are shown beside them.
var steeredPresets = []string{multitoken.Split, multitoken.T3gj, multitoken.S3gj}

const beyondSteadyNotes = `The target is 2.63 s, handoffs take 30 ms, and operations take no time. Groups begin with about as many tokens as they need. Three minutes pass before
ten are measured, or two with 10,000 members. *Interval* is members times time over uses, which counts forgotten members too. The *least number of
tokens* is members · latency / target: as many visits as uses.

Under *s3gj* a member passes on unused a token that arrives within a third of the target after a use. If tokens arrive as a Poisson process with a mean
of m between two, uses are target/3 + m apart, which is the target for m = 2/3 of it. So the least number of *s3gj* is 3/2 of that above. A number that
varies needs more tokens than a constant one, because uses do not grow in proportion to tokens. With 191 members *s3gj* needs about three tokens, and one
more or less is a third. Its silences were once as long as those of *t3gj* and varied less. Its number then varied as much as by chance alone, in swings of three
targets, which cost 7 %. *paper* and *jittered* are there for comparison.`

// steadyGoals are the interval, the tokens and the generations of undisturbed
// groups.
func (g manyGroups) steadyGoals(l *Lab) error {
	plot := newMadePlot()
	for _, preset := range compared(l, multitoken.Jittered, multitoken.Paper) {
		for _, n := range g.sizes {
			runs, err := Gather(l, func(seed uint64) (many, error) { return g.group(preset, n).run(seed) })
			if err != nil {
				return err
			}
			name := fmt.Sprintf("%s-%d", preset, n)
			limits := steadyLimits{AtMost(0.01), AtMost(0.05)}
			if preset == multitoken.Jittered || preset == multitoken.Paper {
				limits = steadyLimits{Reported(), Reported()}
			}
			steadyRows(l, "many-"+name, fmt.Sprintf("*%s*, %d members", preset, n), limits, runs)
			plot.add(preset, n, column(runs, madePerMinute))
		}
	}
	l.Plot("beyond-many-made", plot.plot())
	return nil
}

// steadyLimits are the limits of steadyRows.
type steadyLimits struct{ interval, tokens Check }

const (
	whyInterval = "longer averages and a slower integral were tried; what is left is chance in the number of tokens."
	whyTokens   = "the number of tokens varies, and where uses are spaced the same mean takes more of a number that varies. Silences of 2.5 to 5 " +
		"targets, varied by 10 to 80 %, were tried: longer ones vary less, and follow too slowly when a group of 191 halves."
)

func steadyRows(l *Lab, id, group string, limits steadyLimits, runs []many) {
	l.Row(goal(id+"-interval", "the mean interval is the target", group+": mean interval off the target, up or down", Share, limits.interval, whyInterval),
		column(runs, many.off))
	l.Row(goal(id+"-tokens", "no more tokens than it takes", group+": mean number of tokens above the least", Share, limits.tokens, whyTokens),
		column(runs, many.surplus))
	l.Row(goal(id+"-made", "few tokens are made", group+": tokens made in a minute", Number, Reported(), ""), column(runs, madePerMinute))
}

const beyondStressNotes = `As beyond-many-steady. *Loss*: each hop loses its token with probability 1 %. *Heavy tail*: latencies have a Pareto distribution with exponent 1.5
and mean 30 ms, cut at 2 s; the least number of tokens is that of this mean. *Sample*: each member knows 64 others, drawn at random once.`

// stressGoals are the interval with what a network does.
func (g manyGroups) stressGoals(l *Lab) error {
	for _, preset := range steeredPresets {
		for _, n := range g.sizes {
			for _, s := range []struct {
				id, text string
				limits   steadyLimits
				edit     func(*manyGroup)
			}{
				{"loss", "1 % of hops lose their token", steadyLimits{AtMost(0.02), Reported()}, func(m *manyGroup) { m.loss = l.number(manyLoss) }},
				{"heavy", "heavy-tailed latency", steadyLimits{AtMost(0.01), Reported()}, func(m *manyGroup) { m.latency = heavyTail(gridLatency, l.number(tailExponent), l.span(tailMost)) }},
				{"sample", "directories of 64", steadyLimits{AtMost(0.01), Reported()}, func(m *manyGroup) { m.knows = l.count(manyKnown) }},
			} {
				group := g.group(preset, n)
				s.edit(&group)
				runs, err := Gather(l, func(seed uint64) (many, error) { return group.run(seed) })
				if err != nil {
					return err
				}
				steadyRows(l, fmt.Sprintf("many-%s-%s-%d", s.id, preset, n), fmt.Sprintf("%s, *%s*, %d members", s.text, preset, n), s.limits, runs)
			}
		}
	}
	return nil
}

// heavyTail is a Pareto distribution with this mean, but for what is cut from its
// tail.
func heavyTail(mean time.Duration, exponent float64, most time.Duration) circulation.Latency {
	return circulation.Quantiles(paretoQuantiles(mean, exponent, most))
}
