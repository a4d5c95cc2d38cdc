package experiment

import (
	"fmt"
	"time"
)

func slidesExperiments() []Experiment {
	return []Experiment{
		{
			Name: "slides-setup", Title: "The numbers that the slides start from", Source: "slides, the case study and simulation setup",
			Cheap: true, Run: slidesSetup,
		},
		{
			Name: "slides-tokens", Title: "Number of tokens at full load", Source: "slides, results: number of tokens",
			Notes: slidesTokensNotes, Run: slidesTokens,
		},
		{
			Name: "slides-concurrency", Title: "Operations at once up to 20 % overload", Source: "slides, results: concurrency",
			Notes: slidesConcurrencyNotes, Run: slidesConcurrency,
		},
		{
			Name: "slides-interarrival", Title: "Time between operations", Source: "slides, results: interarrival time",
			Notes: slidesInterarrivalNotes, Run: slidesInterarrival,
		},
	}
}

func slidesSetup(l *Lab) error {
	const (
		stream, channel = 0.65, 200.0 // Mbps
		bits            = 8
	)
	for _, c := range []computation{
		{"slides-saturation", "200 Mbps accommodate up to 300 subscribers of 650 Kbps", "200 Mbps / 650 Kbps", Number, About(fullLoad, 0.05), channel / stream},
		{"slides-chunk", "a slot of 4 s carries 100 MB", "4 s · 200 Mbps in MB", Number, Exactly(100), 4 * channel / bits},
		{"slides-stream", "a chunk of 100 MB lasts for an access every 1200 s", "1200 s · 650 Kbps in MB", Number, About(100, 0.05), period.Seconds() * stream / bits},
		{"slides-minimum", "the least timeout is far shorter than the 1200 s between accesses", "Δmin / 1200 s", Number, Reported(), deltaMin.Seconds() / period.Seconds()},
		{"slides-burst", "bursts of two times the agreed 200 Mbps: two operations at once", "2 · 200 Mbps / 200 Mbps", Number, Exactly(2), 2 * channel / channel},
	} {
		c.row(l, "slides, case study")
	}
	l.NotMeasured("slides, case study", "a screen of 150·120 points", "a property of the use case")
	l.NotMeasured("slides, removal rule", "the 3-way token passing prevents duplicate tokens", "it is about the protocol of another paper; that of this project is examined in spec/model")
	return nil
}

// slidesThousands is a group of thousands of agents. With ten times as many
// members everything but the operation takes ten times as long.
func slidesThousands(l *Lab) error {
	const scale = 10
	s := caseStudy(fullLoad * scale)
	s.Params.MembersMax *= scale
	s.length *= scale
	c := Claim{
		ID: "slides-thousands", Source: "slides, problem and solution", Says: "scales to thousands of agents",
		Quantity: "share of time with 1 operation, 3000 members that saturate the resource, 10⁶ s, a loss every 10⁵ s", Unit: Share, Holds: Reported(),
	}
	often := s
	s.LossEvery *= scale
	runs, err := s.runs(l)
	if err != nil {
		return err
	}
	l.Row(c, column(runs, exactly(1)))
	if runs, err = often.runs(l); err != nil {
		return err
	}
	c.ID, c.Reading = "slides-thousands/same-losses", "losses as often as with 300 members"
	c.Quantity = "share of time with 1 operation, 3000 members that saturate the resource, 10⁶ s, a loss every 10⁴ s"
	l.Row(c, column(runs, exactly(1)))
	return nil
}

const slidesTokensNotes = `The group of journal-fig2; the removal rule of the slides is that of the journal paper. The largest gap is one observation of
the slides' one run; everything within a fifth of it counts. *Transients* compare the first 1200 s after a lost token was replaced
with the rest of the time in which there is a token.`

func slidesTokens(l *Lab) error {
	s := caseStudy(fullLoad)
	s.series = seriesStep
	s.settles = l.span(settleSpan)
	runs, err := s.runs(l)
	if err != nil {
		return err
	}
	l.Plot("slides-tokens", tokensPlot(fmt.Sprintf("Number of tokens, 300 members, seed %d", l.Seeds()[0]), runs[0].Series(), seriesStep))
	const source = "slides, number of tokens"
	l.Row(Claim{
		ID: "slides-largest-gap", Source: source, Says: "the largest gap without a token is 1700 s",
		Quantity: "longest time without a token", Unit: Seconds, Holds: About(1700, 0.2),
		Why: "a gap is Δmin of the members that saw the token last and an exponential delay; the longest of nine varies widely, and 1700 s lies within what single runs show.",
	}, column(runs, func(o *outcome) float64 { return longest(lengths(o.Gaps())) }))
	l.Row(Claim{
		ID: "slides-recovered", Source: source, Says: "losses, one every 10⁴ s, are recovered from",
		Quantity: "share of spans without a token that end before the next loss", Unit: Share, Holds: Exactly(1),
	}, column(runs, func(o *outcome) float64 { return recovered(o.Gaps()) }))
	l.Row(Claim{
		ID: "slides-unique", Source: source, Says: "the token is unique",
		Quantity: "share of time with exactly one token", Unit: Share, Holds: Reported(),
	}, column(runs, func(o *outcome) float64 { return o.TokensAlive(1) }))
	l.Row(Claim{
		ID: "slides-spurious", Source: source, Says: "the presence of spurious tokens is limited",
		Quantity: "share of time with more than one token", Unit: Share, Holds: Reported(),
	}, column(runs, moreTokensThan(1)))
	l.Row(Claim{
		ID: "slides-transients", Source: source, Says: "no transients after a recovery",
		Quantity: "share of time with more than one token, the 1200 s after recoveries over the rest", Unit: Number, Holds: AtMost(1.2).trend().ours(),
		Why: "when the first new token is made, nearly all members have waited longer than Δmin, so that others time out, too, before the new token has reached them.",
	}, column(runs, func(o *outcome) float64 {
		return o.watch.settling.after.share() / o.watch.settling.other.share()
	}))
	l.Row(Claim{
		ID: "slides-timeouts", Source: "slides, (re)generation rule", Says: "timeouts expire on the average more often than the access rate asks for, once in 1200 s",
		Quantity: "mean time between generations", Unit: Seconds, Holds: AtMost(1200),
		Why: "a token resets the timeouts that it meets; see journal-generation.",
	}, column(runs, betweenGenerations))
	return nil
}

