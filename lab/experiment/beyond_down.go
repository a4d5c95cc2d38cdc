package experiment

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/wandertoken/wander/internal/counted"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/wandering"
	"github.com/wandertoken/wander/protocol/policy/wandering/liars"
	"github.com/wandertoken/wander/sim/circulation"
)

const beyondDownConditions = `The goals of one token and the comparison of the policies, in groups of which 5, 10, 20 or 30 % of the members are down all the time. Each of these
takes part at first, and fails permanently at a random instant of the first half of the warm-up. So others remember it, and a few fail with the token. Its
failure is stated 10 s later, as in a group that works; then no member draws it any more, and it is no member's witness. *Ideal* is the round robin of
the living. The rows with 0 % down are the same runs without these failures, for comparison. Other values of the numbers that no paper gives
were not tried here.`

func beyondDownExperiments() []Experiment {
	return []Experiment{
		{
			Name: "beyond-down-walk", Title: "One token, with members down", Source: "goal",
			Notes: beyondDownWalkNotes, Goals: true, Run: beyondDownWalk,
		},
		{
			Name: "beyond-down-policies", Title: "Policies side by side, with members down", Source: "goal",
			Notes: beyondDownPoliciesNotes, Goals: true, Run: beyondDownPolicies,
		},
	}
}

const beyondDownWalkNotes = `The groups of the experiments about the wandering token, with the same losses:

- *300 members* at full load, as in beyond-walk, and fair among 75 and 1000 of which 30 % are down. A token is lost every 10⁴ s: in
  turn in transit, with its holder, and with its holder and the holder's watcher, as in beyond-walk-losses;
- *time to spare*: 75 members configured for 300, as in beyond-walk-load;
- *all at once*: the stresses of beyond-walk-stress, among 300 members, and *all but small directories*, in which every member knows all others;
- *not stated*: no failure is stated, as if too few members reached each other. Members that are down stay witnesses, and each member
  finds out by itself that one is down, 10 s after it first sent or passed that one something;
- *liars*: 15 of 300 always claim to be starved, as in beyond-walk-liars;
- *by timekeepers*: fair with fewer timekeepers, as in beyond-walk-trade, with 30 % down.

30 000 s are measured, or 8 rounds if that is longer. *Passes in vain* are those to a member that was down, for each operation. Each costs as long as a
handoff here; over a network it costs until the sender gives up.`

// downShares are the shares of the members that are down.
var downShares = []float64{0, 0.05, 0.1, 0.2, 0.3}

// mostDown is the largest of them.
var mostDown = downShares[len(downShares)-1]

// downLab measures groups with members down, and hands in rows and a table.
type downLab struct {
	l      *Lab
	shares []float64
	table  [][]string
}

// downCase is a group of which some members are down.
type downCase struct {
	walkGroup
	id, name   string // of what else is the matter
	quantities []walkQuantity
	gain       func(*walkRun, uint64) float64
}

var walkRefused = walkQuantity{
	id: "refused", says: "the dead are not tried again and again", quantity: "passes in vain per operation", unit: Number, limit: Reported(),
	value: (*walkRun).refusedPerOperation,
}

func beyondDownWalk(l *Lab) error {
	d := downLab{l: l, shares: downShares}
	if err := d.all(); err != nil {
		return err
	}
	l.Table("beyond-down-walk", append([]string{"down"}, append(slices.Clone(walkHeader), "passes in vain per operation", "share of a liar")...), d.table)
	return nil
}

// all measures every case.
func (d *downLab) all() error {
	for _, preset := range []string{wandering.Paper, walkLight, walkFair} {
		for _, share := range d.shares {
			for _, c := range downCases(preset, share) {
				if err := d.measure(c); err != nil {
					return err
				}
			}
		}
	}
	for _, n := range []int{75, 1000} {
		if err := d.measure(downPlain(downSized(n), mostDown)); err != nil {
			return err
		}
	}
	for _, n := range []int{1, 3, 6, policy.MaxTimekeepers} {
		if err := d.measure(downWithFew(n)); err != nil {
			return err
		}
	}
	return nil
}

