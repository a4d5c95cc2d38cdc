package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/transport"
)

func TestTimesAreTheTransports(t *testing.T) {
	assert.Equal(t, transport.MaxSilence, silence)
	assert.Equal(t, transport.DefaultIdleTimeout, idleTimeout)
}

// connected counts the connections between members on two sides of a line.
func (c *cluster) connected(x *cut) int { return len(c.across(x)) }

// TestCutHeals: nothing gets across a cut; who is on the token's side goes on;
// afterwards everybody takes part again.
func TestCutHeals(t *testing.T) {
	c := calmly(t, 1, make([]memberSetting, 6)...)
	c.runFor(30 * time.Second)
	require.Empty(t, c.unknown())
	x := c.separate(c.nodes[:3], silence)
	require.Positive(t, c.connected(x))
	c.runFor(silence - time.Second)
	assert.Positive(t, c.connected(x), "nobody knows yet")
	c.runFor(2*time.Second + c.net.notice)
	assert.Zero(t, c.connected(x))

	before := c.takers()
	c.runFor(time.Minute)
	assert.Zero(t, c.connected(x), "no dial gets across")
	var going, waiting int
	for id, taken := range c.takers() {
		if taken > before[id] {
			going++
		} else {
			waiting++
		}
	}
	assert.Equal(t, 3, going)
	assert.Equal(t, 3, waiting)

	c.heal(x)
	before = c.takers()
	c.runFor(3 * time.Minute)
	for id, taken := range c.takers() {
		assert.Greater(t, taken, before[id], id)
	}
	assert.Empty(t, c.problems)
}

// TestShortCutBreaksNoConnection: what is sent meanwhile is lost, no more.
func TestShortCutBreaksNoConnection(t *testing.T) {
	c := calmly(t, 1, make([]memberSetting, 4)...)
	c.runFor(30 * time.Second)
	broken := c.count.broken
	x := c.separate(c.half(), silence)
	c.runFor(silence - time.Second)
	c.heal(x)
	c.runFor(time.Minute)
	assert.Equal(t, broken, c.count.broken)
	assert.Positive(t, c.count.lost)
}
