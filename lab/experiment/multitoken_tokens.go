package experiment

import (
	"fmt"
	"math"
	"time"

	"github.com/wandertoken/wander/lab/figure"
	"github.com/wandertoken/wander/protocol/policy"
)

const multitokenFig2Notes = `The runs and readings of multitoken-fig1. The number of tokens is sampled every second. A token's *life* is the mean number of
tokens over the rate at which they are removed (Little's law). *Settled* is the time after the ramp from which the mean of a minute stays
within a fifth of the stable mean.`

func multitokenFig2(l *Lab) error {
	p := figure.Plot{
		Title: "Number of tokens, 1 to 191 members in 30 minutes",
		X:     figure.Axis{Label: "time (min)", Min: 0, Max: gridEnd.Minutes()},
		Y:     figure.Axis{Label: "number of tokens", Min: 0, Max: 100}, // room for the legend
	}
	var names []string
	var means [][]float64
	for _, r := range multitokenReadings(l) {
		runs, err := r.runs(l)
		if err != nil {
			return err
		}
		multitokenCountRows(l, r, runs)
		name := "three places"
		if r.id == "" {
			multitokenGrowthRows(l, runs)
			p.Lines = append(p.Lines, figure.Line{Name: "three places, seed " + fmt.Sprint(l.Seeds()[0]), Points: byMinutes(secondsOf(runs[0]))})
		} else {
			name = r.text
		}
		names, means = append(names, name), append(means, meanSeries(runs))
		if r.operates { // falls together with the default
			continue
		}
		p.Lines = append(p.Lines, figure.Line{Name: name + ", mean of runs", Points: byMinutes(means[len(means)-1])})
	}
	for _, r := range ownRamps(l) {
		runs, err := r.runs(l)
		if err != nil {
			return err
		}
		names, means = append(names, r.text), append(means, meanSeries(runs))
		p.Lines = append(p.Lines, figure.Line{Name: r.text + ", mean of runs", Points: byMinutes(means[len(means)-1])})
	}
	l.Plot("multitoken-fig2", p)
	l.Table("multitoken-fig2", append([]string{"time_s"}, names...), tokenRows(means))
	return nil
}

// secondsOf is the series of one run.
func secondsOf(o *ramped) []float64 {
	series := make([]float64, len(o.series))
	for i, n := range o.series {
		series[i] = float64(n)
	}
	return series
}

// meanSeries is the mean over the runs, second by second.
func meanSeries(runs []*ramped) []float64 {
	mean := make([]float64, len(runs[0].series))
	for _, r := range runs {
		for i := range min(len(mean), len(r.series)) {
			mean[i] += float64(r.series[i]) / float64(len(runs))
		}
	}
	return mean
}

// seriesStride is how many seconds lie between two points that are drawn.
const seriesStride = 10

func byMinutes(series []float64) (points [][2]float64) {
	for i := 0; i < len(series); i += seriesStride {
		points = append(points, [2]float64{float64(i) / 60, series[i]})
	}
	return points
}

