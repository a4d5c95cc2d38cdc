package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/internal/whole"
)

// longLines are round trips of lines: across an ocean, by one satellite far out, by two.
var longLines = []time.Duration{200 * time.Millisecond, 600 * time.Millisecond, 1200 * time.Millisecond}

// TestLines_LongRoundTrips_TurnsGoRound: where a message takes longer than an answer is waited
// for, all members that want the resource have it in turn, under one token.
func TestLines_LongRoundTrips_TurnsGoRound(t *testing.T) {
	skipUnderRaceDetector(t)
	t.Parallel()
	for _, p := range []busyPolicy{fairTurns, lightTurns, ringTurns} {
		for i, trip := range longLines {
			for j, members := range []int{2, 5, 20} {
				if whole.Spares(i+j+1, 3) {
					continue
				}
				t.Run(fmt.Sprintf("%v/%v/%d", p, trip, members), func(t *testing.T) {
					times := turnsTimes
					times.delay = trip / 2
					b := newBusy(t, uint64(members), members, p, times)
					b.want(b.nodes, 0)
					b.runFor(time.Minute)
					b.turns = nil
					b.runFor(time.Duration(members) * 20 * time.Second)
					t.Logf("%.2f s a turn; %d at most in a row", (time.Duration(members)*20*time.Second).Seconds()/float64(len(b.turns)), b.longestRun())
					assert.LessOrEqual(t, b.longestRun(), 2)
					if p == fairTurns {
						for _, n := range b.nodes {
							mean := float64(len(b.turns)) / float64(members)
							assert.InDelta(t, mean, b.turnsOf(n), max(2, mean/10), n.name) // who answers late may be a round late
						}
					}
					assert.Equal(t, 1, b.made, "tokens made")
					assert.Zero(t, b.walk.together)
					assert.Empty(t, b.violations)
				})
			}
		}
	}
}
