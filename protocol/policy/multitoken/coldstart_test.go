package multitoken

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
)

// after runs a world for some target intervals and observes it for ten more.
func (w *world) after(intervals int, target time.Duration) {
	w.run(clock.Instant(intervals) * clock.Instant(target))
	w.forget()
	w.run(clock.Instant(intervals+10) * clock.Instant(target))
}

// TestColdStart_Synchronised_Settles: a hundred members begin at one instant, without a
// token, with t_wait = 60 s and 30 ms for a handoff. With the paper's fixed
// thresholds they operate together at multiples of t_wait/k_max, still after
// three hundred target intervals; with drawn ones they are spread out by the
// tenth.
func TestColdStart_Synchronised_Settles(t *testing.T) {
	const members, target = 100, time.Minute
	params := policy.Params{
		OperationTime: time.Second, MembersMax: members, SkipDelay: 100 * time.Millisecond, TargetInterval: target,
	}
	for _, c := range []struct {
		preset     string
		intervals  int
		low, high  float64 // how much in step: 1 is together
		crowdLeast int     // operations that begin within a hundredth of the target interval
		crowdMost  int
	}{
		{Paper, 0, 0.99, 1, members, members},
		{Paper, 300, 0.99, 1, members / 3, members},
		{Jittered, 0, 0, 0.25, 1, members / 3}, // each token runs through members that never had one
		{Jittered, 10, 0, 0.25, 1, members / 5},
		{Jittered, 300, 0, 0.25, 1, members / 5},
		// one token comes to twenty members in a hundredth of the target
		{T3gj, 10, 0, 0.25, 1, members * 2 / 3},
		{S3gj, 10, 0, 0.25, 1, members * 2 / 3},
		{Split, 20, 0, 0.25, 1, members * 2 / 3},
	} {
		params.Preset = c.preset
		w := newWorld(t, 1, members, params)
		w.after(c.intervals, target)
		step, crowd := w.step(target/3), w.crowd(target/100)
		t.Logf("%s after %d target intervals: in step by %.3f, %d of %d operations together",
			c.preset, c.intervals, step, crowd, len(w.uses))
		assert.GreaterOrEqual(t, step, c.low, "%s, %d", c.preset, c.intervals)
		assert.LessOrEqual(t, step, c.high, "%s, %d", c.preset, c.intervals)
		assert.GreaterOrEqual(t, crowd, c.crowdLeast, "%s, %d", c.preset, c.intervals)
		assert.LessOrEqual(t, crowd, c.crowdMost, "%s, %d", c.preset, c.intervals)
	}
}

// TestEquilibrium: the paper's constants (§3) with the queue_capacity that its
// figures come out with, and with its c = 2. As many tokens are made as are
// dropped, and there is no drift.
func TestEquilibrium(t *testing.T) {
	params := policy.Params{
		OperationTime: time.Millisecond, MembersMax: 191, SkipDelay: time.Millisecond,
		TargetInterval: 2630 * time.Millisecond,
	}
	for _, c := range []struct {
		preset       string
		capacity     int
		mean         float64 // s
		tokens, most int
	}{
		{Paper, 3, 1.72, 35, 65},
		{Paper, 2, 2.00, 20, 42},
		{Jittered, 3, 1.65, 35, 70},
	} {
		params.Preset, params.QueueCapacity = c.preset, c.capacity
		w := newWorld(t, 1, 191, params)
		w.run(clock.Instant(4 * time.Minute))
		before := w.alive
		w.forget()
		w.run(clock.Instant(9 * time.Minute))
		t.Logf("%s, %d places: mean interval %v, %d tokens, made %d, dropped %d, above 3·t_wait %.2f %%", c.preset, c.capacity,
			w.meanInterval(), w.alive, w.generated, w.dropped, 100*w.shareAbove(7889*time.Millisecond))
		assert.InDelta(t, c.mean, w.meanInterval().Seconds(), 0.05)
		assert.GreaterOrEqual(t, w.alive, c.tokens)
		assert.LessOrEqual(t, w.alive, c.most)
		assert.Equal(t, w.alive-before, w.generated-w.dropped)
		assert.InEpsilon(t, w.generated, w.dropped, 0.1)
	}
}

// TestColdStart_NoJitterNoIntegral_Oscillates: without both, members that begin together
// make their tokens together without end, and each of these comes at once to one
// that has just used its own, and is dropped. With either they do not.
func TestColdStart_NoJitterNoIntegral_Oscillates(t *testing.T) {
	const members, target = 100, time.Minute
	params := policy.Params{
		Preset: T3gj, OperationTime: time.Millisecond, MembersMax: members, SkipDelay: time.Millisecond, TargetInterval: target,
	}
	for _, c := range []struct {
		gain, jitter float64
		low, high    float64
	}{{0, 0, 0.99, 1}, {ruleT3gj.gain, ruleT3gj.jitter, 0, 0.3}, {0, ruleT3gj.jitter, 0, 0.3}} {
		w := newWorld(t, 1, members, params)
		for _, a := range w.agents {
			rule := ruleT3gj
			rule.gain, rule.jitter = c.gain, c.jitter
			a.(*steered).law = newIntegral(rule)
		}
		w.after(30, target)
		step := w.step(3 * target) // that of silences
		t.Logf("gain %v, jitter %v: in step by %.3f, %d uses", c.gain, c.jitter, step, len(w.uses))
		assert.GreaterOrEqual(t, step, c.low)
		assert.LessOrEqual(t, step, c.high)
	}
}