func tokenRows(means [][]float64) (rows [][]string) {
	for i := 0; i < len(means[0]); i += seriesStride {
		row := []string{fmt.Sprint(i)}
		for _, m := range means {
			if i < len(m) {
				row = append(row, fmt.Sprintf("%.2f", m[i]))
			} else {
				row = append(row, "")
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// multitokenCountRows are about how many tokens there are.
func multitokenCountRows(l *Lab, r rampReading, runs []*ramped) {
	stable := func(o *ramped) float64 { return o.tokens(o.from, gridEnd) }
	l.Row(r.claim(Claim{
		ID: "multitoken-tokens", Source: "many-token paper §3, figure 2", Says: "the number of tokens stabilises at about 50",
		Quantity: "mean number of tokens, stable", Unit: Number, Holds: About(50, 0.1),
		Why: "with one place less at each member fewer tokens wait.",
	}), column(runs, stable))
	l.Row(r.claim(Claim{
		ID: "multitoken-more", Source: "many-token paper §3", Says: "significantly more tokens than the two expected",
		Quantity: "mean number of tokens, stable", Unit: Number, Holds: AtLeast(4).ours(),
		Why: "no token waits.",
	}), column(runs, stable))
	l.Row(r.claim(Claim{
		ID: "multitoken-slope", Source: "many-token paper §3, figure 2", Says: "while the group grows, the number of tokens grows along a line",
		Quantity: "variance of the number of tokens explained by a line, first 30 minutes", Unit: Share, Holds: AtLeast(0.9).ours(),
		Why: "chance moves so few tokens too much.",
	}), column(runs, func(o *ramped) float64 { _, explained := o.slope(); return explained }))
	l.Row(r.claim(Claim{
		ID: "multitoken-life", Source: "many-token paper §4", Says: "tokens are short lived",
		Quantity: "mean life of a token, stable", Unit: Seconds, Holds: Reported(),
	}), column(runs, (*ramped).life))
}

// multitokenGrowthRows are about how the number of tokens follows the members.
func multitokenGrowthRows(l *Lab, runs []*ramped) {
	lastSpan := l.span(lastTokens)
	for _, c := range []struct {
		id, source, says, quantity string
		unit                       Unit
		holds                      Check
		why                        string
		value                      func(*ramped) float64
	}{
		{"multitoken-per-member", "§2, §4, figure 2", "there are as many more tokens as there are more members",
			"tokens that a member adds during the ramp, over tokens for each member afterwards", Number, About(1, 0.15),
			"small groups need another number of tokens for each member.",
			func(o *ramped) float64 {
				perMember, _ := o.slope()
				return perMember * float64(gridMembers) / o.tokens(o.from, gridEnd)
			}},
		{"multitoken-response", "§4", "changes of the size are answered fast", "settled, after the last joining", Seconds, Reported(),
			"", func(o *ramped) float64 { return o.settled() }},
		{"multitoken-stays", "§3, figure 2", "the number of tokens stabilises", fmt.Sprintf("mean of the last %s over that of minutes 30 to 60", lastTokens.text(lastSpan.Seconds())), Number, About(1, 0.1),
			"it drifts.", func(o *ramped) float64 {
				return o.tokens(gridEnd-lastSpan, gridEnd) / o.tokens(gridRamp, 2*gridRamp)
			}},
		{"multitoken-joiners-tokens", "§2.2", "a joiner's token makes another one go",
			"tokens removed during the ramp over tokens made", Share, AtLeast(0.5).ours(),
			"the group needs most of the tokens that its new members bring.", func(o *ramped) float64 {
				return float64(o.grown.Dropped[policy.Overflow]) / float64(o.grown.Generated)
			}},
		{"multitoken-removal", "§2.1, §3", "tokens are removed as probably as made", "tokens removed over uses of tokens, stable", Share, Reported(), "",
			func(o *ramped) float64 { return float64(o.removed()) / float64(o.after.Operations-o.before.Operations) }},
		{"multitoken-hops", "§4", "tokens are short lived", "hops in a mean life", Number, Reported(), "",
			func(o *ramped) float64 { return float64(o.after.Hops-o.before.Hops) / float64(o.removed()) }},
	} {
		l.Row(Claim{
			ID: c.id, Source: "many-token paper " + c.source, Says: c.says, Quantity: c.quantity, Unit: c.unit, Holds: c.holds, Why: c.why,
		}, column(runs, c.value))
	}
}

// settled is how long after the ramp the mean of a minute stays within a fifth
// of the stable mean for good, before the time that is called stable; in
// seconds.
func (r *ramped) settled() float64 {
	stable := r.tokens(r.from, gridEnd)
	at := r.from
	for ; at > gridRamp; at -= time.Second {
		if math.Abs(r.tokens(at-time.Second, at-time.Second+time.Minute)-stable) > stable/5 {
			break
		}
	}
	return (at - gridRamp).Seconds()
}
