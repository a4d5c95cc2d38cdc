package experiment

import (
	"fmt"
	"math"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/sim/circulation"
)

// seriesStep is how often figures of the number of tokens look.
const seriesStep = 50 * time.Second

const journalFig5Notes = `As figure 2. The figure is the run with the first seed. A token is *spurious* if another one exists when it is generated.
"At most two spurious tokens" is read as at most two more than the one that there should be; *in all* counts every token.`

func journalFig5(l *Lab) error {
	s := caseStudy(fullLoad)
	s.series = seriesStep
	runs, err := s.runs(l)
	if err != nil {
		return err
	}
	l.Plot("journal-fig5", tokensPlot(fmt.Sprintf("Tokens in the system, 300 members, seed %d", l.Seeds()[0]), runs[0].Series(), seriesStep))
	l.Table("journal-fig5", []string{"seconds", "tokens"}, seriesTable(runs[0].Series()))
	tokens := func(o *outcome) float64 { return float64(o.MostTokens()) }
	const crowdWhy = "in 28 hours several members may time out before the removal rule has met the tokens of the first; it happens in many runs, each time briefly. The paper shows one run."
	l.Row(Claim{
		ID: "journal-spurious", Source: "journal §3, figure 5", Says: "never more than two spurious tokens",
		Quantity: "most tokens at once, less one", Unit: Number, Holds: AtMost(2), Why: crowdWhy,
	}, column(runs, func(o *outcome) float64 { return tokens(o) - 1 }))
	l.Row(Claim{
		ID: "journal-spurious/in-all", Source: "journal §3, figure 5", Says: "never more than two spurious tokens",
		Quantity: "most tokens at once", Reading: "in all", Unit: Number, Holds: AtMost(2), Why: crowdWhy,
	}, column(runs, tokens))
	l.Row(Claim{
		ID: "journal-spurious-time", Source: "journal §3, figure 5", Says: "never more than two spurious tokens",
		Quantity: "share of time with more than two spurious tokens", Unit: Share, Holds: Reported(),
	}, column(runs, moreTokensThan(3)))
	l.Row(Claim{
		ID: "journal-spikes", Source: "journal §3, figure 5", Says: "spurious tokens are removed promptly: the spikes are narrow",
		Quantity: "mean length of a span with more than one token", Unit: Seconds, Holds: Reported(),
	}, column(runs, func(o *outcome) float64 { return meanSeconds(o.watch.crowds) }))
	l.Row(Claim{
		ID: "journal-recovers", Source: "journal §3, figure 5", Says: "the loss of the token is recovered from",
		Quantity: "share of spans without a token that end before the next loss, 10⁴ s later", Unit: Share, Holds: Exactly(1),
	}, column(runs, func(o *outcome) float64 { return recovered(o.Gaps()) }))
	l.Row(Claim{
		ID: "journal-gap", Source: "journal §3, figure 5", Says: "regenerating a lost token may take a relevant time",
		Quantity: "mean time without a token after it was lost", Unit: Seconds, Holds: Reported(),
	}, column(runs, func(o *outcome) float64 { return meanSeconds(lengths(o.Gaps())) }))
	l.NotMeasured("journal §3", "token losses here are more than ten times as frequent as packet losses in the open Internet",
		"it is about the Internet of 2007")
	l.NotMeasured("journal §3", "with the 4-way handoff tokens are lost once a week, in the scale of the case study",
		"it is about the protocol of another paper. Here members keep tokens on disk and lose none; see guarantees.md")
	return nil
}

// moreTokensThan is the share of time with more than n tokens.
func moreTokensThan(n int) func(*outcome) float64 {
	return func(o *outcome) float64 {
		share := 0.0
		for k := n + 1; k <= o.MostTokens(); k++ {
			share += o.TokensAlive(k)
		}
		return share
	}
}

func lengths(gaps []circulation.Gap) []time.Duration {
	var d []time.Duration
	for _, g := range gaps {
		d = append(d, g.Length())
	}
	return d
}

