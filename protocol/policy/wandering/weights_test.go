package wandering

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// weighedAt is a walker of the first member of twenty. Those with the numbers 5, 10 and 15 are of class five, and so is the
// member itself if it is to be.
func weighedAt(t *testing.T, selfIsFive bool) *walker {
	weights, err := policy.MakeWeights(map[string]int{"five": 5, "two": 2})
	require.NoError(t, err)
	made, err := New(policy.Params{
		Preset: Fair, OperationTime: 4 * time.Second, MembersMax: 8, SkipDelay: time.Second, MinInterval: time.Minute, Weights: weights,
	}, policy.Surroundings{
		Self: ident.Member{1}, Random: rand.NewPCG(1, 1), Roster: everybody{20, 1},
		Class: func(m ident.Member) string {
			switch {
			case m[0]%5 == 0, m[0] == 1 && selfIsFive:
				return "five"
			case m[0] == 7:
				return "stranger" // that the resource does not name
			}
			return ""
		},
	})
	require.NoError(t, err)
	w := made.(*walker)
	w.Step(second, policy.Event{Kind: policy.Timer}, nil)
	return w
}

// TestWeighted_LongestWeighedWait_First: of the candidates that come with a token, the one whose wait times its weight is
// the longest is asked first, wherever it is on the list; and that changes as time passes.
func TestWeighted_LongestWeighedWait_First(t *testing.T) {
	w := weighedAt(t, false)
	w.Step(2*second, arrivalWith(9, 1000, carrying(0, 0, waiter{ident.Member{3}, 300_000}, waiter{ident.Member{5}, 70_000}, waiter{ident.Member{4}, 100_000})), nil)
	require.Equal(t, ident.Member{5}, w.fair.candidates.list[0].member, "five times 70 s is more than 300 s")

	w = weighedAt(t, false)
	w.Step(2*second, arrivalWith(9, 1000, carrying(0, 0, waiter{ident.Member{3}, 300_000}, waiter{ident.Member{5}, 59_000})), nil)
	list := &w.fair.candidates
	assert.Equal(t, ident.Member{3}, list.list[0].member)
	list.order(2*second + 2*second)
	assert.Equal(t, ident.Member{5}, list.list[0].member, "its wait has grown five times as fast")
	w.Now = 4 * second
	assert.Equal(t, uint32(0), list.threshold(w.Now), "fewer than eight")
}

// TestWeighted_Report_Threshold: timekeepers compare weighed waits with what a look asks for.
func TestWeighted_Report_Threshold(t *testing.T) {
	w := weighedAt(t, false)
	for _, m := range []byte{3, 5} {
		w.Step(2*second, said(m, body{kind: demand, what: willing}), nil)
		require.NotNil(t, w.fair.store.find(ident.Member{m}))
		w.fair.store.find(ident.Member{m}).served = second
	}
	var found [reportMost]*turnRecord
	w.Now = 21 * second
	assert.Equal(t, 1, w.fair.longest(20_000, &found), "20 s are not longer than 20 s, five times 20 s are")
	assert.Equal(t, ident.Member{5}, found[0].member)
	assert.Equal(t, 2, w.fair.longest(19_999, &found))
	assert.Equal(t, ident.Member{5}, found[0].member)
	assert.Equal(t, 0, w.fair.longest(100_000, &found))
}

// TestWeighted_Due_Sooner: Δmin is divided by the weight of the member that it is about.
func TestWeighted_Due_Sooner(t *testing.T) {
	w := weighedAt(t, true)
	assert.Equal(t, 12*time.Second, w.ownMin())
	assert.Equal(t, time.Minute, weighedAt(t, false).ownMin())
	w.Step(2*second, policy.Event{Kind: policy.DemandChanged, Demand: true}, nil)
	e := arrival(9, 1000)
	require.NotEmpty(t, kinds(w.Step(2*second, e, nil), policy.Run))
	w.Step(6*second, policy.Event{Kind: policy.OperationEnded, Token: e.Token, Operated: true}, nil)
	assert.Equal(t, 14*second, w.early, "twelve seconds after the operation began")

	w.Step(7*second, said(10, body{kind: demand, what: willing}), nil)
	assert.Equal(t, -5*second, w.fair.store.find(ident.Member{10}).served, "a new one counts as one that may operate at once")
	w.Step(7*second, said(4, body{kind: demand, what: willing}), nil)
	assert.Equal(t, -53*second, w.fair.store.find(ident.Member{4}).served)
}

// TestWeighted_UnknownClass_One: a member without a class, of one that is not named, or whose certificate is not known, has
// weight 1.
func TestWeighted_UnknownClass_One(t *testing.T) {
	w := weighedAt(t, false)
	for m, want := range map[byte]int{5: 5, 7: 1, 3: 1} {
		assert.Equal(t, want, w.weightOf(ident.Member{m}), "%d", m)
	}
	w.class = nil
	assert.Equal(t, 1, w.weightOf(ident.Member{5}))
}
