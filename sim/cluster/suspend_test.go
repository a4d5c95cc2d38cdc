package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// holder is who runs a program now, or nil.
func (c *cluster) holder() *node {
	for _, p := range c.running {
		return p.node
	}
	return nil
}

// TestProgram_Suspended_DeadBeforeTheTokenGoes: a machine sleeps over the deadline
// of a grant. When it wakes up, the program runs on until its killer has woken up,
// too; until then the member keeps the token, which others wait for.
func TestProgram_Suspended_DeadBeforeTheTokenGoes(t *testing.T) {
	skipUnderRaceDetector(t)
	slept := 0
	for try := range 20 {
		c := calmly(t, 1, make([]memberSetting, 3)...)
		c.net.delay, c.net.jitter = 100*time.Microsecond, 0
		c.runFor(30*time.Second + time.Duration(try)*100*time.Millisecond)
		for range 2 {
			for _, n := range c.nodes {
				n.demand("r", time.Second)
			}
		}
		for until := c.now + 10*time.Second; c.holder() == nil && c.now < until; {
			c.runFor(time.Millisecond)
		}
		n := c.holder()
		require.NotNil(t, n)
		c.suspend(n, 3*time.Second)
		c.runFor(10 * time.Second)
		assert.Empty(t, c.violations)
		if n.wokeAt > 0 {
			slept++
		}
	}
	assert.Equal(t, 20, slept)
}
