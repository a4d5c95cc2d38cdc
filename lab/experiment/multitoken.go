package experiment

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/wandertoken/wander/lab/figure"
	"github.com/wandertoken/wander/lab/gossip"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/multitoken"
	"github.com/wandertoken/wander/sim/circulation"
)

func multitokenExperiments() []Experiment {
	return []Experiment{
		{
			Name: "multitoken-setup", Title: "The numbers that the many-token experiment starts from",
			Source: "many-token paper §2.1, §2.2, §3", Cheap: true, Run: multitokenSetup,
		},
		{
			Name: "multitoken-fig1", Title: "Time between tokens at a member", Source: "many-token paper §2.1, §3, figure 1",
			Notes: multitokenNotes, Run: multitokenFig1,
		},
		{
			Name: "multitoken-fig2", Title: "Number of tokens while the group grows from 1 to 191",
			Source: "many-token paper §2.2, §3, §4, figure 2", Notes: multitokenFig2Notes, Run: multitokenFig2,
		},
		{
			Name: "multitoken-fig3", Title: "Time until everybody knows of a joining", Source: "many-token paper §2.2, §3, figure 3",
			Notes: multitokenFig3Notes, Run: multitokenFig3,
		},
		{
			Name: "multitoken-control", Title: "What is compared, and what happens to early tokens", Source: "many-token paper §2.1",
			Notes: multitokenControlNotes, Run: multitokenControl,
		},
		{
			Name: "multitoken-sizes", Title: "Other groups and other networks", Source: "many-token paper §1, §2, §3",
			Notes: multitokenSizesNotes, Run: multitokenSizes,
		},
		{
			Name: "multitoken-coldstart", Title: "Members that start together", Source: "no paper: why the default preset draws its thresholds",
			Notes: multitokenColdNotes, Cheap: true, Run: multitokenColdStart,
		},
	}
}

const multitokenNotes = `Preset *paper*: one member has a token, and 190 more join at equal distances within 30 minutes. Each joiner has a token of its own, a
contact drawn at random, and no other entry in its registry. A member enters an unknown sender of a token into its registry. *Stable* is the
time from 60 to 150 minutes. Readings:

- The paper says c = 2. Its figures come out with *three waiting places*, as if the overflow were checked before a token is added
  (default); *two places* takes the number at its word.
- The paper defines the token latency of 30 ms as how long a node keeps a token, and explains it as what a handoff takes. Here it is the
  handoff's (default), and the operation takes no time; *operates* is the other way round.
- The interval ends when a token is used (default): the text compares this time, and figure 1 must show it because of its sharp least
  value. In the other reading it ends when a token *arrives*, even if the token then waits.
- "Longer than 3 seconds" is taken at its word (default), or as *three target intervals*, 7.89 s.
- The distribution is that of the stable time (default), or of the *whole run*.

*Jittered* is the paper's preset with drawn thresholds, under the same conditions. Figures 1 and 2 have this project's presets *split*,
*t3gj* and *s3gj* beside them, also under the same conditions; [beyond.md](beyond.md) has their values. The tolerance of the mean of
1.71 s is 3 %, that of rounded numbers (50 tokens, 25 minutes) 10 %.`

// reading of the ramp, with what the document calls it.
type rampReading struct {
	id, text string
	ramp
}

func (r rampReading) claim(c Claim) Claim {
	c.ID += r.id
	c.Reading = r.text
	return c
}

func multitokenReadings(l *Lab) []rampReading {
	two, operates, jittered := paperRamp(l), paperRamp(l), paperRamp(l)
	two.places = 2
	operates.operates = true
	jittered.preset = multitoken.Jittered
	if l.sweeping() {
		return []rampReading{{"", "", paperRamp(l)}}
	}
	return []rampReading{
		{"", "", paperRamp(l)},
		{"/two-places", "two places", two},
		{"/operates", "operates", operates},
		{"/jittered", "jittered", jittered},
	}
}

func (r ramp) runs(l *Lab) ([]*ramped, error) { return Gather(l, r.run) }

