package experiment

import (
	"fmt"
	"strconv"
	"time"

	"github.com/wandertoken/wander/internal/counted"
	"github.com/wandertoken/wander/protocol/policy"
)

const beyondWalkTradeNotes = `300 members and the losses of the other experiments. The curve is the preset fair with fewer ` + "`timekeepers`" + ` than its 12, undisturbed and under all stresses of
beyond-walk-stress at once. Each preset is a point. The papers' presets send no small messages.`

// timekeepersAlong are the points of the curve, those of fewest messages first.
var timekeepersAlong = []int{1, 2, 3, 4, 6, 8, policy.MaxTimekeepers}

func beyondWalkTrade(l *Lab) error {
	return walkTrade(l, walkPresets(), timekeepersAlong, l.span(walkLength))
}

// walkTrade measures the curve twice: undisturbed, and under everything at once.
func walkTrade(l *Lab, presets []string, along []int, length time.Duration) error {
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

// curve is the preset fair with fewer and more timekeepers.
func (t *tradeOff) curve(under stress, along []int) error {
	for _, n := range along {
		g := walkOf(t.l, walkFair, fullLoad)
		g.change = under.change
		g.timekeepers = n
		tag, words := "-timekeepers-"+strconv.Itoa(n), counted.Of(n, "timekeeper")
		if under.id != "" {
			tag, words = tag+"-"+under.id, words+", "+under.name
		}
		if err := t.point(g, tag, words); err != nil {
			return err
		}
	}
	return nil
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
