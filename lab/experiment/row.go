package experiment

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Verdict is how a claim stands.
type Verdict string

// The verdicts.
const (
	Reproduced    Verdict = "reproduced"
	NotReproduced Verdict = "not reproduced"
	Open          Verdict = "open"     // the runs do not decide
	Measured      Verdict = "measured" // there was no number to hold against

	// Those of goals, see Experiment.Goals.
	Met    Verdict = "met"
	NotMet Verdict = "not met"
)

// decided reports whether the verdict says whether the claim holds.
func (v Verdict) decided() bool { return v != Open && v != Measured }

// Fails reports whether the measurement is against the claim or the goal.
func (v Verdict) Fails() bool { return v == NotReproduced || v == NotMet }

// Row is a claim with its measurement.
type Row struct {
	Claim
	// Samples has one value a seed, in their order, or one alone where nothing
	// is random. NaN is a run in which there was nothing to measure.
	Samples         []float64
	Median, P5, P95 float64 // over the samples that are numbers
	// Low and High enclose the median of all runs that there could be, with the
	// confidence of 95 %; a sample alone is both.
	Low, High   float64
	Verdict     Verdict
	HoldsIn, Of int // samples that hold alone, of all that are numbers
	// Tolerance has the verdicts that the same samples give with half the
	// tolerance and with twice, where they differ from Verdict.
	Tolerance []Change
}

// Unexplained stands where a claim does not hold and has no Why, as may happen
// with few seeds.
const Unexplained = "no reason is known."

// ofGoal is the same verdict about a goal.
func (v Verdict) ofGoal() Verdict {
	switch v {
	case Reproduced:
		return Met
	case NotReproduced:
		return NotMet
	}
	return v
}

// newRow judges the samples of a claim. The claim is reproduced where the whole
// confidence interval of the median satisfies it, not reproduced where no part
// of the interval does, and open otherwise.
func newRow(c Claim, samples []float64) Row {
	c.Kind = kindOf(&c)
	r := Row{Claim: c, Samples: slices.Clone(samples)}
	valid := slices.DeleteFunc(slices.Clone(samples), math.IsNaN)
	slices.Sort(valid)
	r.Median, r.P5, r.P95 = quantile(valid, 0.5), quantile(valid, 0.05), quantile(valid, 0.95)
	r.Low, r.High = medianInterval(valid)
	if len(samples) == 1 || len(valid) == 0 {
		r.Low, r.High = r.Median, r.Median
	}
	r.Of = len(valid)
	for _, v := range valid {
		if c.Holds.Holds(v) {
			r.HoldsIn++
		}
	}
	r.Verdict = c.Holds.verdict(r.Low, r.High)
	if r.Verdict == NotReproduced {
		r.Why = cmp.Or(r.Why, Unexplained)
	}
	r.Tolerance = toleranceChanges(c.Holds, r.Low, r.High)
	return r
}

// quantile interpolates between the two nearest of the sorted values; the
// median of an even number is the mean of the middle two. NaN of nothing.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	if sorted[low] == sorted[high] { // also where both are infinite
		return sorted[low]
	}
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}

// MeasuredText is the median with its confidence interval, and the range that
// nine tenths of the seeds fall in: "9.08 % (8.6 to 9.5) [6.9..11.2]". Of few
// seeds it has no interval; of few seeds with a value the interval is unbounded.
func (r *Row) MeasuredText() string {
	text := r.Unit.Text(r.Median)
	if len(r.Samples) > 1 {
		if medianRank(len(r.Samples)) > 0 {
			text += fmt.Sprintf(" (%s to %s)", r.Unit.bare(r.Low), r.Unit.bare(r.High))
		}
		text += fmt.Sprintf(" [%s..%s]", r.Unit.bare(r.P5), r.Unit.bare(r.P95))
	}
	if r.Of < len(r.Samples) {
		text += fmt.Sprintf(" in %d of %d runs", r.Of, len(r.Samples))
	}
	return text
}

// VerdictText is the verdict with the seeds in which the claim holds alone.
func (r *Row) VerdictText() string {
	if r.Verdict == Measured || len(r.Samples) == 1 {
		return string(r.Verdict)
	}
	return fmt.Sprintf("%s (%d of %d)", r.Verdict, r.HoldsIn, r.Of)
}
