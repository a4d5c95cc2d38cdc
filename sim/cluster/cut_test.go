package cluster

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/ident"
)

func TestTimes_Constants_TheTransports(t *testing.T) {
	assert.Equal(t, transport.DefaultSilence, silence)
	assert.Equal(t, transport.DefaultIdleTimeout, idleTimeout)
}

// connected counts the connections between members on two sides of a line.
func (c *cluster) connected(x *cut) int { return len(c.nodes.across(x)) }

// inDoubt is how many transfers wait for their answer.
func (c *cluster) inDoubt() (n int) {
	for _, o := range c.nodes {
		n += o.member.Status().InDoubt
	}
	return n
}

// goers are those who get a token within half a minute.
func (c *cluster) goers() map[ident.Member]bool {
	before, list := c.takers(), make(map[ident.Member]bool)
	c.runFor(30 * time.Second)
	for id, taken := range c.takers() {
		if taken > before[id] {
			list[id] = true
		}
	}
	return list
}

// TestCut_Heals_GroupWhole: nothing gets across a cut. Who is on the token's side goes on,
// unless the token is in transit across it. Afterwards everybody takes part again.
func TestCut_Heals_GroupWhole(t *testing.T) {
	skipUnderRaceDetector(t)
	c := calmly(t, 1, make([]memberSetting, 6)...)
	c.runFor(30 * time.Second)
	require.Empty(t, c.nodes.unknown())
	seen := make(map[int]bool) // how many went on
	for try := 0; try < 10 && !seen[3]; try++ {
		x := c.separate(c.nodes[:3], silence)
		require.Positive(t, c.connected(x))
		c.runFor(silence - time.Second)
		assert.Positive(t, c.connected(x), "nobody knows yet")
		c.runFor(2*time.Second + c.net.notice)
		assert.Zero(t, c.connected(x))

		going := c.goers()
		assert.Zero(t, c.connected(x), "no dial gets across")
		seen[len(going)] = true
		if len(going) == 0 {
			assert.Positive(t, c.inDoubt())
		} else {
			require.Len(t, going, 3)
			assert.Equal(t, going[c.nodes[0].id], going[c.nodes[1].id])
			assert.Equal(t, going[c.nodes[0].id], going[c.nodes[2].id])
		}
		c.heal(x)
		c.runFor(time.Minute)
		assert.Len(t, c.goers(), 6)
	}
	assert.True(t, seen[3], "in some case the token was on one side")
	assert.Empty(t, c.violations)
}

// TestCut_Short_NoConnectionBroken: what is sent meanwhile is lost, no more.
func TestCut_Short_NoConnectionBroken(t *testing.T) {
	c := calmly(t, 1, make([]memberSetting, 4)...)
	c.runFor(30 * time.Second)
	broken := c.count.broken
	x := c.separate(c.nodes.half(c.rng), silence)
	c.runFor(silence - time.Second)
	c.heal(x)
	c.runFor(time.Minute)
	assert.Equal(t, broken, c.count.broken)
	assert.Positive(t, c.count.lost)
}

// thinks reports whether all members on one side think so of all on another.
func (c *cluster) thinks(some, others []*node, want error) bool {
	for _, n := range some {
		for _, o := range others {
			if n != o && !errors.Is(n.member.Eligible(o.id), want) {
				return false
			}
		}
	}
	return true
}

// TestCut_HalvesFailEachOther_Recover: whoever was thought dead says that
// it lives as soon as it hears of it, and is taken for living again.
func TestCut_HalvesFailEachOther_Recover(t *testing.T) {
	skipUnderRaceDetector(t)
	c := calmly(t, 1, make([]memberSetting, 8)...)
	c.runFor(30 * time.Second)
	require.True(t, c.thinks(c.nodes, c.nodes, nil))
	half, rest := c.nodes[:4], c.nodes[4:]
	x := c.separate(half, silence)
	c.runFor(time.Minute)
	assert.True(t, c.thinks(half, half, nil) && c.thinks(rest, rest, nil))
	assert.True(t, c.thinks(half, rest, directory.ErrFailed) && c.thinks(rest, half, directory.ErrFailed))
	c.heal(x)
	c.runFor(time.Minute)
	assert.True(t, c.thinks(c.nodes, c.nodes, nil))
	before := c.takers()
	c.runFor(time.Minute)
	for id, taken := range c.takers() {
		assert.Greater(t, taken, before[id], id)
	}
	assert.Empty(t, c.violations)
}
