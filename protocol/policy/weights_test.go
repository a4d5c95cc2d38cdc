package policy_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

func TestWeights_Text_RoundTrip(t *testing.T) {
	var w policy.Weights
	require.NoError(t, w.UnmarshalText([]byte("web = 2,backup=5")))
	assert.Equal(t, "backup=5, web=2", w.String())
	assert.Equal(t, []policy.ClassWeight{{Class: "backup", Weight: 5}, {Class: "web", Weight: 2}}, w.List())
	again, err := policy.MakeWeights(w.Map())
	require.NoError(t, err)
	assert.True(t, w == again, "comparable, whatever the order")
	assert.Equal(t, 5, w.Of("backup"))
	assert.Equal(t, 1, w.Of("other"))
	assert.Equal(t, 1, policy.Weights{}.Of(""))
	assert.True(t, policy.Weights{}.IsZero())
	assert.Nil(t, policy.Weights{}.Map())
	assert.Empty(t, policy.Weights{}.List())
}

func TestWeights_Invalid_Refused(t *testing.T) {
	many := make(map[string]int)
	for i := range policy.MaxWeights + 1 {
		many[fmt.Sprint("c", i)] = 1
	}
	for name, tt := range map[string]struct {
		of   map[string]int
		want error
	}{
		"no weight": {map[string]int{"web": 0}, policy.ErrOutOfRange},
		"above":     {map[string]int{"web": policy.MaxWeight + 1}, policy.ErrOutOfRange},
		"no class":  {map[string]int{"": 2}, ident.ErrClass},
		"capital":   {map[string]int{"Web": 2}, ident.ErrClass},
		"separator": {map[string]int{"a=1,b": 2}, ident.ErrClass},
		"long":      {map[string]int{"a-class-of-17-cha": 2}, ident.ErrClass},
		"seventeen": {many, policy.ErrOutOfRange},
	} {
		_, err := policy.MakeWeights(tt.of)
		assert.ErrorIs(t, err, tt.want, name)
	}
	for _, text := range []string{"", "web", "web=", "web=2,web=3", "web=2,", "web=x", "web:2"} {
		var w policy.Weights
		assert.ErrorIs(t, w.UnmarshalText([]byte(text)), policy.ErrOutOfRange, text)
	}
}

func TestWeighted_LongWait_Saturates(t *testing.T) {
	assert.Equal(t, 10*time.Second, policy.Weighted(2*time.Second, 5))
	assert.Equal(t, time.Duration(math.MaxInt64), policy.Weighted(math.MaxInt64/2, 3))
	assert.Equal(t, time.Duration(math.MinInt64), policy.Weighted(math.MinInt64, 100))
}
