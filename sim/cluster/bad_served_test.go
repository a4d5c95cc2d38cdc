package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// leastServed returns how many programs the honest member began that began the fewest, as a share of what
// they began on average.
func (g *badMeasured) leastServed() float64 {
	least, list := len(g.turns), g.honestRuns()
	for _, n := range g.good {
		count := 0
		for _, r := range list {
			if r.member == n.id {
				count++
			}
		}
		least = min(least, count)
	}
	return ratio(least*len(g.good), len(list))
}

// TestBad_Favourer_ServesEachHonestMember: members that pass tokens to some members only starve none of the others: the least
// served honest member has half of the average turns. The long form has 3, 5 and 20 members, and an hour of each:
//
//	go test ./sim/cluster -run TestBad_Favourer_ServesEachHonestMember -cluster.bad -v
func TestBad_Favourer_ServesEachHonestMember(t *testing.T) {
	skipUnderRaceDetector(t)
	for _, test := range []struct {
		kinds   []string
		sizes   []int // the first one in the short form
		starves bool  // under ring: tokens that friends pass to each other come to nobody who could pass them back
	}{
		{[]string{"favourer"}, []int{5, 3, 20}, false},
		{[]string{"favourer", "favourer"}, []int{20}, true}, // beside each other
		{[]string{"friends", "friends"}, []int{20, 5}, true},
	} {
		for _, p := range []busyPolicy{fairTurns, lightTurns, ringTurns} {
			for i, members := range test.sizes {
				for seed := range uint64(4) {
					if !*badCosts && (i > 0 || test.starves || p != ringTurns && seed > 0) { // five minutes are too short for those
						continue
					}
					t.Run(fmt.Sprintf("%d-%s/%v/%d/%d", len(test.kinds), test.kinds[0], p, members, seed), func(t *testing.T) {
						t.Parallel()
						long := 5 * time.Minute
						if *badCosts {
							long = time.Hour
						}
						g := measureBad(t, uint64(members)+100*seed, members, p, test.kinds, true, long)
						c := g.cost()
						t.Logf("the least served has %.2f of the average turns, waits %v and %.1f rounds at most; %d turns", g.leastServed(), c.wait, c.rounds, c.first+c.later)
						assert.Zero(t, g.accused)
						assert.Empty(t, g.violations)
						if test.starves && p == ringTurns {
							t.Skip("not so yet: no rule is against friends")
						}
						assert.GreaterOrEqual(t, g.leastServed(), 0.5)
					})
				}
			}
		}
	}
}
