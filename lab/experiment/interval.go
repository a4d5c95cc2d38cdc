package experiment

import "math"

// confidence is how probably the interval of a median contains the median of
// all runs that there could be: at least so.
const confidence = 0.95

// MinSeeds is how many seeds give the median a confidence interval: with fewer, no
// claim that chance has a part in is decided.
const MinSeeds = 6

// medianRank is the largest rank r, counted from 1, for which the r-th smallest
// and the r-th largest of n independent samples enclose the median of their
// distribution with the confidence, whatever the distribution is: the number of
// samples below the median is binomial with probability 1/2, and the interval
// misses the median where fewer than r are below it, or above it. 0 is no rank:
// the interval of fewer than MinSeeds samples is without bounds.
func medianRank(n int) int {
	rank, tail := 0, 0.0
	for k := range n {
		if tail += halves(n, k); 2*tail > 1-confidence {
			break
		}
		rank = k + 1
	}
	return rank
}

// halves is the probability that k of n tosses of a fair coin show heads.
func halves(n, k int) float64 {
	all, _ := math.Lgamma(float64(n + 1))
	heads, _ := math.Lgamma(float64(k + 1))
	tails, _ := math.Lgamma(float64(n - k + 1))
	return math.Exp(all - heads - tails - float64(n)*math.Ln2)
}

// medianInterval is the confidence interval of the median of the sorted samples.
func medianInterval(sorted []float64) (low, high float64) {
	rank := medianRank(len(sorted))
	if rank == 0 {
		return math.Inf(-1), math.Inf(1)
	}
	return sorted[rank-1], sorted[len(sorted)-rank]
}
