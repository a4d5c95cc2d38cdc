package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/wire"
)

// TestDoubt_ReceiverDeadMeanwhile_OldTokenNotUsed: the receiver of a token loses power before
// the TRANSFER comes. Another token is made. When it is back it takes the old one, whose
// sender cannot take it back, and must not run under it.
func TestDoubt_ReceiverDeadMeanwhile_OldTokenNotUsed(t *testing.T) {
	skipUnderRaceDetector(t)
	t.Parallel()
	for _, p := range []busyPolicy{fairTurns, lightTurns, ringTurns} {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
			times := votesTimes
			b := newBusy(t, 70, 5, p, times)
			b.want(b.nodes, 0)
			b.runFor(30 * time.Second)
			armed, saw := false, b.watch
			b.watch = func(m Moment) {
				saw(m)
				if armed && m.Deed == Said && m.Message.Type() == wire.TypeTransfer {
					armed = false
					to := b.find(m.To)
					b.after(0, func() { b.lose(to, time.Minute) })
				}
			}
			for range 4 {
				armed = true
				made, turns, together := b.made, len(b.turns), b.walk.together
				b.runFor(100 * time.Second)
				require.False(t, armed, "nobody passed a token")
				t.Logf("%d turns, %d tokens made, %d times two at once", len(b.turns)-turns, b.made-made, b.walk.together-together)
			}
			assert.Positive(t, b.made-1, "a token was replaced")
			assert.Zero(t, b.walk.together, "two programs at once")
			assert.Empty(t, b.violations)
		})
	}
}
