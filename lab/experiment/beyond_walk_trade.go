package experiment

import (
	"fmt"
	"time"

	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/keeper"
	"github.com/wandertoken/wander/protocol/policy/wandering"
	"github.com/wandertoken/wander/sim/circulation"
)

const beyondWalkTradeNotes = `300 members and the losses of the other experiments. The curve is the preset fair with fewer or more witnesses and random asks than its 12 and 2,
undisturbed and under all stresses of beyond-walk-stress at once. ` + "`wandering.NewTuned`" + ` makes these; no group configuration can ask for them. Each preset
is a point. The papers' presets send no small messages.`

// tunings are the points of the curve, those of fewest messages first.
var tunings = []wandering.Tuning{
	{Witnesses: 1, Reads: 1}, {Witnesses: 2, Reads: 1}, {Witnesses: 3, Reads: 1}, {Witnesses: 4, Reads: 2},
	{Witnesses: 6, Reads: 2}, {Witnesses: 8, Reads: 2}, {Witnesses: 12, Reads: 2}, {Witnesses: 16, Reads: 4},
}

func beyondWalkTrade(l *Lab) error { return walkTrade(l, walkPresets(), tunings, l.span(walkLength)) }

// walkTrade measures the curve twice: undisturbed, and under everything at once.
func walkTrade(l *Lab, presets []string, along []wandering.Tuning, length time.Duration) error {
	t := tradeOff{l: l, length: length}
	for _, under := range []stress{{members: fullLoad}, {id: "all", name: "all at once", members: fullLoad, change: allAtOnce(l)}} {
		if err := t.curve(under, along); err != nil {
			return err
		}
	}
	for _, preset := range presets {
		if err := t.point(walkOf(l, preset, fullLoad), "", ""); err != nil {
			return err
		}
	}
	l.Table("beyond-walk-trade", []string{"policy", "small messages per operation", "p99 over ideal"}, t.rows)
	return nil
}

// tradeOff collects what messages buy.
type tradeOff struct {
	l      *Lab
	length time.Duration
	rows   [][]string
}

// curve is the preset fair with several tunings.
func (t *tradeOff) curve(under stress, along []wandering.Tuning) error {
	for _, tuning := range along {
		g := walkOf(t.l, walkFair, fullLoad)
		g.change = under.change
		g.maker = tuned(tuning)
		tag := fmt.Sprintf("-tuned-%d-%d", tuning.Witnesses, tuning.Reads)
		words := fmt.Sprintf("%d witnesses and %d asked at random", tuning.Witnesses, tuning.Reads)
		if under.id != "" {
			tag, words = tag+"-"+under.id, words+", "+under.name
		}
		if err := t.point(g, tag, words); err != nil {
			return err
		}
	}
	return nil
}

// tuned makes members of fair with a tuning, and the keeper that catalog.New gives them.
func tuned(t wandering.Tuning) func(circulation.Config) circulation.Maker {
	return func(c circulation.Config) circulation.Maker {
		return func(_ int, in policy.Surroundings) (policy.Policy, error) {
			made, err := wandering.NewTuned(c.Params, in, t)
			if err != nil {
				return nil, err
			}
			return keeper.Around(made, c.Params, in, true), nil
		}
	}
}

// point runs a group, with rows if there are words for them.
func (t *tradeOff) point(g walkGroup, tag, words string) error {
	g.length = t.length
	runs, err := g.runs(t.l)
	if err != nil {
		return err
	}
	t.rows = append(t.rows, []string{
		g.preset + tag, cellOf(middle(column(runs, walkMessages.value))), cellOf(middle(column(runs, walkP99.value))),
	})
	if words == "" {
		return nil
	}
	for _, q := range []walkQuantity{walkMessages, walkP99, walkIdle} {
		q.limit, q.says = Reported(), "the curve"
		q.quantity = fmt.Sprintf("%s, %s", q.quantity, words)
		q.row(t.l, g, tag, runs)
	}
	return nil
}