func multitokenSetup(l *Lab) error {
	const source = "many-token paper §3"
	expected := gridMembers * gridLatency.Seconds() / gridTarget.Seconds()
	for _, c := range []struct {
		id, source, says, quantity string
		unit                       Unit
		holds                      Check
		value                      float64
	}{
		{"multitoken-least", source, "the least interval is t_wait/k_max = 0.88 s", "2.63 s / 3", Seconds, Between(0.875, 0.885), gridTarget.Seconds() / 3},
		{"multitoken-expected", source, "two tokens are expected", "191 · 30 ms / 2.63 s: members times latency over target", Number, About(2, 0.1), expected},
		{"multitoken-capacity", "many-token paper §2.2", "the update list holds 10", "news that a token carries at most", Number, Exactly(10), gossip.Capacity},
	} {
		l.Row(Claim{
			ID: c.id, Source: c.source, Says: c.says, Quantity: c.quantity, Unit: c.unit, Holds: c.holds, Kind: Arithmetic,
			Why: "the numbers of the paper do not fit together.",
		}, []float64{c.value})
	}
	for _, n := range []struct{ section, says, why string }{
		{"§2.1", "k_max = 3 and c = 2; §3: 30 ms, 2.63 s, 1 to 191 members within 30 of 150 minutes", "the parameters of the experiment, used here"},
		{"§2.2", "tokens are signed, and refused without a valid certificate", "the handoff's, tested there"},
		{"§2.2", "leaving is managed like joining", "the paper's prototype has none, and no number is given"},
		{"§3", "comparing the results with what is known of cover times is hard", "a remark without a number"},
		{"§3", "about 200 lines of Perl, seventeen laboratories", "about the prototype and its testbed"},
		{"§3", "the impact of signing and checking is minimal", "the result of another paper; this project's costs are in its benchmarks"},
		{"§2.1", "provably converges to the target where tokens are generated and removed with equal probability at the target", "a theorem; multitoken-balance and multitoken-target show both sides of it"},
	} {
		l.NotMeasured("many-token paper "+n.section, n.says, n.why)
	}
	return nil
}

// balanced is how many tokens were made for one that was removed.
func (r *ramped) balanced() float64 {
	return float64(r.after.Generated-r.before.Generated) / float64(r.removed())
}

// removed is how many tokens were removed in the time of stability.
func (r *ramped) removed() uint64 {
	return r.after.Dropped[policy.Overflow] - r.before.Dropped[policy.Overflow]
}

func multitokenFig1(l *Lab) error {
	var curves []rampCurve
	for _, r := range multitokenReadings(l) {
		runs, err := r.runs(l)
		if err != nil {
			return err
		}
		multitokenIntervalRows(l, r, runs)
		if r.id == "" {
			multitokenShapeRows(l, runs)
			curves = append(curves, rampCurve{"at use", mergedSpans(runs, usesOf)}, rampCurve{"at arrival", mergedSpans(runs, arrivalsOf)})
		}
		if r.id == "/jittered" {
			curves = append(curves, rampCurve{"jittered, at use", mergedSpans(runs, usesOf)})
		}
	}
	for _, r := range ownRamps(l) {
		runs, err := r.runs(l)
		if err != nil {
			return err
		}
		curves = append(curves, rampCurve{r.text + ", at use", mergedSpans(runs, usesOf)})
	}
	return multitokenFig1Files(l, curves)
}

// ownRamps are the presets that are this project's in the place of the paper's,
// for the figures; the goals about them are in beyond.md.
func ownRamps(l *Lab) (own []rampReading) {
	if l.sweeping() {
		return nil
	}
	for _, preset := range steeredPresets {
		r := paperRamp(l)
		r.preset, r.places = preset, 0
		own = append(own, rampReading{"/" + preset, preset, r})
	}
	return own
}

const beyond3s = "a mean of 1.71 s with a least value of 0.88 s and an exponential tail puts 8 % above 3 s, more when half of " +
	"the intervals are the least ones, so the published numbers exclude each other. Above three target intervals it is about 1 %, see that reading."

