package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/whole"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/ring"
)

// longTimes are the settings of groups whose programs take far longer than operation_time.
var longTimes = busyTimes{
	name: "long programs", operation: 2 * time.Second, hold: 5 * time.Minute, skip: 100 * time.Millisecond, gossip: 5 * time.Second,
	shortest: 4 * time.Minute, longest: 4*time.Minute + time.Second,
}

// TestRestart_LongProgram_OneToken: the daemon of a member ends and starts again while a
// program runs there for longer than all others would wait for a lost token. They hear
// that the token is in use, as before, and nobody makes another one: neither they nor the
// member itself, where somebody else wants the resource, too.
func TestRestart_LongProgram_OneToken(t *testing.T) {
	skipUnderRaceDetector(t)
	for i, alg := range []ring.Algorithm{ring.E, ring.D, ring.Q, ring.S} {
		for j, at := range [][]time.Duration{
			{time.Second}, {30 * time.Second}, {2 * time.Minute}, {3 * time.Second, 20 * time.Second, 21 * time.Second, 3 * time.Minute},
		} {
			for k, alsoHere := range []bool{false, true} {
				if whole.Spares(i+j+k, 2) {
					continue
				}
				t.Run(fmt.Sprintf("%v/%v/%v", alg, at, alsoHere), func(t *testing.T) {
					b := newBusy(t, 1, 5, busyPolicy{catalog.Ring, alg.String()}, longTimes)
					b.runFor(10 * time.Second)
					b.want(b.nodes, 0)
					restartHolder(t, b, at, alsoHere)
					b.runFor(15 * time.Minute)
					assert.Equal(t, 1, b.made, "tokens made")
					assert.Zero(t, b.walk.together, "operations that began while another one ran")
					assert.Empty(t, b.violations)
					assert.GreaterOrEqual(t, len(b.turns), 4)
				})
			}
		}
	}
}

// restartHolder restarts the daemon of the member that runs the first program, a second
// after each of these times of its run.
func restartHolder(t *testing.T, b *busy, at []time.Duration, alsoHere bool) {
	t.Helper()
	for until := b.now + time.Minute; b.holder() == nil && b.now < until; {
		b.runFor(100 * time.Millisecond)
	}
	n, began := b.holder(), b.now
	require.NotNil(t, n)
	for _, d := range at {
		b.runFor(began + d - b.now)
		require.Equal(t, n, b.holder())
		n.discard(false)
		n.end(silent)
		b.runFor(time.Second)
		n.start(false)
		n.meetSomebody()
		if alsoHere {
			b.ask(n)
		}
	}
}
