package experiment

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/sim/circulation"
)

const beyondDownPoliciesNotes = `The comparison of [policies.md](policies.md) for ` + "`ring e`" + `, ` + "`light`" + ` and ` + "`fair`" + `, with members down: the same loads and crashes in groups of 50 and
300, in runs of 15 000 s; recovery among 50. Each living member wants to run as often as in the group without failures, so that a load below full load
sinks with the members. If members crash besides, each living one does so once an hour. *Messages* are those per operation, 4 for each handoff and 1 for
each message between policies. *Waiting* is over a round of operations of the living if the row says so.
[beyond-down-policies.csv](data/beyond-down-policies.csv) has all figures.`

// downChoices are the policies that policies.md has one choose among for one token.
var downChoices = []choice{
	{catalog.Ring, "e"}, {catalog.Wandering, walkLight}, {catalog.Wandering, walkFair},
}

// downSizes are those of the comparison in which 5 % are more than one member.
var downSizes = policiesSizes[1:]

// downSituations are those of the tables of policies.md.
var downSituations = []struct{ load, faults string }{
	{"rare", "none"}, {"half", "none"}, {"full", "none"}, {"half", "hourly"}, {"full", "hourly"},
}

var downPoliciesHeader = []string{
	"policy", "preset", "members", "load", "faults", "down", "idle", "overlap", "wait p50", "wait p99", "messages", "passes in vain", "recovery",
}

// downCell is a cell of the comparison with some members down.
type downCell struct {
	cell
	down float64
}

// config is the group of a cell: as many of the living crash as without a fall.
func (c *downCell) config(warm time.Duration) circulation.Config {
	cfg := c.choice.config(nil, c.members, c.load, c.faults)
	cfg.Down, cfg.DownBy = c.down, warm/2
	cfg.CrashEvery = c.faults.every / time.Duration(cfg.Living())
	return cfg
}

// round is how long the living take to operate once each.
func (c *downCell) round() float64 {
	cfg := c.config(0)
	return float64(cfg.Living()) * cfg.Params.OperationTime.Seconds()
}

func (c *downCell) measure(l *Lab) error {
	length := time.Duration(downComparison.value * float64(time.Second))
	warm := time.Duration(policiesWarm.value * float64(length))
	return c.gather(l, c.config(warm), warm, length)
}

// refusals are the passes in vain for each operation.
func refusals(t *trial) float64 { return float64(t.stats.Refused) / float64(t.stats.Operations) }

func beyondDownPolicies(l *Lab) error {
	d := downPolicies{l: l, shares: downShares, sizes: downSizes}
	if err := d.all(); err != nil {
		return err
	}
	l.Table("beyond-down-policies", downPoliciesHeader, d.rows)
	return nil
}

// downPolicies measures all cells.
type downPolicies struct {
	l      *Lab
	shares []float64
	sizes  []int
	rows   [][]string
}

func (d *downPolicies) all() error {
	for _, c := range downChoices {
		for _, n := range d.sizes {
			for _, share := range d.shares {
				if err := d.group(c, n, share); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// group measures a policy in groups of one size, in each situation.
func (d *downPolicies) group(c choice, members int, share float64) error {
	recovers := math.NaN()
	if members < fullLoad {
		var err error
		if recovers, err = recoveryIn(d.l, nil, c, members, share); err != nil {
			return err
		}
	}
	loads, crashes := policiesLoads(nil), policiesFaults(nil)
	for _, s := range downSituations {
		cell := downCell{down: share, cell: cell{choice: c, members: members}}
		cell.load = loads[slices.IndexFunc(loads, func(l load) bool { return l.name == s.load })]
		cell.faults = crashes[slices.IndexFunc(crashes, func(f faults) bool { return f.name == s.faults })]
		if err := cell.measure(d.l); err != nil {
			return err
		}
		d.rows = append(d.rows, []string{
			c.policy, c.preset, fmt.Sprint(members), s.load, s.faults, cellOf(share),
			cellOf(cell.middle(idle)), cellOf(cell.middle(overlap)), cellOf(cell.wait(0.5)), cellOf(cell.wait(0.99)),
			cellOf(cell.middle(messages)), cellOf(cell.middle(refusals)), cellOf(recovers),
		})
		d.claims(&cell)
	}
	return nil
}

// claims are what policies.md says of fair.
func (d *downPolicies) claims(c *downCell) {
	if c.preset != walkFair {
		return
	}
	tag := fmt.Sprintf("%s-%s-%d-%.0f", c.load.name, c.faults.name, c.members, 100*c.down)
	where := fmt.Sprintf("%d members, %s load, %s faults, %s down", c.members, c.load.name, c.faults.name, Share.Text(c.down))
	row := func(id, says, quantity string, unit Unit, limit float64, value func(*trial) float64) {
		d.l.Row(goal("down-policies-"+id+"-"+tag, says, quantity+", preset fair, "+where, unit, AtMost(limit), "policies.md says so."), column(c.trials, value))
	}
	switch {
	case c.load.share == 0 && c.faults.every == 0:
		row("idle", "always busy: hardly ever idle", "share of time with no operation", Share, 0.02, idle)
		row("wait", "always busy: everybody in turn", "99th percentile of waiting, over a round of the living", Number, 1.05, func(t *trial) float64 { return t.wait99 / c.round() })
		row("messages", "what an operation costs does not grow", "messages per operation", Number, 40, messages)
	case c.load.share == 0:
		row("idle", "always busy, with crashes: hardly ever idle", "share of time with no operation", Share, 0.025, idle)
	case c.faults.every > 0:
		row("wait", "waits stay short with crashes", "99th percentile of waiting, over a round of all", Number, 0.5, func(t *trial) float64 {
			return t.wait99 / (float64(c.members) * walkOperation.Seconds())
		})
	default:
		row("overlap", "no overlap without crashes", "share of time with two operations", Share, 0, overlap)
	}
}