func multitokenIntervalRows(l *Lab, r rampReading, runs []*ramped) {
	const source = "many-token paper §3"
	l.Row(r.claim(Claim{
		ID: "multitoken-mean", Source: source, Says: "the mean interval is 1.71 s",
		Quantity: "mean time between uses of tokens at a member, stable", Unit: Seconds, Holds: About(1.71, 0.03),
		Why: "with two places more tokens are removed, and those that are left come less often. The published results need three.",
	}), column(runs, func(o *ramped) float64 { return usesOf(o).Mean().Seconds() }))
	l.Row(r.claim(Claim{
		ID: "multitoken-better", Source: "many-token paper §2.1, §3", Says: "the mean interval is better than the target of 2.63 s",
		Quantity: "mean time between uses of tokens at a member, stable", Unit: Seconds, Holds: AtMost(gridTarget.Seconds()),
		Why: "more tokens are removed than made at the target.",
	}), column(runs, func(o *ramped) float64 { return usesOf(o).Mean().Seconds() }))
	l.Row(r.claim(Claim{
		ID: "multitoken-above-3s", Source: source, Says: "intervals longer than 3 s have a probability below 1 %",
		Quantity: "share of intervals of 3 s and more", Unit: Share, Holds: AtMost(0.01), Why: beyond3s,
	}), column(runs, func(o *ramped) float64 { return usesOf(o).ShareAbove(3 * time.Second) }))
	third := r
	third.id, third.text = r.id+"/three-targets", joinReadings(r.text, "three target intervals")
	l.Row(third.claim(Claim{
		ID: "multitoken-above-3s", Source: source, Says: "intervals longer than 3 s have a probability below 1 %",
		Quantity: "share of intervals of 7.89 s and more", Unit: Share, Holds: AtMost(0.01),
		Why: "with fewer tokens more members wait for one that long.",
	}), column(runs, func(o *ramped) float64 { return usesOf(o).ShareAbove(3 * gridTarget) }))
	l.Row(r.claim(Claim{
		ID: "multitoken-balance", Source: "many-token paper §2.1, §3", Says: "in equilibrium tokens are made and removed with equal probability",
		Quantity: "tokens made over tokens removed, stable", Unit: Number, Holds: About(1, 0.02),
		Why: "the number of tokens still drifts.",
	}), column(runs, (*ramped).balanced))
}

func joinReadings(a, b string) string {
	if a == "" {
		return b
	}
	return a + ", " + b
}

