package experiment

import (
	"fmt"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/wandering"
	"github.com/wandertoken/wander/sim/circulation"
)

func policyExperiments() []Experiment {
	return []Experiment{{
		Name: "policies", Title: "Every policy at every size, load and fault rate", Source: "this project",
		Notes: policiesNotes, Run: policies,
	}}
}

const policiesNotes = `What an operator may expect of the policies as they are configured by default. The text that picks among them is in
policies.md; all numbers are in data/policies.csv.

- *Size*: 10, 50 and 300 members, which is also ` + "`members_max`" + `. Operations take 4 s, ` + "`skip_delay`" + ` is 100 ms, a handoff
  takes 50 ms and a message between policies 20 ms. ` + "`target_interval`" + ` of multitoken is one round of operations.
- *Load*: how much of the time the resource would be used if nobody had to wait: 2 % (rare), 50 % (half), or all members always want (full).
  Below full load each member wants again an exponential time after it was served.
- *Faults*: none, or each member crashes once a day, or once an hour, and is back after 10 minutes with what it had.
- *Waiting* is from the wish to the begin of the operation. *Messages* are those per operation: 4 for each handoff, 1 for each message
  between policies. *Recovery* is from the loss of all tokens to the next token, at half load.

Runs of 30 000 s, of which the first fifth is not measured.`

// The setting of the comparison.
const (
	policiesLength  = 30_000 * time.Second
	policiesWarm    = policiesLength / 5
	policiesPassing = 50 * time.Millisecond
	policiesTelling = 20 * time.Millisecond
	policiesDown    = 10 * time.Minute

	// handoffMessages are OFFER, ACCEPT, TRANSFER and RECEIPT.
	handoffMessages = 4

	// recoveryLosses is how often a run for the recovery loses all tokens, each
	// time after recoveryRounds rounds of operations.
	recoveryLosses, recoveryRounds = 5, 30
)

var policiesSizes = []int{10, 50, 300}

// load is how much the members want.
type load struct {
	name  string
	share float64 // of the time in which the resource would be used; 0: always
}

var policiesLoads = []load{{"rare", 0.02}, {"half", 0.5}, {"full", 0}}

// faults are how often each member crashes; 0: never.
type faults struct {
	name  string
	every time.Duration
}

