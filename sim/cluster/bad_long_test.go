package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/journal"
)

// longProgramTimes are those of a group whose programs take nearly as long as they may: two of them in one custody are
// longer than a holder may keep a token.
var longProgramTimes = busyTimes{
	name: "long", operation: 20 * time.Second, hold: 20 * time.Second, interval: 500 * time.Millisecond,
	skip: 100 * time.Millisecond, gossip: 5 * time.Second, shortest: 19 * time.Second, longest: 19*time.Second + time.Millisecond,
}

// longProgramKinds are kinds beside which passes come back, or tokens are lost.
var longProgramKinds = []string{"ignorer", "refuser", "decliner", "hoarder", "dropper"}

// TestBad_LongPrograms_HonestBlameless: beside one bad member, no honest member strikes or bars another one, where each
// program takes nearly max_hold. The long form has several groups of each:
//
//	go test ./sim/cluster -run TestBad_LongPrograms -cluster.bad -v
func TestBad_LongPrograms_HonestBlameless(t *testing.T) {
	skipUnderRaceDetector(t)
	sizes, seeds, span := []int{5}, []uint64{4}, 10*time.Minute
	if *badCosts {
		sizes, seeds, span = []int{3, 5}, []uint64{0, 1, 2, 3, 4}, time.Hour
	}
	for _, kind := range longProgramKinds {
		for _, p := range []busyPolicy{fairTurns, lightTurns, ringTurns} {
			for _, members := range sizes {
				for _, seed := range seeds {
					t.Run(fmt.Sprintf("%s/%v/%d/%d", kind, p, members, seed), func(t *testing.T) {
						t.Parallel()
						seed := uint64(members) + 100*seed
						g := &badMeasured{badGroup: newBad(t, seed, members, p, longProgramTimes, kind)}
						g.good = g.nodes[:members-1]
						saw := g.watch
						g.watch = func(m Moment) {
							saw(m)
							if e, is := m.Record.(*journal.Evidence); is && m.Deed == Wrote && !g.lies(m.Member) && !e.Accused.IsZero() && !g.lies(e.Accused) {
								t.Logf("at %v %v of an honest member", g.now, e)
							}
						}
						g.runFor(badSettle)
						g.busy.want(g.nodes, 0)
						g.runFor(span)
						c := g.cost()
						t.Logf("%d programs, nobody ran for %v, waits %v", c.first+c.later, c.nobody, c.wait)
						assert.Zero(t, g.accused)
						assert.Empty(t, g.violations)
					})
				}
			}
		}
	}
}
