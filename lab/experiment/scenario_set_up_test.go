package experiment

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/sim/circulation"
)

// TestNeighbours: they are the acquaintances of the journal's experiment.
func TestNeighbours(t *testing.T) {
	few, err := newNeighbours(t.Context(), 50, 6, rand.New(rand.NewPCG(1, 2)))
	require.NoError(t, err)
	rings := newAcquaintances(50, 3, rand.New(rand.NewPCG(1, 2)))
	for m, known := range rings.known {
		for i, other := range known {
			assert.EqualValues(t, other, few.known[m*6+i])
		}
	}
}

// TestMemory: what a scenario may ask for fits in what all runs may take.
func TestMemory(t *testing.T) {
	for members, most := range map[int]int{2: 0, 20: 18, 21: 20, 8192: 8190, 100_000: 670, policy.MaxMembers: 66} {
		s := Scenario{Config: circulation.Config{Members: members}}
		assert.Equal(t, most, s.mostAcquaintances(), members)
		s.Acquaintances = most
		assert.LessOrEqual(t, (s.atOnce()-1)*members*(memberMemory+4*most), memory)
	}
	assert.Equal(t, 1, (&Scenario{Config: circulation.Config{Members: policy.MaxMembers}}).atOnce())
	assert.Greater(t, (&Scenario{Config: circulation.Config{Members: 1000}}).atOnce(), 1000)
}

// TestSetUp_Cancelled_Stops: what a large group needs before it runs ends with the
// context, too.
func TestSetUp_Cancelled_Stops(t *testing.T) {
	over := errors.New("over")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(over)
	for _, acquaintances := range []int{0, 66} {
		s := Scenario{Config: circulation.Config{Members: policy.MaxMembers}, Acquaintances: acquaintances, Duration: policy.MaxInterval}
		s.Policy, s.Params = "uncoordinated", policy.Params{OperationTime: policy.MinDuration, MembersMax: 2, SkipDelay: policy.MinDuration}
		_, err := s.run(ctx, 1)
		assert.ErrorIs(t, err, over)
	}
}