// recovered is the share of gaps that end before the next loss is due.
func recovered(gaps []circulation.Gap) float64 {
	n := 0
	for _, g := range gaps {
		if g.Length() < lossEvery {
			n++
		}
	}
	return float64(n) / float64(len(gaps))
}

func seriesTable(series []int) (rows [][]string) {
	for i, n := range series {
		rows = append(rows, []string{cellOf(float64(i) * seriesStep.Seconds()), cellOf(float64(n))})
	}
	return rows
}

const journalGenerationNotes = `Each of 300 members waits Δmin and then an exponential time of mean γ. The text derives that a timeout expires every 2·Δmin
on average. It leaves open which timeouts are meant. The default counts all tokens that are generated in the run of figure 2. *From
a cold start* is the time to the first token if no member has ever observed one; the formula Δmin + γ/300 is exact for it. *Without
visits* is the mean time between timeouts if each token is lost as soon as it is passed, so that a token resets the timeout of its
generator only.

The effect of γ is measured as the share of time with exactly one operation, compared with that of the paper's γ.`

func journalGeneration(l *Lab) error {
	usual, err := caseStudy(fullLoad).runs(l)
	if err != nil {
		return err
	}
	cold := caseStudy(fullLoad)
	cold.Found, cold.LossEvery, cold.length = 0, 0, runLength
	groups := uint64(l.count(coldGroups))
	first, err := Gather(l, func(seed uint64) (float64, error) { return firstGeneration(cold, seed, groups) })
	if err != nil {
		return err
	}
	blind := cold
	blind.PassLoss, blind.length = 1, l.span(blindRun)
	unseen, err := blind.runs(l)
	if err != nil {
		return err
	}
	const why = "a token resets the timeouts that it meets, so that not all members' delays run at a time."
	c := Claim{
		ID: "journal-generation", Source: "journal §2", Says: "timeouts expire every 2·Δmin = 1200 s on the average",
		Quantity: "mean time between generations", Unit: Seconds, Holds: About(1200, 0.1), Why: why,
	}
	l.Row(c, column(usual, betweenGenerations))
	c.ID, c.Reading, c.Quantity = "journal-generation/cold-start", "from a cold start", fmt.Sprintf("mean time to the first generation, of %d groups", groups)
	c.Why = "it is the mean of 200 exponential delays and varies from seed to seed."
	l.Row(c, first)
	c.ID, c.Reading, c.Quantity = "journal-generation/no-visits", "without visits", "mean time between generations"
	c.Why = "without visits every member times out once in Δmin + γ, so the group does once in (Δmin + γ)/300 = 602 s: Δmin, not 2·Δmin. Δmin passes for all members at once."
	l.Row(c, column(unseen, betweenGenerations))
	return journalGamma(l, usual)
}

// betweenGenerations is the mean time between tokens made.
func betweenGenerations(o *outcome) float64 {
	made := o.watch.made
	if len(made) < 2 {
		return math.NaN()
	}
	return made[len(made)-1].Sub(made[0]).Seconds() / float64(len(made)-1)
}

// firstGeneration is the mean time to the first token of so many groups.
func firstGeneration(s setting, seed, groups uint64) (float64, error) {
	var sum time.Duration
	for i := range groups {
		s.Seed = seed*groups + i
		w, err := circulation.New(s.Config)
		if err != nil {
			return 0, err
		}
		t := newTokenWatch()
		w.Observe(t)
		for len(t.made) == 0 && w.Err() == nil && w.Now() < clock.Instant(s.length) {
			w.Run(w.Now().Add(deltaMin))
		}
		if len(t.made) == 0 {
			return math.Inf(1), w.Err()
		}
		sum += time.Duration(t.made[0])
	}
	return sum.Seconds() / float64(groups), nil
}

// Why γ matters.
const (
	manyMade   = "the shorter γ, the more spurious tokens are made, and operations overlap."
	longMissed = "the longer γ, the longer the resource idles after the loss of a token."
)

