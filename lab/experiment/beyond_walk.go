package experiment

import (
	"fmt"
	"math"
	"slices"

	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/wandering"
)

const beyondWalkConditions = `One token, with the journal paper's constants: operations of 4 s, a dwell of 0.1 s at a member that may not run yet, for every preset the
Δmin of the paper's formula (600 s for 300 members), and a loss every 10⁴ s. In turn the token is lost in transit, and its holder crashes, forgets
it and is back after a minute; the crash is detected after 10 s. Handoffs and messages take no time, as in the paper, unless a section says
otherwise. *Ideal* is the time between two operations of a member in a perfect round robin, max(4 s · N, Δmin). The first three rounds of a run are not
measured; then 100 000 s are, or 8 rounds if that is longer. *Small messages* are those between policies, without the four of a handoff (OFFER, ACCEPT,
TRANSFER, RECEIPT). Bytes are those of the policy field on the token, on average over all passes. The seeds differ from those of all other experiments.`

func beyondWalkExperiments() []Experiment {
	return []Experiment{
		{
			Name: "beyond-walk", Title: "One token, from 75 members to 10,000", Source: "goal",
			Notes: beyondWalkNotes, Goals: true, Run: beyondWalk,
		},
		{
			Name: "beyond-walk-losses", Title: "How long the loss of a token is felt", Source: "goal",
			Notes: beyondWalkLossesNotes, Goals: true, Run: beyondWalkLosses,
		},
		{
			Name: "beyond-walk-load", Title: "When there is time to spare", Source: "goal",
			Notes: beyondWalkLoadNotes, Goals: true, Run: beyondWalkLoad,
		},
		{
			Name: "beyond-walk-stress", Title: "Slow handoffs, crashes, lost messages, small directories and false suspicion", Source: "goal",
			Notes: beyondWalkStressNotes, Goals: true, Run: beyondWalkStress,
		},
		{
			Name: "beyond-walk-together", Title: "All stresses at once, at every size", Source: "goal",
			Notes: beyondWalkTogetherNotes, Goals: true, Run: beyondWalkTogether,
		},
		{
			Name: "beyond-walk-liars", Title: "What liars gain, and what they harm", Source: "goal",
			Notes: beyondWalkLiarsNotes, Goals: true, Run: beyondWalkLiars,
		},
		{
			Name: "beyond-walk-trade", Title: "What messages buy", Source: "goal",
			Notes: beyondWalkTradeNotes, Goals: true, Unlimited: true, Run: beyondWalkTrade,
		},
	}
}

// The presets that are this project's, by the goals' names.
const (
	walkLight = "light"
	walkFair  = "fair"
)

// paperPresets are those of the papers.
var paperPresets = []string{wandering.Paper, wandering.Report}

// ownPresets are this project's, those that there are.
func ownPresets() []string {
	return slices.DeleteFunc([]string{walkLight, walkFair}, func(name string) bool {
		return !slices.ContainsFunc(catalog.Presets(catalog.Wandering), func(p catalog.Preset) bool { return p.Name == name })
	})
}

// walkPresets are all that are compared.
func walkPresets() []string { return append(slices.Clone(paperPresets), ownPresets()...) }

// walkQuantity is what is measured of a run, and its goal.
type walkQuantity struct {
	id, says, quantity string
	unit               Unit
	limit              Check
	only               string // the preset whose goal it is; empty: every one that is this project's
	why                string // it is not met
	value              func(*walkRun) float64
}

// The quantities of a run.
var (
	walkIdle = walkQuantity{
		id: "idle", says: "hardly ever idle", quantity: "share of time with no operation", unit: Share, limit: AtMost(0.002),
		value: func(r *walkRun) float64 { return r.share(0) },
	}
	walkTwo = walkQuantity{
		id: "two", says: "hardly ever two at once", quantity: "share of time with 2 operations", unit: Share, limit: AtMost(0.0015),
		value: func(r *walkRun) float64 { return r.share(2) },
	}
	walkMore = walkQuantity{
		id: "more", says: "never more than two at once", quantity: "share of time with more than 2 operations", unit: Share,
		limit: AtMost(0), value: (*walkRun).crowd,
	}
	walkP99 = walkQuantity{
		id: "p99", says: "nearly a round robin", quantity: "99th percentile of the time between operations, over the ideal", unit: Number,
		limit: AtMost(1.05), only: walkFair, value: func(r *walkRun) float64 { return r.stretched(0.99) },
	}
	walkP999 = walkQuantity{
		id: "p999", says: "nearly a round robin", quantity: "99.9th percentile of the time between operations, over the ideal", unit: Number,
		limit: AtMost(1.15), only: walkFair, value: func(r *walkRun) float64 { return r.stretched(0.999) },
	}
	walkMessages = walkQuantity{
		id: "messages", says: "few messages", quantity: "small messages per operation", unit: Number, limit: AtMost(30), only: walkFair,
		value: (*walkRun).messagesPerOperation,
	}
	walkHop = walkQuantity{
		id: "hop", says: "very few messages", quantity: "small messages per hop", unit: Number, limit: AtMost(4), only: walkLight,
		value: (*walkRun).messagesPerHop,
	}
	walkGap = walkQuantity{
		id: "gap", says: "a lost token is replaced in about the detection time", quantity: "median of how long losses are felt", unit: Seconds,
		limit: AtMost(11), value: func(r *walkRun) float64 { return middle(r.felt(plainLosses)) },
	}
	walkLongestGap = walkQuantity{
		id: "gap-longest", says: "a lost token is replaced in about the detection time", quantity: "longest that a loss of a run is felt", unit: Seconds,
		limit: AtMost(40), value: func(r *walkRun) float64 { return longestOf(r.felt(plainLosses)) },
	}
)

