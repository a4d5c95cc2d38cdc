package cluster

import (
	"math/rand/v2"
	"time"
)

// dice are the random numbers of a run, but for those of the faults.
type dice struct{ rng *rand.Rand }

// random is a duration below the given one.
func (d dice) random(most time.Duration) time.Duration {
	if most <= 0 {
		return 0
	}
	return time.Duration(d.rng.Int64N(int64(most)))
}

// exponential is a duration with the given mean.
func (d dice) exponential(mean time.Duration) time.Duration { return exponential(d.rng, mean) }

// chance is true with the given probability.
func (d dice) chance(p float64) bool { return p > 0 && d.rng.Float64() < p }

func exponential(r *rand.Rand, mean time.Duration) time.Duration {
	return time.Duration(r.ExpFloat64() * float64(mean))
}