// downCases are what is measured of a preset with a share of the members down.
func downCases(preset string, share float64) []downCase {
	full := downOf(preset, fullLoad)
	cases := []downCase{downPlain(full, share)}
	if isPapers(preset) {
		return cases
	}
	cases = append(cases, downSpare(preset, share), downStressed(full, share, true), downStressed(full, share, false))
	if share > 0 {
		cases = append(cases, downUnstated(full, share))
	}
	if preset == walkFair {
		cases = append(cases, downLiars(full, share))
	}
	return cases
}

// downOf and downSized are walkOf and walkSized for shorter runs.
func downOf(preset string, members int) walkGroup {
	g := walkOf(nil, preset, members)
	g.length, g.losses = time.Duration(downLength.value*float64(time.Second)), []lossKind{inTransit, withHolder, withWatcher}
	return g
}

func downSized(members int) walkGroup {
	g := downOf(walkFair, members)
	g.membersMax = members
	return g
}

func downPlain(g walkGroup, share float64) downCase {
	g.fallen = share
	watcher := walkLongestGap
	watcher.id, watcher.limit = "watcher", Reported()
	watcher.quantity = "longest that the loss of a holder with its watcher is felt in a run"
	watcher.value = func(r *walkRun) float64 { return longestOf(r.felt([]lossKind{withWatcher})) }
	c := downCase{walkGroup: g, quantities: append(slices.Clone(walkQuantities), watcher, walkRefused)}
	for i := range c.quantities {
		if c.quantities[i].id == walkMessages.id {
			c.quantities[i].why = whySmall
		}
	}
	return c
}

func downSpare(preset string, share float64) downCase {
	late := walkIdle
	late.id, late.quantity, late.why = "late", "share of time with no operation though somebody is due", whyIdleSpare
	if preset == walkFair {
		late.why = whyLateFair
	}
	late.value = func(r *walkRun) float64 { return r.waiting }
	messages := walkMessages
	messages.limit, messages.only = Reported(), ""
	g := downOf(preset, int(spareMembers.value))
	g.fallen = share
	return downCase{walkGroup: g, id: "spare", name: "time to spare", quantities: []walkQuantity{late, walkTwo, walkP99, messages}}
}

// Why goals are not met with members down.
const (
	whyUnstated = "each living member has to find out by itself which members are down. It waits for the answer of each of them twice, " +
		"and they come first, as they have waited longest. Where failures are stated, that costs 10 s once."
	whyUnstatedLight = "each living member has to find out by itself which members are down: it offers the token to each of them once, in vain, and each such offer costs skip_delay."
	whyLateFair      = "a keeper tells the holder who waits, also of members that are not due. The holder asks them, and a member that becomes due meanwhile " +
		"waits until that has ended; when keepers did not say who waits, it was 0.025 %. Tried, in one run: a look at two members at random instead, 1.56 % and 55 messages."
	whyStressed = "with directories of 64 nobody hears of the failure of a member that it does not know. Its witnesses go on reporting it, and each " +
		"holder waits for its answer. With whole directories (the rows of *all but small directories*) fair bears the same. Use whole directories."
	whyFewer = "one member in the group crashes every 100 s, so that each of fewer does so more often."
	whySmall = "52 members are left, and small groups send more: a group of 52 with nobody down sends as much, 30.8 messages in a run."
)

// downStressed are the stresses of the goals, with small directories and without.
func downStressed(g walkGroup, share float64, small bool) downCase {
	g.change, g.fallen = allAtOnce(nil), share
	c := downCase{walkGroup: g, id: "all", name: "all at once"}
	why := whyStressed
	if !small {
		all := g.change
		c.change = func(cfg *circulation.Config) {
			all(cfg)
			cfg.Known = 0
		}
		c.id, c.name, why = "whole", "all but small directories", whyFewer
	}
	idle, p99 := walkIdle, walkP99
	idle.limit, idle.only, p99.limit, idle.why, p99.why = AtMost(0.016), walkFair, AtMost(1.1), why, why
	two, messages := walkTwo, walkMessages
	two.limit, messages.limit = Reported(), Reported()
	c.quantities = []walkQuantity{idle, two, p99, messages}
	return c
}

