package experiment

// Kind is what a claim is about, and how it can be held against a measurement.
// Verdicts of one kind can be counted together; the headline counts them so.
type Kind string

// The kinds, in the order of the headline.
const (
	TwoSided   Kind = "two-sided"  // a published number, with limits on both sides; runs are random
	OneSided   Kind = "one-sided"  // a published bound; runs are random
	Trend      Kind = "trend"      // two random quantities compared: more, less, longer
	Arithmetic Kind = "arithmetic" // follows from the paper's constants; nothing is simulated
	Exhaustive Kind = "exhaustive" // all schedules, or one that is given; nothing is random
	Corrected  Kind = "corrected"  // about an algorithm that this project has corrected
	Own        Kind = "own"        // no paper's: this project's statement
	NoNumber   Kind = "no number"  // the paper says something, but gives no number
)

// kinds are all kinds, with what the headline calls them.
var kinds = []struct {
	Kind
	text string
}{
	{TwoSided, "random runs against a published number, with limits on both sides"},
	{OneSided, "random runs against a published bound, or against *always* or *never*"},
	{Trend, "a comparison of two quantities of random runs: *more*, *less*, *longer*"},
	{Arithmetic, "follows from the paper's own constants; nothing is simulated"},
	{Exhaustive, "all schedules of small rings, or one given schedule of a large ring; nothing is random"},
	{Corrected, "about Q or D of the ring paper as corrected by this project; as printed they fail"},
	{Own, "no paper's claim, but this project's, about what it adds"},
	{NoNumber, "the paper gives no number to compare with"},
}

// Sources of statements that are in no paper.
const (
	fromThisProject = "this project"
	fromNoPaper     = "not in the paper"
	fromPolicies    = "policies.md"
	fromGoals       = "goal"
)

// kindOf is the kind of a claim: the one that it gives, or the one that its
// source and its limits imply.
func kindOf(c *Claim) Kind {
	switch {
	case c.Kind != "":
		return c.Kind
	case c.Source == fromThisProject || c.Source == fromNoPaper || c.Source == fromPolicies || c.Source == fromGoals:
		return Own
	case c.Holds.kind == reported:
		return NoNumber
	case c.Holds.isTrend:
		return Trend
	case c.Holds.oneSided(c.Unit):
		return OneSided
	}
	return TwoSided
}
