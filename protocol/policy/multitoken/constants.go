package multitoken

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/wandertoken/wander/protocol/policy"
)

// The presets, the default first.
const (
	// Split makes and drops few tokens: each measures whether there are too few
	// or too many.
	Split = "split"
	// T3gj answers fastest: silences make tokens, and an integral control decides
	// how early a token must come to be dropped.
	T3gj = "t3gj"
	// S3gj is T3gj with uses spaced by a third of the target.
	S3gj = "s3gj"
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

// derive fills in the defaults. The errors are those of newAgent.
func derive(p policy.Params) (constants, error) {
	if err := check(p); err != nil {
		return constants{}, err
	}
	if !slices.Contains([]string{"", Jittered, Paper}, p.Preset) {
		return constants{}, unknownPreset(p.Preset)
	}
	k := p.IntervalFactor.Or(factor)
	return constants{
		early:    time.Duration(float64(p.TargetInterval) / k.Float()),
		silence:  time.Duration(min(float64(p.TargetInterval)*k.Float(), float64(policy.MaxInterval))),
		skip:     p.SkipDelay,
		jittered: p.Preset != Paper,
	}, nil
}

func check(p policy.Params) error {
	if err := p.Validate(); err != nil {
		return err
	}
	if p.TargetInterval == 0 {
		return fmt.Errorf("%w: target_interval is required: how long may a member be without a token?", policy.ErrOutOfRange)
	}
	return nil
}

func unknownPreset(name string) error {
	return fmt.Errorf("%w %q, known are %s", policy.ErrPreset, name, strings.Join([]string{Split, T3gj, S3gj, Jittered, Paper}, ", "))
}

// Make makes the agent of a preset, Split where none is named: a *steered or an
// *agent. Errors: policy.ErrOutOfRange, also when target_interval is zero, and
// policy.ErrPreset.
func Make(params policy.Params, rng rand.Source) (policy.Policy, error) {
	if params.Preset == Paper || params.Preset == Jittered {
		return newAgent(params, rng)
	}
	return newSteered(params, rng)
}

// ShortestSilence is how long a member waits at least between two tokens that it
// makes.
func ShortestSilence(p policy.Params) time.Duration {
	switch p.Preset {
	case Split, "":
		return p.TargetInterval
	case T3gj:
		return of(p.TargetInterval, ruleT3gj.shortest())
	case S3gj:
		return of(p.TargetInterval, ruleS3gj.shortest())
	}
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
