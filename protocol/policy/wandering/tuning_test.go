package wandering_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/wandering"
)

func TestTuning_OutOfRange_Refused(t *testing.T) {
	params := policy.Params{OperationTime: time.Second, MembersMax: 10, SkipDelay: time.Second}
	for tuning, ok := range map[wandering.Tuning]bool{
		{Witnesses: 1}: true, {Witnesses: wandering.MaxTuning, Reads: wandering.MaxTuning}: true,
		{Reads: 1}: false, {Witnesses: wandering.MaxTuning + 1}: false, {Witnesses: 1, Reads: -1}: false,
		{Witnesses: 1, Reads: wandering.MaxTuning + 1}: false,
	} {
		made, err := wandering.NewTuned(params, policy.Surroundings{Random: rand.NewPCG(1, 1)}, tuning)
		if !ok {
			assert.ErrorIs(t, err, wandering.ErrTuning, tuning)
			continue
		}
		require.NoError(t, err, tuning)
		assert.NotNil(t, made)
	}
	_, err := wandering.NewTuned(policy.Params{}, policy.Surroundings{Random: rand.NewPCG(1, 1)}, wandering.Tuning{Witnesses: 1})
	assert.ErrorIs(t, err, policy.ErrOutOfRange)
	assert.NotErrorIs(t, err, wandering.ErrTuning)
}
