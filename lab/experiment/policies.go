package experiment

import (
	"fmt"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/wandering"
	"github.com/wandertoken/wander/sim/circulation"
)

func policyExperiments() []Experiment {
	return []Experiment{{
		Name: "policies", Title: "Every policy at every size, load and fault rate", Source: fromThisProject,
		Notes: policiesNotes, Run: policies,
	}}
}

const policiesNotes = `What an operator may expect of the policies in their default configuration. [policies.md](policies.md) picks among them;
[policies.csv](data/policies.csv) has all numbers.

- *Size*: 10, 50 and 300 members, which is also ` + "`members_max`" + `. Operations take 4 s, ` + "`skip_delay`" + ` is 100 ms, a handoff
  takes 50 ms and a message between policies 20 ms. ` + "`target_interval`" + ` of multitoken is one round of operations.
- *Load*: how much of the time the resource would be used if no member had to wait: 2 % (rare), 50 % (half), or all members always want (full).
  Below full load each member wants again an exponential time after it was served.
- *Faults*: none, or each member crashes once a day or once an hour, and is back after 10 minutes with its state.
- *Waiting* is from the wish to the begin of the operation. *Messages* are those per operation: 4 for each handoff, 1 for each message
  between policies. *Recovery* is from the loss of all tokens to the next token, at half load.

A run takes 30 000 s, of which the first fifth is not measured.`

// The setting of the comparison.
const (
	// handoffMessages are OFFER, ACCEPT, TRANSFER and RECEIPT.
	handoffMessages = 4
)

var policiesSizes = []int{10, 50, 300}

// load is how much the members want.
type load struct {
	name  string
	share float64 // of the time in which the resource would be used; 0: always
}

func policiesLoads(l *Lab) []load {
	return []load{{"rare", l.number(rareLoad)}, {"half", l.number(halfLoad)}, {"full", 0}}
}

// faults are how often each member crashes; 0: never.
type faults struct {
	name  string
	every time.Duration
}

func policiesFaults(l *Lab) []faults {
	return []faults{{"none", 0}, {"daily", l.span(rareCrashes)}, {"hourly", l.span(oftenCrashes)}}
}

// choice is a policy with a preset.
type choice struct{ policy, preset string }

// choices are all that there are.
func choices() (all []choice) {
	for _, name := range catalog.Names() {
		for _, p := range catalog.Presets(name) {
			all = append(all, choice{name, p.Name})
		}
	}
	return all
}

func (c choice) String() string { return c.policy + " " + c.preset }

// config is a group under this policy.
func (c choice) config(l *Lab, members int, load load, faults faults) circulation.Config {
	cfg := circulation.Config{
		Policy: c.policy, Members: members, Found: 1,
		Params: policy.Params{
			Preset: c.preset, OperationTime: 4 * time.Second, MembersMax: members, SkipDelay: 100 * time.Millisecond,
		},
		Passing: circulation.Constant(l.span(policiesPassing)), Telling: circulation.Constant(l.span(policiesTelling)),
		CrashEvery: faults.every / time.Duration(members), DownFor: l.span(policiesDown),
	}
	round := cfg.Params.OperationTime * time.Duration(members)
	if c.policy == catalog.Multitoken {
		cfg.Params.TargetInterval = round
	}
	if load.share > 0 {
		cfg.Demand = circulation.Every(time.Duration(float64(round) / load.share))
	}
	return cfg
}

// trial is a run of the comparison.
type trial struct {
	*circulation.Meter
	stats  circulation.Stats // after the warm-up
	wait99 float64           // of the waits of this run, in seconds
}

func try(cfg circulation.Config, seed uint64, warm, length time.Duration) (*trial, error) {
	cfg.Seed = seed
	w, err := circulation.New(cfg)
	if err != nil {
		return nil, err
	}
	t := &trial{Meter: newTrialMeter(warm)}
	w.Observe(t.Meter)
	w.Run(clock.Instant(warm))
	before := w.Stats()
	w.Run(clock.Instant(length))
	t.stats = w.Stats()
	t.stats.Hops -= before.Hops
	t.stats.Messages -= before.Messages
	t.stats.Operations -= before.Operations
	t.stats.Refused -= before.Refused
	t.wait99 = t.Waits.Quantile(0.99).Seconds()
	return t, w.Err()
}

func newTrialMeter(warm time.Duration) *circulation.Meter {
	return circulation.NewMeter(circulation.MeterConfig{Start: clock.Instant(warm), Bin: 100 * time.Millisecond})
}

// cell is one line of the table: the runs of a choice in one situation.
type cell struct {
	choice
	members int
	load    load
	faults  faults
	trials  []*trial
	waits   *circulation.Histogram
}