func downUnstated(g walkGroup, share float64) downCase {
	g.change, g.fallen = func(c *circulation.Config) { c.Unstated = true }, share
	quantities := []walkQuantity{walkIdle, walkTwo, walkP99, walkP999, walkMessages, walkGap, walkRefused}
	for i := range quantities {
		if quantities[i].why = whyUnstated; g.preset == walkLight {
			quantities[i].why = whyUnstatedLight
		}
	}
	return downCase{walkGroup: g, id: "unstated", name: "not stated", quantities: quantities}
}

func downLiars(g walkGroup, share float64) downCase {
	lie := deceit{id: "starved-15", name: "15 are always starved", liars: int(colludingLiars.value), lie: liars.Starved, share: AtMost(1.3)}
	g.maker, g.fallen = lie.maker, share
	gained := walkQuantity{
		id: "gain", says: "who lies gains nothing", quantity: "share of a liar over that of an honest member", unit: Number,
		limit: lie.share, value: func(r *walkRun) float64 { return r.gain },
	}
	return downCase{
		walkGroup: g, id: "starved", name: lie.name, quantities: []walkQuantity{gained},
		gain: func(r *walkRun, seed uint64) float64 {
			return gainOfLiving(r.PerMember(), lie.measured(uint64(g.members), seed+walkSeeds), r.down)
		},
	}
}

// gainOfLiving is gain among those that are not down.
func gainOfLiving(operations []uint64, some, down []int) float64 {
	var living []uint64
	var lying []int
	for m, n := range operations {
		if slices.Contains(down, m) {
			continue
		}
		if slices.Contains(some, m) {
			lying = append(lying, len(living))
		}
		living = append(living, n)
	}
	return gain(living, lying)
}

func downWithFew(timekeepers int) downCase {
	g := downOf(walkFair, fullLoad)
	g.fallen = mostDown
	g.timekeepers = timekeepers
	p99, messages := walkP99, walkMessages
	p99.limit, messages.limit = Reported(), Reported()
	return downCase{
		walkGroup: g, id: "timekeepers-" + strconv.Itoa(timekeepers),
		name:       counted.Of(timekeepers, "timekeeper"),
		quantities: []walkQuantity{messages, p99},
	}
}

// measure runs a case, and hands in its rows.
func (d *downLab) measure(c downCase) error {
	runs, err := Gather(d.l, func(seed uint64) (*walkRun, error) {
		r, err := c.run(d.l.Context(), seed)
		if err == nil && c.gain != nil {
			r.gain = c.gain(r, seed)
		}
		return r, err
	})
	if err != nil {
		return err
	}
	down := Share.Text(c.fallen)
	lines := walkTable{}
	lines.add(c.walkGroup, c.name, runs)
	gained := ""
	if c.gain != nil {
		gained = cellOf(middle(column(runs, func(r *walkRun) float64 { return r.gain })))
	}
	d.table = append(d.table, append(append([]string{cellOf(c.fallen)}, lines[0]...), cellOf(middle(column(runs, (*walkRun).refusedPerOperation))), gained))
	if isPapers(c.preset) {
		return nil
	}
	tag := fmt.Sprintf("-%d-%.0f", c.members, 100*c.fallen)
	if c.id != "" {
		tag = "-" + c.id + tag
	}
	for _, q := range c.quantities {
		q.id = "down-" + q.id
		if c.name != "" {
			q.quantity += ", " + c.name
		}
		q.quantity += ", " + down + " down"
		q.row(d.l, c.walkGroup, tag, runs)
	}
	return nil
}