var policiesFaults = []faults{{"none", 0}, {"daily", 24 * time.Hour}, {"hourly", time.Hour}}

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
func (c choice) config(members int, load load, faults faults) circulation.Config {
	cfg := circulation.Config{
		Policy: c.policy, Members: members, Found: 1,
		Params: policy.Params{
			Preset: c.preset, OperationTime: 4 * time.Second, MembersMax: members, SkipDelay: 100 * time.Millisecond,
		},
		Passing: circulation.Constant(policiesPassing), Telling: circulation.Constant(policiesTelling),
		CrashEvery: faults.every / time.Duration(members), DownFor: policiesDown,
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
	stats circulation.Stats // after the warm-up
}

func try(cfg circulation.Config, seed uint64) (*trial, error) {
	cfg.Seed = seed
	w, err := circulation.New(cfg)
	if err != nil {
		return nil, err
	}
	t := &trial{Meter: newTrialMeter()}
	w.Observe(t.Meter)
	w.Run(clock.Instant(policiesWarm))
	before := w.Stats()
	w.Run(clock.Instant(policiesLength))
	t.stats = w.Stats()
	t.stats.Hops -= before.Hops
	t.stats.Messages -= before.Messages
	t.stats.Operations -= before.Operations
	return t, w.Err()
}

func newTrialMeter() *circulation.Meter {
	return circulation.NewMeter(circulation.MeterConfig{Start: clock.Instant(policiesWarm), Bin: 100 * time.Millisecond})
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
func (c *cell) measure(l *Lab) (err error) {
	cfg := c.config(c.members, c.load, c.faults)
	c.trials, err = Gather(l, func(seed uint64) (*trial, error) { return try(cfg, seed) })
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
	cfg := c.config(members, policiesLoads[1], policiesFaults[0])
	every := cfg.Params.OperationTime * time.Duration(members*recoveryRounds)
	gaps, err := Gather(l, func(seed uint64) (lengths []float64, err error) {
		cfg := cfg
		cfg.Seed = seed
		w, err := circulation.New(cfg)
		if err != nil {
			return nil, err
		}
		r := newRecoveries(stabilised{}) // until there is a token
		w.Observe(r)
		for range recoveryLosses {
			w.Run(w.Now().Add(every))
			for r.armed = true; r.armed && w.Tokens() > 0 && w.Err() == nil; {
				loseTokens(w)
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
	for _, c := range choices() {
		for _, n := range policiesSizes {
			recovers, err := recoveryText(l, c, n)
			if err != nil {
				return err
			}
			for _, load := range policiesLoads {
				for _, f := range policiesFaults {
					cell := &cell{choice: c, members: n, load: load, faults: f}
					if err := cell.measure(l); err != nil {
						return err
					}
					table.add(cell, recovers)
				}
			}
		}
	}
	l.Table("policies", policiesHeader, table.rows)
	policiesRows(l, table)
	return nil
}

// recoveryText is the recovery as it stands in the table; there is none of what
// cannot get lost.
func recoveryText(l *Lab, c choice, members int) (string, error) {
	if c.policy == catalog.Uncoordinated {
		return "", nil
	}
	seconds, err := recovery(l, c, members)
	return Cell(seconds), err
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
		Cell(c.middle(idle)), Cell(c.middle(overlap)), Cell(c.wait(0.5)), Cell(c.wait(0.99)), Cell(c.middle(messages)), recovers,
	})
}

func cellKey(c choice, members int, load, faults string) string {
	return fmt.Sprint(c, " ", members, " ", load, " ", faults)
}

// policiesRows are what the text that picks a policy rests on.
func policiesRows(l *Lab, t policyTable) {
	at := func(policy, preset string, members int, load, faults string) *cell {
		return t.cells[cellKey(choice{policy, preset}, members, load, faults)]
	}
	ringE, walk := at(catalog.Ring, "e", 10, "rare", "none"), at(catalog.Wandering, wandering.Paper, 10, "rare", "none")
	c := Claim{Source: "policies.md", Unit: Number, Holds: AtMost(1), Why: "the page has to be changed."}
	c.ID, c.Says = "policies-ring-rare", "few members, rare requests: a ring costs less than a walk"
	c.Quantity = "messages per operation, ring e over wandering paper, 10 members, 2 % load"
	l.Row(c, ratio(column(ringE.trials, messages), column(walk.trials, messages)))
	c.ID, c.Says = "policies-ring-wait-full", "at full load a ring serves the longest wait sooner than a random walk"
	c.Quantity = "99th percentile of waiting, ring e over wandering paper, 50 members, full load"
	ringE, walk = at(catalog.Ring, "e", 50, "full", "none"), at(catalog.Wandering, wandering.Paper, 50, "full", "none")
	l.Row(c, []float64{ringE.wait(0.99) / walk.wait(0.99)})
	c.ID, c.Says = "policies-walk-crashes", "many members that crash often: a walk overlaps less than members without coordination"
	c.Quantity = "overlap, wandering paper over uncoordinated journal, 300 members, full load, hourly crashes"
	walk, free := at(catalog.Wandering, wandering.Paper, 300, "full", "hourly"), at(catalog.Uncoordinated, "journal", 300, "full", "hourly")
	l.Row(c, ratio(column(walk.trials, overlap), column(free.trials, overlap)))
	c.ID, c.Says = "policies-free-rare", "rare requests, overlap that does little harm: no coordination costs no messages"
	c.Quantity = "messages per operation, uncoordinated journal, 300 members, 2 % load"
	c.Holds = Exactly(0)
	l.Row(c, column(at(catalog.Uncoordinated, "journal", 300, "rare", "none").trials, messages))
}
