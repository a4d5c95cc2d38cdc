package circulation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Latency is a distribution of time spans. The zero value is always 0.
type Latency struct {
	kind      latencyKind
	a, b      time.Duration
	quantiles []time.Duration
}

type latencyKind uint8

const (
	constant latencyKind = iota
	uniform
	exponential
	measured
)

// Constant returns the Latency that is always d.
func Constant(d time.Duration) Latency { return Latency{kind: constant, a: d} }

// Uniform returns the distribution of spans from lo to hi with the same
// probability.
func Uniform(lo, hi time.Duration) Latency { return Latency{kind: uniform, a: lo, b: hi} }

// Exponential returns the exponential distribution with this mean.
func Exponential(mean time.Duration) Latency { return Latency{kind: exponential, a: mean} }

// Quantiles returns a measured distribution: the first quantile is its minimum,
// the last its maximum, and between two neighbours lies the same share of all
// spans, uniformly. The quantiles must not decrease.
func Quantiles(q []time.Duration) Latency { return Latency{kind: measured, quantiles: slices.Clone(q)} }

func (l *Latency) zero() bool { return l.kind == constant && l.a == 0 }

func (l *Latency) validate() error {
	switch {
	case l.a < 0, len(l.quantiles) > 0 && l.quantiles[0] < 0:
		return fmt.Errorf("%w: negative", ErrLatency)
	case l.kind == uniform && l.b < l.a:
		return fmt.Errorf("%w: from %v to %v", ErrLatency, l.a, l.b)
	case l.kind == measured && (len(l.quantiles) == 0 || !slices.IsSorted(l.quantiles)):
		return fmt.Errorf("%w: quantiles missing or not in order", ErrLatency)
	}
	return nil
}

// draw is a span of the distribution.
func (l *Latency) draw(rng *rand.Rand) time.Duration {
	switch l.kind {
	case uniform:
		return l.a + time.Duration(rng.Float64()*float64(l.b-l.a))
	case exponential:
		return exponentialSpan(rng, l.a)
	case measured:
		x := rng.Float64() * float64(len(l.quantiles)-1)
		i := int(x)
		if i+1 >= len(l.quantiles) {
			return l.quantiles[i]
		}
		lo, hi := l.quantiles[i], l.quantiles[i+1]
		return lo + time.Duration((x-float64(i))*float64(hi-lo))
	}
	return l.a
}

// exponentialSpan draws from the exponential distribution. It saturates at
// half the longest Duration.
func exponentialSpan(rng *rand.Rand, mean time.Duration) time.Duration {
	return time.Duration(min(rng.ExpFloat64()*float64(mean), math.MaxInt64/2))
}