// multitokenShapeRows are about the form of figure 1, and its other readings.
func multitokenShapeRows(l *Lab, runs []*ramped) {
	const source = "many-token paper §3, figure 1"
	const least = 3 // t_wait/k_max
	wave, decay := l.span(waveWidth), l.span(decayBin)
	elsewhere := map[string]string{
		"multitoken-concentrated": "many-token paper §4", "multitoken-near": "many-token paper §4", "multitoken-uniform": "many-token paper, abstract",
	}
	for _, c := range []struct {
		id, says, quantity, reading string
		unit                        Unit
		holds                       Check
		why                         string
		value                       func(*ramped) float64
	}{
		{"multitoken-peak", "the peak is at the least value, 0.88 s", "most frequent interval, in bins of 10 ms", "", Seconds, About(0.88, 0.02),
			"most tokens do not wait.", func(o *ramped) float64 { return modeOf(usesOf(o)) }},
		{"multitoken-peak/arrival", "the peak is at the least value, 0.88 s", "most frequent time between arrivals, in bins of 10 ms", "at arrival", Seconds, About(0.88, 0.02),
			"tokens also arrive together, and only then wait: figure 1 shows intervals between uses.", func(o *ramped) float64 { return modeOf(arrivalsOf(o)) }},
		{"multitoken-queued", "most tokens wait before they are used", "share of intervals that are the least possible", "", Share, AtLeast(0.5),
			"about as many tokens find a member that has waited as one that has not.", func(o *ramped) float64 { return usesOf(o).ShareBelow(gridTarget/least + usesOf(o).Width()) }},
		{"multitoken-waves", "the plot waves because tokens wait", "frequency at 2, 3, 4 and 5 times 0.88 s over that between", "", Number, AtLeast(1.2).ours(),
			"fixed thresholds keep the members in step.", func(o *ramped) float64 { return wavesOf(usesOf(o), wave) }},
		{"multitoken-exponential", "the frequency of intervals drops exponentially", "variance of its logarithm explained by a line, 1 s to 7.5 s", "", Share, AtLeast(0.9).ours(),
			"the waves are too high.", func(o *ramped) float64 { _, r := decayOf(usesOf(o), decay); return r }},
		{"multitoken-decay", "the frequency of intervals drops exponentially", "time in which it drops to 1/e", "", Seconds, Reported(),
			"", func(o *ramped) float64 { slope, _ := decayOf(usesOf(o), decay); return -1 / slope }},
		{"multitoken-concentrated", "intervals are concentrated in time", "their standard deviation over their mean; 1 is a Poisson process", "", Number, AtMost(1),
			"the tail is heavier than that of a Poisson process.", func(o *ramped) float64 { return deviationOf(usesOf(o)) }},
		{"multitoken-near", "intervals are near to the requirements", "mean interval over the target", "", Number, Reported(), "",
			func(o *ramped) float64 { return usesOf(o).Mean().Seconds() / gridTarget.Seconds() }},
		{"multitoken-mean/whole-run", "the mean interval is 1.71 s", "mean time between uses of tokens at a member", "whole run", Seconds, About(1.71, 0.03),
			"the ramp has more tokens for each member.", func(o *ramped) float64 { return o.whole.Operations.Mean().Seconds() }},
		{"multitoken-mean/arrival", "the mean interval is 1.71 s", "mean time between arrivals of tokens at a member, stable", "at arrival", Seconds, About(1.71, 0.03),
			"dropped tokens arrive, too.", func(o *ramped) float64 { return arrivalsOf(o).Mean().Seconds() }},
		{"multitoken-uniform", "all users carry the same load", "operations of the member with the fewest over the mean of all", "", Share, AtLeast(0.9).ours(),
			"a member that few know is visited less.", func(o *ramped) float64 { return evenness(o.stable.PerMember()) }},
	} {
		l.Row(Claim{
			ID: c.id, Source: cmp.Or(elsewhere[c.id], source), Says: c.says, Quantity: c.quantity, Reading: c.reading, Unit: c.unit, Holds: c.holds, Why: c.why,
		}, column(runs, c.value))
	}
}

// evenness is the least of the counts over their mean.
func evenness(counts []uint64) float64 {
	least, sum := uint64(math.MaxUint64), uint64(0)
	for _, n := range counts {
		least, sum = min(least, n), sum+n
	}
	return float64(least) * float64(len(counts)) / float64(sum)
}

// rampCurve is a named distribution.
type rampCurve struct {
	name string
	*circulation.Histogram
}

const figureBin = 100 * time.Millisecond

func multitokenFig1Files(l *Lab, curves []rampCurve) error {
	p := figure.Plot{
		Title: "Time between tokens at a member, 191 members",
		X:     figure.Axis{Label: "token interarrival time (s)", Min: 0, Max: 10},
		Y:     figure.Axis{Label: "frequency", Log: true, Min: 1e-5, Max: 1},
	}
	var rows [][]string
	for _, c := range curves {
		line := figure.Line{Name: c.name, Style: figure.Steps}
		for from := time.Duration(0); from < 10*time.Second; from += figureBin {
			share := spanShare(c.Histogram, from, from+figureBin)
			line.Points = append(line.Points, [2]float64{from.Seconds(), share})
			rows = append(rows, []string{c.name, fmt.Sprintf("%.1f", from.Seconds()), fmt.Sprintf("%.6g", share)})
		}
		p.Lines = append(p.Lines, line)
	}
	l.Plot("multitoken-fig1", p)
	l.Table("multitoken-fig1", []string{"interval", "from_s", "share"}, rows)
	return nil
}
