package main

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/soak/plan"
)

// aimed is a run of five members, of which the first votes under "r" and is its keeper,
// unless it holds the token.
func aimed(t *testing.T) (r *run, voter int) {
	t.Helper()
	r = &run{}
	for i := range 5 {
		r.plan.Members = append(r.plan.Members, plan.Member{})
		r.ids = append(r.ids, ident.Member{byte(i + 1)})
	}
	return r, r.voterOf("r")
}

// TestAim_Voter_WhereTheStepSays: whoever has the token, and whoever was drawn.
func TestAim_Voter_WhereTheStepSays(t *testing.T) {
	r, voter := aimed(t)
	for holder := range 5 {
		for size := 1; size < 5; size++ {
			for shift := range 5 {
				var drawn []int
				for i := range size {
					drawn = append(drawn, (i+shift)%5)
				}
				for _, where := range []plan.Voter{plan.Apart, plan.Along} {
					s := plan.Step{Fault: plan.Split, Holder: "r", Voter: where, Member: drawn}
					r.aim(&s, holder)
					assert.Len(t, s.Member, size)
					assert.Len(t, slices.Compact(slices.Sorted(slices.Values(s.Member))), size, "nobody twice")
					assert.Contains(t, s.Member, holder)
					along := voter == holder || where == plan.Along && size > 1
					assert.Equal(t, along, slices.Contains(s.Member, voter), "holder %d of %v, voter %d %s: %v", holder, drawn, voter, where, s.Member)
				}
				s := plan.Step{Fault: plan.Split, Holder: "r", Keeper: true, Member: drawn}
				r.aim(&s, holder)
				assert.Contains(t, s.Member, holder)
				assert.NotContains(t, s.Member, r.keeperOf("r", holder))
				assert.Len(t, s.Member, size)
			}
		}
		s := plan.Step{Fault: plan.Part, Holder: "r", Voter: plan.Apart, Member: []int{0, 1}}
		r.aim(&s, holder)
		heard := plan.Step{Fault: plan.PartOneWay, Holder: "r", Voter: plan.Unheard, Member: []int{0, 1}}
		r.aim(&heard, holder)
		if holder == voter {
			assert.Len(t, s.Member, 5, "a voter that has the token is cut off from all others")
			assert.Equal(t, holder, s.Member[0])
		} else {
			assert.Equal(t, []int{holder, voter}, s.Member)
			assert.Equal(t, []int{voter, holder}, heard.Member)
		}
		s = plan.Step{Fault: plan.Pause, Holder: "r", Voter: plan.Hit, Member: []int{holder}}
		r.aim(&s, holder)
		assert.Equal(t, []int{voter}, s.Member)
	}
}
