package multitoken

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/policy"
)

// The presets, the default first.
const (
	// Jittered is Paper with both thresholds drawn anew after each use.
	Jittered = "jittered"
	// Paper is §2.1 as it was published.
	Paper = "paper"
)

const (
	// factor is the k_max of the paper's experiment (§2.1).
	factor policy.Ratio = 3000

	// capacity is how many early tokens wait at a member. The paper calls its
	// experiment c = 2, but its figures come out with three waiting places, as
	// when a queue overflows once it is longer than c before a token is added.
	capacity = 3

	// spread is by how many hundredths of itself a threshold of Jittered varies,
	// up and down. It puts a cold start out of step by the second round; less
	// takes longer, and more asks for tokens that come too soon or too late.
	spread = 30

	// ewmaWeight is the share of the latest interval in the moving average.
	// The paper gives none; this is that of TCP's round-trip time (RFC 6298).
	ewmaWeight = 1.0 / 8
)

// constants are what an agent computes with.
type constants struct {
	early    time.Duration // t_wait/k_max, at least 1 µs by the ranges of Params
	silence  time.Duration // k_max·t_wait
	skip     time.Duration // how long a use takes that nobody wants
	jittered bool
}

// derive fills in the defaults. The errors are those of New.
func derive(p policy.Params) (constants, error) {
	if err := p.Validate(); err != nil {
		return constants{}, err
	}
	if p.Preset != "" && !slices.Contains([]string{Jittered, Paper}, p.Preset) {
		return constants{}, fmt.Errorf("%w %q, known are %s, %s", policy.ErrPreset, p.Preset, Jittered, Paper)
	}
	if p.TargetInterval == 0 {
		return constants{}, fmt.Errorf("%w: target_interval is required: how long may a member be without a token?", policy.ErrOutOfRange)
	}
	k := p.IntervalFactor.Or(factor)
	return constants{
		early:    time.Duration(float64(p.TargetInterval) / k.Float()),
		silence:  time.Duration(min(float64(p.TargetInterval)*k.Float(), float64(policy.MaxInterval))),
		skip:     p.SkipDelay,
		jittered: p.Preset != Paper,
	}, nil
}

// ShortestSilence is for how long a member passes on no token at least before it
// makes one.
func ShortestSilence(p policy.Params) time.Duration {
	silence := p.IntervalFactor.Or(factor).Of(p.TargetInterval)
	return silence - silence/100*spread
}

// draw is a threshold for one interval: itself, or uniform around it. It is in
// integers, so that it is the same on every machine.
func (c *constants) draw(threshold time.Duration, rng *rand.Rand) time.Duration {
	if !c.jittered {
		return threshold
	}
	margin := threshold / 100 * spread
	return threshold - margin + time.Duration(rng.Int64N(int64(2*margin)+1))
}