func (c *cell) middle(value func(*trial) float64) float64 { return middle(column(c.trials, value)) }

func idle(t *trial) float64 { return t.Concurrency(0) }

func overlap(t *trial) (share float64) {
	for k := 2; k <= t.MostOperations(); k++ {
		share += t.Concurrency(k)
	}
	return share
}

// messages is how many messages an operation costs.
func messages(t *trial) float64 {
	return float64(handoffMessages*t.stats.Hops+t.stats.Messages) / float64(t.stats.Operations)
}

func (c *cell) wait(q float64) float64 { return c.waits.Quantile(q).Seconds() }

// measure fills a cell.
func (c *cell) measure(l *Lab) error {
	length := l.span(policiesLength)
	warm := time.Duration(l.number(policiesWarm) * float64(length))
	return c.gather(l, c.config(l, c.members, c.load, c.faults), warm, length)
}

// gather runs a group for all seeds.
func (c *cell) gather(l *Lab, cfg circulation.Config, warm, length time.Duration) (err error) {
	c.trials, err = Gather(l, func(seed uint64) (*trial, error) { return try(cfg, seed, warm, length) })
	if err != nil {
		return fmt.Errorf("%v, %d members, %s load, %s faults: %w", c.choice, c.members, c.load.name, c.faults.name, err)
	}
	c.waits = c.trials[0].Waits
	for _, t := range c.trials[1:] {
		if err := c.waits.Merge(t.Waits); err != nil {
			return err
		}
	}
	for _, t := range c.trials { // large, and not needed any more
		t.Operations, t.Visits, t.Waits = nil, nil, nil
	}
	return nil
}

// recovery is from the loss of all tokens to the next token, in seconds: the
// median over all losses of all runs. One that takes longer than the time
// between two losses counts as that.
func recovery(l *Lab, c choice, members int) (float64, error) {
	return recoveryIn(l, l, c, members, 0)
}

// recoveryIn is recovery with a share of the members down, after numbers of a Lab
// which may be nil.
func recoveryIn(l, numbers *Lab, c choice, members int, down float64) (float64, error) {
	cfg := c.config(numbers, members, load{share: numbers.number(halfLoad)}, faults{})
	every := cfg.Params.OperationTime * time.Duration(members*numbers.count(recoveryRounds))
	cfg.Down, cfg.DownBy = down, every/2
	gaps, err := Gather(l, func(seed uint64) (lengths []float64, err error) {
		cfg := cfg
		cfg.Seed = seed
		w, err := circulation.New(cfg)
		if err != nil {
			return nil, err
		}
		r := newRecoveries(stabilised{}, every) // until there is a token
		w.Observe(r)
		for range numbers.count(recoveryLosses) {
			w.Run(w.Now().Add(every))
			for r.armed = true; r.armed && w.Tokens() > 0 && w.Err() == nil; {
				loseTokens(w, numbers.span(lossStep))
			}
			for r.recovering() && w.Now().Sub(r.lost) < every && w.Err() == nil {
				w.Run(w.Now().Add(time.Second))
			}
			if r.recovering() {
				r.finish(r.now, every)
			}
		}
		for _, d := range r.lengths {
			lengths = append(lengths, d.Seconds())
		}
		return lengths, w.Err()
	})
	if err != nil {
		return 0, err
	}
	var all []float64
	for _, g := range gaps {
		all = append(all, g...)
	}
	return middle(all), nil
}

func policies(l *Lab) error {
	table := policyTable{}
	var groups []policyGroup
	for _, c := range choices() {
		for _, n := range policiesSizes {
			groups = append(groups, policyGroup{choice: c, members: n})
		}
	}
	if err := AtOnce(l, len(groups), func(l *Lab, i int) error { return groups[i].measure(l) }); err != nil {
		return err
	}
	for _, g := range groups {
		for _, c := range g.cells {
			table.add(c, g.recovers)
		}
	}
	if !l.sweeping() {
		l.Table("policies", policiesHeader, table.rows)
	}
	policiesRows(l, table)
	return nil
}

// policyGroup is what is measured of a choice in groups of one size.
type policyGroup struct {
	choice
	members  int
	recovers string
	cells    []*cell
}

// measure fills the cells: all, or in a sweep those of the rows.
func (g *policyGroup) measure(l *Lab) (err error) {
	if !l.sweeping() {
		if g.recovers, err = recoveryText(l, g.choice, g.members); err != nil {
			return err
		}
	}
	for _, load := range policiesLoads(l) {
		for _, f := range policiesFaults(l) {
			if l.sweeping() && !slices.Contains(cellsOfRows, cellKey(g.choice, g.members, load.name, f.name)) {
				continue
			}
			c := &cell{choice: g.choice, members: g.members, load: load, faults: f}
			if err := c.measure(l); err != nil {
				return err
			}
			g.cells = append(g.cells, c)
		}
	}
	return nil
}

