package circulation_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/sim/circulation"
)

// begun counts the operations of each member.
type begun struct {
	circulation.Ignore
	of []int
}

func (b *begun) OperationBegan(_ clock.Instant, member int) { b.of[member]++ }

// classesOf are a class for each weight, and these weights.
func classesOf(t testing.TB, weights []int) (classes []string, made policy.Weights) {
	of := make(map[string]int)
	for i, w := range weights {
		classes = append(classes, fmt.Sprintf("c%d", i))
		of[classes[i]] = w
	}
	made, err := policy.MakeWeights(of)
	require.NoError(t, err)
	return classes, made
}

// weighed is a group under fair whose members have these weights in turn, and who all want to run all the time. It
// returns how many operations the members of each weight began in so many rounds, after ten.
func weighed(t *testing.T, members int, seed uint64, rounds int, weights ...int) (ran []int, all int) {
	classes, made := classesOf(t, weights)
	const operation, way = 2 * time.Second, 5 * time.Millisecond
	s, err := circulation.New(circulation.Config{
		Policy: catalog.Wandering, Members: members, Seed: seed, Found: 1, Classes: classes,
		Params:    policy.Params{OperationTime: operation, MembersMax: members, SkipDelay: 100 * time.Millisecond, Weights: made},
		Reserving: circulation.Constant(2 * way), Passing: circulation.Constant(way), Telling: circulation.Constant(way),
	})
	require.NoError(t, err)
	round := clock.Instant(members) * clock.Instant(operation)
	s.Run(10 * round)
	b := &begun{of: make([]int, members)}
	s.Observe(b)
	s.Run(clock.Instant(10+rounds) * round)
	require.NoError(t, s.Err())
	ran = make([]int, len(weights))
	for m, n := range b.of {
		ran[m%len(weights)] += n
		all += n
	}
	return ran, all
}

// TestWeights_AllWant_SharesAsAsked: classes of weights 1, 2 and 5 with equally many members have parts of the operations
// that are within 2 % of 1:2:5. `wander plan --weights 1,2,5` has 300 members, and longer runs.
func TestWeights_AllWant_SharesAsAsked(t *testing.T) {
	for seed := range uint64(2) {
		ran, all := weighed(t, 60, seed+1, 80, 1, 2, 5) // whole turns of each: eight rounds are three of weight 1
		for i, w := range []int{1, 2, 5} {
			assert.InEpsilon(t, float64(w)/8, float64(ran[i])/float64(all), 0.02, "weight %d, seed %d", w, seed)
		}
	}
}

// A member whose weight is more than that of all others has every second operation: it passes the token on before it
// runs again.
func TestWeights_MoreThanAllOthers_Half(t *testing.T) {
	ran, all := weighed(t, 4, 1, 200, 100, 1, 1, 1)
	assert.InDelta(t, 0.5, float64(ran[0])/float64(all), 0.02)
	assert.InEpsilon(t, ran[1], ran[2], 0.05)
	assert.InEpsilon(t, ran[1], ran[3], 0.05)
}
