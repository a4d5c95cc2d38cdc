package cluster

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/sim/plan"
)

// handoffGap is what passes from the end of a program to the start of the next one
// at another member.
type handoffGap struct{ ran, gap time.Duration }

// handoffGaps lets two members that always want to run pass a token over a network
// with this delay, and looks so often what they do.
func handoffGaps(t *testing.T, delay, look time.Duration, preOffer bool) (gaps []handoffGap) {
	c := calmly(t, 1, make([]memberSetting, 2)...)
	c.net.delay, c.net.jitter, c.syncTime = delay, 0, 0
	for _, n := range c.nodes {
		n.stop()
	}
	c.noPreOffer = !preOffer
	for _, n := range c.nodes {
		n.start(false)
		n.meetSomebody()
	}
	c.runFor(30 * time.Second)
	var last *node
	var began, ended time.Duration
	for end := c.now + 3*time.Minute; c.now < end; {
		if c.now%time.Second < look {
			for _, n := range c.nodes {
				n.demand("r", time.Second)
			}
		}
		c.runFor(look)
		switch n := c.holder(); {
		case n == last:
		case n == nil:
			ended = c.now
		case last == nil && ended > 0:
			gaps = append(gaps, handoffGap{ended - began, c.now - ended})
			fallthrough
		default:
			began = c.now
		}
		last = c.holder()
	}
	assert.Empty(t, c.violations)
	return gaps
}

// Whole members take as many ways over the network for a handoff as wander plan
// says: OFFER and ACCEPT go while the program runs, what is left of them when it
// ends is waited for, and then TRANSFER goes.
func TestHandoff_WaysOverTheNetwork_AsPlanned(t *testing.T) {
	skipUnderRaceDetector(t)
	const way, look = 100 * time.Millisecond, time.Millisecond
	for name, preOffer := range map[string]bool{"pre-offered": true, "not": false} {
		t.Run(name, func(t *testing.T) {
			gaps := handoffGaps(t, way, look, preOffer)
			require.Greater(t, len(gaps), 50)
			var off []time.Duration
			short := 0
			for _, g := range gaps {
				reserve := plan.WaysToReserve * way
				if preOffer {
					reserve = max(0, reserve-g.ran)
				}
				if g.ran < plan.WaysToReserve*way {
					short++
				}
				off = append(off, (g.gap - reserve - plan.WaysToTransfer*way).Abs())
			}
			slices.Sort(off)
			assert.Positive(t, short, "programs that end before ACCEPT is there")
			assert.LessOrEqual(t, off[len(off)*8/10], 2*look, "but for programs whose end nobody reports")
		})
	}
}