func longest(spans []time.Duration) float64 {
	var most time.Duration
	for _, d := range spans {
		most = max(most, d)
	}
	return most.Seconds()
}

// The sizes that the slides speak of: below, at and above saturation.
var slidesSizes = []int{210, 300, 360}

const slidesConcurrencyNotes = `20 % overload are 360 members with the parameters of 300. 80 % is reproduced by what rounds to it. 1 % of the time is read as
at most that.`

func slidesConcurrency(l *Lab) error {
	if err := slidesThousands(l); err != nil {
		return err
	}
	curves, err := bySize(l, slidesSizes)
	if err != nil {
		return err
	}
	l.shares("slides-concurrency", curves)
	for i, n := range slidesSizes[1:] {
		runs := curves[i+1].runs
		load, id := "", ""
		if n == fullLoad {
			load, id = "full load", "/full-load"
		}
		c := Claim{Source: "slides, concurrency", Unit: Share, Reading: load}
		c.ID, c.Says, c.Quantity, c.Holds = "slides-one"+id, "even at 20 % overload exactly one operation 80 % of the time", "share of time with 1 operation", Between(0.75, 0.85)
		c.Why = "at full load the resource idles longer after losses."
		l.Row(c, column(runs, exactly(1)))
		c.ID, c.Says, c.Quantity, c.Holds = "slides-two"+id, "even at 20 % overload two operations at once less than 10 % of the time", "share of time with 2 operations", AtMost(0.1)
		c.Why = "spurious tokens live longer in an overloaded group; see journal-concurrent-360."
		l.Row(c, column(runs, exactly(2)))
		c.ID, c.Says, c.Quantity, c.Holds = "slides-three"+id, "even at 20 % overload three or more at once 1 % of the time", "share of time with 3 operations or more", AtMost(0.01)
		c.Why = "as slides-two."
		l.Row(c, column(runs, moreThan(2)))
	}
	return nil
}

const slidesInterarrivalNotes = `As in journal-fig4, the default is the time between two operations of a member, and *token visits* is the time between two
arrivals of a token.`

func slidesInterarrival(l *Lab) error {
	curves, err := bySize(l, slidesSizes)
	if err != nil {
		return err
	}
	l.Plot("slides-interarrival", spansPlot("Time between operations", "time between operations", operations, curves))
	const source = "slides, interarrival time"
	l.Row(Claim{
		ID: "slides-access-rate", Source: "slides, simulation setup", Says: "one access every 1200 s on the average",
		Quantity: "mean time between operations, 300 members", Unit: Seconds, Holds: About(1200, 0.05),
	}, column(curves[1].runs, spans(operations).mean))
	l.Row(Claim{
		ID: "slides-regular", Source: "slides, the idea", Says: "tokens come at random, but fairly regularly",
		Quantity: "95th percentile of times between operations over their median, 300 members", Unit: Number, Holds: Reported(),
	}, column(curves[1].runs, func(o *outcome) float64 {
		return spans(operations).quantile(0.95)(o) / spans(operations).quantile(0.5)(o)
	}))
	for _, m := range measures {
		below := columns(curves, m.below(period))
		for i, load := range []string{"partial", "full", "over"} {
			l.Row(Claim{
				ID: "slides-most-" + load + m.id, Source: source, Says: "most events occur before 1200 s, even at full load or overload",
				Quantity: "share of " + m.quantity + " below 1200 s, " + curves[i].name, Reading: m.text, Unit: Share, Holds: AtLeast(0.5),
			}, below[i])
		}
		tail := columns(curves, m.quantile(0.95))
		for i, load := range []string{"full", "over"} {
			l.Row(Claim{
				ID: "slides-tail-" + load + m.id, Source: source, Says: "longer tail at full load and overload",
				Quantity: "95th percentile of " + m.quantity + ", " + curves[i+1].name + " over 210", Reading: m.text, Unit: Number, Holds: AtLeast(1).trend(),
			}, ratio(tail[i+1], tail[0]))
		}
	}
	return nil
}