// walkQuantities are what is measured at each size.
var walkQuantities = []walkQuantity{
	walkIdle, walkTwo, walkMore, walkP99, walkP999, walkMessages, walkHop, walkGap, walkLongestGap,
}

// row hands in a quantity of a group's runs.
func (q walkQuantity) row(l *Lab, g walkGroup, tag string, runs []*walkRun) {
	c := goal(fmt.Sprintf("%s-%s%s", q.id, g.preset, tag), q.says, fmt.Sprintf("%s, preset %s, %d members", q.quantity, g.preset, g.members),
		q.unit, q.limit, q.why)
	c.Beside = walkCost(runs)
	if g.preset == walkLight && q.why == "" {
		c.Why = whyLight
	}
	if q.only != "" && q.only != g.preset || isPapers(g.preset) {
		c.Holds = Reported()
	}
	l.Row(c, column(runs, q.value))
}

// whyLight is the reason where light does not meet a goal of all presets.
const whyLight = `light knows of no member but those that it comes to, and walks at random: it finds who is due by chance, and two tokens live
until one meets a member that saw both. Its freshness follows how often a token comes already; what helps is what fair does beyond
it: telling and asking witnesses.`

// walkCost is what the runs cost on average.
func walkCost(runs []*walkRun) string {
	return fmt.Sprintf("%s messages per hop, %s B on the token",
		Number.Text(middle(column(runs, (*walkRun).messagesPerHop))), significant(math.Round(middle(column(runs, (*walkRun).fieldBytes)))))
}

const beyondWalkNotes = "`members_max`" + ` is 300 for 210, 300 and 360 members, as in the paper: 360 members overbook the resource by a fifth. Groups of 75 and of 1000
and more are configured for their own size. The papers' presets are left out of the largest groups, in which they need longer to replace a token than
until the next loss.

A loss is felt until an operation begins, or not at all if one runs under another token. Under the papers' presets a loss may be felt until the next
one.`

// The sizes of the goals: the paper's, and all.
var (
	walkSizes    = []int{210, fullLoad, 360}
	walkAllSizes = []int{75, 210, fullLoad, 360, 1000, 3000, 10_000}
)

// paperLargest is the largest group in which the papers' presets are compared.
const paperLargest = 1000

// walkAt is the group of a size.
func walkAt(l *Lab, preset string, members int) walkGroup {
	if slices.Contains(walkSizes, members) {
		return walkOf(l, preset, members)
	}
	return walkSized(l, preset, members)
}

func beyondWalk(l *Lab) error {
	if l.sweeping() {
		return walkComparison(l, ownPresets(), []int{fullLoad})
	}
	return walkComparison(l, walkPresets(), walkAllSizes)
}

// walkComparison compares presets at several sizes.
func walkComparison(l *Lab, presets []string, sizes []int) error {
	table, figures := walkTable{}, walkFigures{}
	for _, preset := range presets {
		for _, n := range sizes {
			if isPapers(preset) && n > paperLargest {
				continue
			}
			g := walkAt(l, preset, n)
			runs, err := g.runs(l)
			if err != nil {
				return err
			}
			table.add(g, "", runs)
			figures.add(g, runs)
			walkRows(l, g, runs)
		}
	}
	if !l.sweeping() {
		l.Table("beyond-walk", walkHeader, table)
		figures.plot(l)
	}
	return nil
}

// walkRows are the rows of one size: of the papers' presets at full load only, and
// of light at the paper's sizes.
func walkRows(l *Lab, g walkGroup, runs []*walkRun) {
	if isPapers(g.preset) && g.members != fullLoad || g.preset == walkLight && !slices.Contains(walkSizes, g.members) {
		return
	}
	for _, q := range walkQuantities {
		q.row(l, g, fmt.Sprintf("-%d", g.members), runs)
	}
}

func isPapers(preset string) bool { return slices.Contains(paperPresets, preset) }
