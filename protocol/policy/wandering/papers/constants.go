package papers

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/wandertoken/wander/protocol/policy"
)

// MinInterval is Δmin = Δop·Nmax/2 (line 2): half the period at which
// membersMax members that each run an operation of operationTime saturate the
// resource. The result is exact for what policy.Params.Validate accepts.
func MinInterval(operationTime time.Duration, membersMax int) time.Duration {
	return operationTime * time.Duration(membersMax) / 2
}

// RegenerationMean is γ = Δmin·Nmax (line 3), in nanoseconds: all members
// together then generate every Δmin on average once they have been without a
// token for Δmin. It is a float64 because it grows with the square of
// membersMax: at a million members and 4 s it is beyond what a Duration holds.
func RegenerationMean(minInterval time.Duration, membersMax int) float64 {
	return float64(minInterval) * float64(membersMax)
}

// constants are the spans an agent computes with.
type constants struct {
	min              time.Duration // Δmin
	skip             time.Duration // Δskip
	regenerationMean float64       // γ, ns; the journal paper's
}

// derive fills in what p leaves to the paper's formulae.
func derive(p policy.Params) constants {
	c := constants{min: p.MinInterval, skip: p.SkipDelay, regenerationMean: float64(p.RegenerationMean)}
	derived := MinInterval(p.OperationTime, p.MembersMax)
	if c.min == 0 {
		c.min = derived
	}
	// How long a token stays away does not depend on how often its members
	// permit themselves to operate: a shorter min_interval must not make them
	// generate sooner.
	if c.regenerationMean == 0 {
		c.regenerationMean = RegenerationMean(max(c.min, derived), p.MembersMax)
	}
	return c
}

// timeout draws Δmin + poisson(γ) (line 8). It is longer than Δmin, so that
// Δmin has always passed for who generates, and saturates at the longest
// Duration.
func (c *constants) timeout(rng *rand.Rand) time.Duration {
	delay := rng.ExpFloat64() * c.regenerationMean
	if delay > math.MaxInt64/2 { // then adding Δmin, at most policy.MaxInterval, could overflow
		return math.MaxInt64
	}
	return c.min + time.Duration(delay) + 1
}