// recoveryText is the recovery as it stands in the table; there is none of what
// cannot get lost.
func recoveryText(l *Lab, c choice, members int) (string, error) {
	if c.policy == catalog.Uncoordinated {
		return "", nil
	}
	seconds, err := recovery(l, c, members)
	return cellOf(seconds), err
}

var policiesHeader = []string{
	"policy", "preset", "members", "load", "faults", "idle", "overlap", "wait p50", "wait p99", "messages", "recovery",
}

// policyTable is the table as it is written, and the cells by what they are of.
type policyTable struct {
	rows  [][]string
	cells map[string]*cell
}

func (t *policyTable) add(c *cell, recovers string) {
	if t.cells == nil {
		t.cells = map[string]*cell{}
	}
	t.cells[cellKey(c.choice, c.members, c.load.name, c.faults.name)] = c
	t.rows = append(t.rows, []string{
		c.policy, c.preset, fmt.Sprint(c.members), c.load.name, c.faults.name,
		cellOf(c.middle(idle)), cellOf(c.middle(overlap)), cellOf(c.wait(0.5)), cellOf(c.wait(0.99)), cellOf(c.middle(messages)), recovers,
	})
}

func cellKey(c choice, members int, load, faults string) string {
	return fmt.Sprint(c, " ", members, " ", load, " ", faults)
}

// cellsOfRows are the cells that policiesRows reads.
var cellsOfRows = []string{
	cellKey(choice{catalog.Ring, "e"}, 10, "rare", "none"), cellKey(choice{catalog.Wandering, wandering.Paper}, 10, "rare", "none"),
	cellKey(choice{catalog.Ring, "e"}, 50, "full", "none"), cellKey(choice{catalog.Wandering, wandering.Paper}, 50, "full", "none"),
	cellKey(choice{catalog.Wandering, wandering.Paper}, 300, "full", "hourly"), cellKey(choice{catalog.Uncoordinated, "journal"}, 300, "full", "hourly"),
	cellKey(choice{catalog.Uncoordinated, "journal"}, 300, "rare", "none"),
}

// policiesRows are what the text that picks a policy rests on.
func policiesRows(l *Lab, t policyTable) {
	at := func(policy, preset string, members int, load, faults string) *cell {
		return t.cells[cellKey(choice{policy, preset}, members, load, faults)]
	}
	ringE, walk := at(catalog.Ring, "e", 10, "rare", "none"), at(catalog.Wandering, wandering.Paper, 10, "rare", "none")
	c := Claim{Source: fromPolicies, Unit: Number, Holds: AtMost(1).trend(), Why: "the page has to be changed."}
	c.ID, c.Says = "policies-ring-rare", "few members, rare requests: a ring costs less than a walk"
	c.Quantity = "messages per operation, ring e over wandering paper, 10 members, 2 % load"
	l.Row(c, ratio(column(ringE.trials, messages), column(walk.trials, messages)))
	c.ID, c.Says = "policies-ring-wait-full", "at full load a ring serves the longest wait sooner than a random walk"
	c.Quantity = "99th percentile of waiting, ring e over wandering paper, 50 members, full load"
	ringE, walk = at(catalog.Ring, "e", 50, "full", "none"), at(catalog.Wandering, wandering.Paper, 50, "full", "none")
	wait := func(t *trial) float64 { return t.wait99 }
	l.Row(c, ratio(column(ringE.trials, wait), column(walk.trials, wait)))
	c.ID, c.Says = "policies-walk-crashes", "many members that crash often: a walk overlaps less than members without coordination"
	c.Quantity = "overlap, wandering paper over uncoordinated journal, 300 members, full load, hourly crashes"
	walk, free := at(catalog.Wandering, wandering.Paper, 300, "full", "hourly"), at(catalog.Uncoordinated, "journal", 300, "full", "hourly")
	l.Row(c, ratio(column(walk.trials, overlap), column(free.trials, overlap)))
	c.ID, c.Says = "policies-free-rare", "rare requests, overlap that does little harm: no coordination costs no messages"
	c.Quantity = "messages per operation, uncoordinated journal, 300 members, 2 % load"
	c.Holds = Exactly(0)
	l.Row(c, column(at(catalog.Uncoordinated, "journal", 300, "rare", "none").trials, messages))
}