// journalGamma varies γ.
func journalGamma(l *Lab, usual []*outcome) error {
	for _, v := range []struct {
		id, text string
		tenths   time.Duration
		why      string
	}{
		{"/tenth", "a tenth of γ", 1, manyMade}, {"", "half of γ", 5, manyMade},
		{"/double", "twice γ", 20, longMissed}, {"/tenfold", "ten times γ", 100, longMissed},
	} {
		s := caseStudy(fullLoad)
		s.Params.RegenerationMean = v.tenths * deltaMin * fullLoad / 10
		runs, err := s.runs(l)
		if err != nil {
			return err
		}
		l.Row(Claim{
			ID: "journal-gamma" + v.id, Source: "journal §2", Says: "even a very different γ changes nothing essential",
			Quantity: "share of time with 1 operation over that with the paper's γ", Reading: v.text, Unit: Number, Holds: Between(0.9, 1.1),
			Why: v.why,
		}, ratio(column(runs, exactly(1)), column(usual, exactly(1))))
	}
	return nil
}

const journalRemovalNotes = `The run of figure 2. The *return time* is from one visit of a token to the next at the same member; *operations* takes the
time between operations. "Of the order of" is read as within a factor of two. The life of a spurious token counts if the removal
rule ends it. To test whether clocks matter, each member's clock is wrong by up to 10⁵ s, the length of the run, so that the order
of timestamps is nearly random.`

func journalRemoval(l *Lab) error {
	runs, err := caseStudy(fullLoad).runs(l)
	if err != nil {
		return err
	}
	for i, m := range measures {
		id, text := "", ""
		if i == 0 {
			id, text = "/operations", "operations"
		}
		l.Row(Claim{
			ID: "journal-return-time" + id, Source: "journal §2", Says: "the return time is about 2·Δmin = 1200 s, by order of magnitude",
			Quantity: "mean of " + m.quantity, Reading: text, Unit: Seconds, Holds: Between(600, 2400),
			Why: "members that need not operate pass the token on after 0.1 s, so that it visits each about twice between operations.",
		}, column(runs, m.mean))
	}
	for _, m := range measures {
		l.Row(Claim{
			ID: "journal-average-return" + m.id, Source: "journal §3", Says: "the average return time is 4·300 = 1200 s",
			Quantity: "mean of " + m.quantity, Reading: m.text, Unit: Seconds, Holds: About(1200, 0.05),
			Why: "1200 s is the time between operations; the token passes by between them, too.",
		}, column(runs, m.mean))
	}
	l.Row(Claim{
		ID: "journal-removal-latency", Source: "journal §2", Says: "removing a spurious token takes about the return time",
		Quantity: "mean life of a spurious token that is removed", Unit: Seconds, Holds: Between(600, 2400),
		Why: "it suffices that any member has seen the spurious token before and the older one since. After some 70 hops of each there is one, long before either is back at a given member.",
	}, column(runs, func(o *outcome) float64 { return meanSeconds(o.watch.lives) }))
	l.Row(Claim{
		ID: "journal-min-interval", Source: "journal §2", Says: "no member operates within Δmin = 600 s of its last operation",
		Quantity: "shortest time from the end of an operation to the member's next", Unit: Seconds, Holds: Between(600, 606),
	}, column(runs, func(o *outcome) float64 { return (o.Operations.Min() - 4*time.Second).Seconds() }))
	return journalClocks(l, runs)
}

func journalClocks(l *Lab, right []*outcome) error {
	s := caseStudy(fullLoad)
	s.ClockOffset = l.span(wrongClocks)
	wrong, err := s.runs(l)
	if err != nil {
		return err
	}
	c := Claim{
		Source: "journal §2", Says: "timestamps could be random without side effects", Unit: Number, Holds: Between(0.9, 1.1),
		Why: "the removal rule is symmetric in the tokens, but the newer of two is removed at another rate than the older one.",
	}
	c.ID, c.Quantity = "journal-clocks-one", "share of time with 1 operation, clocks wrong over right"
	l.Row(c, ratio(column(wrong, exactly(1)), column(right, exactly(1))))
	c.ID, c.Quantity = "journal-clocks-more", "share of time with 2 operations or more, clocks wrong over right"
	l.Row(c, ratio(column(wrong, moreThan(1)), column(right, moreThan(1))))
	return nil
}
