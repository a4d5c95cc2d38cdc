package experiment

import (
	"math"
	"time"

	"github.com/wandertoken/wander/sim/circulation"
)

func usesOf(o *ramped) *circulation.Histogram     { return o.stable.Operations }
func arrivalsOf(o *ramped) *circulation.Histogram { return o.stable.Visits }

// mergedSpans is one histogram of all runs.
func mergedSpans(runs []*ramped, of func(*ramped) *circulation.Histogram) *circulation.Histogram {
	all := circulation.NewHistogram(of(runs[0]).Width(), gridLimit)
	for _, r := range runs {
		_ = all.Merge(of(r)) // they have one shape
	}
	return all
}

// spanShare is the share of the spans from a, included, to b.
func spanShare(h *circulation.Histogram, a, b time.Duration) float64 {
	return h.ShareBelow(b) - h.ShareBelow(a)
}

// modeOf is the middle of the fullest bin, in seconds.
func modeOf(h *circulation.Histogram) float64 {
	fullest := 0
	for i, n := range h.Bins() {
		if n > h.Bins()[fullest] {
			fullest = i
		}
	}
	return (float64(fullest) + 0.5) * h.Width().Seconds()
}

// deviationOf is the standard deviation over the mean, from the bins.
func deviationOf(h *circulation.Histogram) float64 {
	var sum, squares, n float64
	for i, count := range h.Bins() {
		x := (float64(i) + 0.5) * h.Width().Seconds()
		n += float64(count)
		sum += x * float64(count)
		squares += x * x * float64(count)
	}
	mean := sum / n
	return math.Sqrt(squares/n-mean*mean) / mean
}

// wavesOf is by what factor intervals around a multiple of t_wait/k_max are more
// frequent than those half of it before and after. It is the geometric mean
// over the 2nd to the 5th multiple, each of this width; the exponential decline cancels out.
func wavesOf(h *circulation.Histogram, width time.Duration) float64 {
	const least = gridTarget / 3
	around := func(at time.Duration) float64 {
		return math.Log(spanShare(h, (at - width/2).Round(h.Width()), (at + width/2).Round(h.Width())))
	}
	sum := 0.0
	for n := 2; n <= 5; n++ {
		at := time.Duration(n) * least
		sum += around(at) - (around(at-least/2)+around(at+least/2))/2
	}
	return math.Exp(sum / 4)
}

// decayOf fits the logarithm of the frequencies from 1 s to 7.5 s, in bins, with a line:
// its slope in 1/s, and which part of the variance it explains.
func decayOf(h *circulation.Histogram, bin time.Duration) (slope, explained float64) {
	var points [][2]float64
	for from := time.Second; from < 7500*time.Millisecond; from += bin {
		points = append(points, [2]float64{from.Seconds(), math.Log(spanShare(h, from, from+bin))})
	}
	return fitLine(points)
}
