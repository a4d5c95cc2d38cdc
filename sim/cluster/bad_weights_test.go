package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/policy"
)

// weighedClasses are those of the members of weighed groups, in turn, and their weights.
var weighedClasses, weighedWeights = []string{"", "two", "five"}, map[string]int{"two": 2, "five": 5}

// newWeighed is a busy group under fair with members of weights 1, 2 and 5 in turn, the last of which are of these kinds.
func newWeighed(t *testing.T, seed uint64, members int, kinds ...string) *badMeasured {
	t.Helper()
	weights, err := policy.MakeWeights(weighedWeights)
	require.NoError(t, err)
	times := quietTimes[0]
	set := busySetting(seed, members, fairTurns, times)
	set.classes, set.resources[0].Weights = weighedClasses, weights
	g := makeBadOf(t, set, members, times, kinds, 0)
	g.start()
	return &badMeasured{badGroup: g, good: g.nodes[:members-len(kinds)]}
}

// begunBy returns how many programs each member began.
func (g *badMeasured) begunBy() map[*node]int {
	count := make(map[*node]int)
	for _, r := range g.ran {
		for _, n := range g.nodes {
			if n.id == r.member {
				count[n]++
			}
		}
	}
	return count
}

// work lets all members want turns for a time, after ten minutes.
func (g *badMeasured) work(span time.Duration) {
	g.runFor(badSettle)
	g.busy.want(g.nodes, 0)
	g.runFor(10 * time.Minute)
	g.ran = nil
	g.runFor(span)
}

// TestWeights_Members_SharesAsAsked: real members of three classes have their parts of the operations. In a group so small,
// a turn is a large part of the wait of a member with the greatest weight, and the members with the least one gain by that.
// The long form has 60 members:
//
//	go test ./sim/cluster -run TestWeights_Members -cluster.bad -v
func TestWeights_Members_SharesAsAsked(t *testing.T) {
	skipUnderRaceDetector(t)
	members, most, span := 12, 0.06, time.Hour
	if *badCosts {
		members, most, span = 60, 0.02, 4*time.Hour
	}
	g := newWeighed(t, 1, members)
	g.work(span)
	of, all := make(map[string]int), 0
	for n, k := range g.begunBy() {
		of[n.class] += k
		all += k
	}
	t.Log(of, all)
	for _, class := range weighedClasses {
		asked := float64(max(1, weighedWeights[class])) / 8
		assert.InEpsilon(t, asked, ratio(of[class], all), most, "class %q", class)
	}
	assert.Empty(t, g.violations)
}

// TestBad_Weighed_NoMoreThanItsShare: a bad member of each weight begins at most a tenth more programs than an honest one of
// its weight. The long form has all of these kinds, and an hour of each:
//
//	go test ./sim/cluster -run TestBad_Weighed -cluster.bad -v
func TestBad_Weighed_NoMoreThanItsShare(t *testing.T) {
	skipUnderRaceDetector(t)
	kinds, span := [][]string{{"evader"}, {"coy"}, {"denier"}, {"favourer"}}, 20*time.Minute
	if *badCosts {
		kinds = append(kinds, []string{"laggard"}, []string{"dodger"}, []string{"hoarder"}, []string{"misleader"}, []string{"babbler"}, []string{"friends", "friends"})
		span = time.Hour
	}
	for i, kind := range kinds {
		for last := range len(weighedClasses) {
			if !*badCosts && last != i%len(weighedClasses) {
				continue
			}
			members := 12 + last
			t.Run(fmt.Sprintf("%s/%q", badNames(kind), weighedClasses[(members-1)%3]), func(t *testing.T) {
				t.Parallel()
				g := newWeighed(t, uint64(members), members, kind...)
				g.work(span)
				count := g.begunBy()
				for _, bad := range g.nodes[members-len(kind):] {
					honest, n := 0, 0
					for _, o := range g.good {
						if o.class == bad.class {
							honest += count[o]
							n++
						}
					}
					t.Logf("class %q: %d programs, honest members on average %.1f", bad.class, count[bad], float64(honest)/float64(n))
					assert.LessOrEqual(t, float64(count[bad]), 1.1*float64(honest)/float64(n)+1)
				}
				assert.Zero(t, g.accused)
				assert.Empty(t, g.violations)
			})
		}
	}
}
