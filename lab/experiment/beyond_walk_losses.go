package experiment

import (
	"fmt"
	"time"

	"github.com/wandertoken/wander/lab/figure"
)

const beyondWalkLossesNotes = `300 members, 300 000 s, and three kinds of loss in turn: in transit; with the holder; and with the holder and, at the same instant, its watcher,
the member that passed it the token. *Longest in a run* is that of each run, and *in any run* that of all runs together. *No token* is the time from the
loss to the next token, and 0 if there is another one.`

func beyondWalkLosses(l *Lab) error {
	if l.sweeping() {
		return walkLosses(l, ownPresets(), l.span(lossesLength))
	}
	return walkLosses(l, walkPresets(), l.span(lossesLength))
}

func walkLosses(l *Lab, presets []string, length time.Duration) error {
	var lines []figure.Line
	for _, preset := range presets {
		g := walkOf(l, preset, fullLoad)
		g.losses, g.length = []lossKind{inTransit, withHolder, withWatcher}, length
		runs, err := g.runs(l)
		if err != nil {
			return err
		}
		for _, c := range lossCases {
			c.rows(l, g, runs)
			lines = append(lines, figure.Line{
				Name: preset + ", " + c.name, Points: feltUpTo(runs, []lossKind{c.kind}), Dashed: isPapers(preset),
			})
		}
	}
	for i, c := range lossCases {
		var mine []figure.Line
		for k := i; k < len(lines); k += len(lossCases) {
			mine = append(mine, lines[k])
		}
		l.Plot("beyond-walk-losses-"+c.id, recoveryPlot("How long a loss is felt: "+c.name, mine))
	}
	return nil
}

// lossCase is a kind of loss with its goals, in seconds; 0 is none.
type lossCase struct {
	kind            lossKind
	id, name        string
	median, longest float64
}

var lossCases = []lossCase{
	{inTransit, "transit", "lost in transit", 11, 40},
	{withHolder, "holder", "the holder crashes", 11, 40},
	{withWatcher, "watcher", "the holder and its watcher crash", 0, 350},
}

func (c lossCase) rows(l *Lab, g walkGroup, runs []*walkRun) {
	kinds := []lossKind{c.kind}
	row := func(id, quantity string, limit float64, samples []float64) {
		r := goal(fmt.Sprintf("loss-%s-%s-%s", c.id, id, g.preset), "a lost token is replaced soon",
			fmt.Sprintf("%s, %s, preset %s", quantity, c.name, g.preset), Seconds, Reported(), "")
		if limit > 0 && !isPapers(g.preset) {
			r.Holds = AtMost(limit)
		}
		r.Beside = walkCost(runs)
		l.Row(r, samples)
	}
	row("median", "median of how long it is felt", c.median, column(runs, func(r *walkRun) float64 { return middle(r.felt(kinds)) }))
	row("longest", "longest that it is felt in a run", c.longest, column(runs, func(r *walkRun) float64 { return longestOf(r.felt(kinds)) }))
	var all, gaps []float64
	for _, r := range runs {
		all = append(all, r.felt(kinds)...)
		gaps = append(gaps, middle(r.tokenless(kinds)))
	}
	row("longest-of-all", "longest that it is felt in any run", c.longest, []float64{longestOf(all)})
	row("tokenless", "median of how long there is no token", 0, gaps)
}
