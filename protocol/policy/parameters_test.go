package policy_test

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/policy"
)

// roomy is in range whatever one parameter becomes.
var roomy = policy.Params{OperationTime: time.Millisecond, MembersMax: 1, SkipDelay: time.Second}

func TestParameters_EveryField_Listed(t *testing.T) {
	seen := make(map[string]bool)
	for i, p := range policy.Parameters {
		assert.Equal(t, uint64(i+1), p.Key, "in the order of their keys, none left out")
		assert.False(t, seen[p.Name], p.Name)
		seen[p.Name] = true
	}
	const others = 5 // Preset and Weights are no numbers, MaxHold and OnIsolated are the resource's, and Silence the group's
	assert.Equal(t, reflect.TypeFor[policy.Params]().NumField(), len(policy.Parameters)+others)
}

// Each parameter is a field of its own, and what the wire says comes back.
func TestParams_Wire_RoundTrip(t *testing.T) {
	var params policy.Params
	for _, p := range policy.Parameters {
		before := params
		require.Zero(t, p.Wire(&params), p.Name)
		p.SetWire(&params, 1)
		assert.Equal(t, uint64(1), p.Wire(&params), p.Name)
		assert.True(t, p.Whole(&params), p.Name)
		assert.NotEqual(t, before, params, p.Name)
	}
	for _, p := range policy.Parameters {
		assert.Equal(t, uint64(1), p.Wire(&params), p.Name)
	}
}

// The ends of a range are permitted, and nothing beyond them; zero only where
// it asks for a default.
func TestParams_Ranges_Exact(t *testing.T) {
	for _, p := range policy.Parameters {
		t.Run(p.Name, func(t *testing.T) {
			low, high := p.Range()
			valid := func(n uint64) bool {
				params := roomy
				p.SetWire(&params, n)
				return p.Wire(&params) == n && params.Validate() == nil
			}
			assert.True(t, valid(low))
			assert.True(t, valid(high))
			assert.False(t, valid(high+1))
			assert.Equal(t, p.Optional, valid(0))
			if low > 1 {
				assert.False(t, valid(low-1))
			}
		})
	}
}

// What no parameter can be does not turn into what it can.
func TestSetWire_TooLarge_Saturates(t *testing.T) {
	for _, n := range []uint64{1 << 32, 1<<32 + 1, 1 << 63, math.MaxInt64/uint64(time.Millisecond) + 2, math.MaxUint64} {
		for _, p := range policy.Parameters {
			params := roomy
			p.SetWire(&params, n)
			accepted := p.Wire(&params) == n && params.Validate() == nil
			_, high := p.Range()
			assert.Equal(t, n <= high, accepted, "%s %d", p.Name, n)
		}
	}
}

func TestWhole_Span_Milliseconds(t *testing.T) {
	params := roomy
	params.SkipDelay += time.Microsecond
	for _, p := range policy.Parameters {
		assert.Equal(t, p.Name != "skip_delay", p.Whole(&params), p.Name)
	}
}

func TestRatios(t *testing.T) {
	assert.Equal(t, 2.5, policy.Ratio(2500).Float())
	assert.Equal(t, policy.Ratio(7), policy.Ratio(0).Or(7))
	assert.Equal(t, policy.Ratio(3), policy.Ratio(3).Or(7))
	assert.Equal(t, 2500*time.Nanosecond, policy.Ratio(2500).Of(time.Microsecond))
	const century = 100 * 365 * 24 * time.Hour
	assert.Equal(t, century/20, policy.Ratio(50).Of(century))
	assert.Equal(t, time.Duration(1), policy.Ratio(50).Of(20))
}

func TestRatio_Span_Rounded(t *testing.T) {
	for _, c := range []struct {
		ratio policy.Ratio
		span  time.Duration
		want  time.Duration
	}{
		{1500, 10 * time.Second, 15 * time.Second},
		{50, time.Second, 50 * time.Millisecond},
		{333, 10, 3},
		{policy.MaxRatio, policy.MaxInterval, math.MaxInt64},
		{1000, policy.MaxInterval, policy.MaxInterval},
		{policy.MaxRatio, policy.MaxInterval / 1000, policy.MaxInterval},
	} {
		assert.Equal(t, c.want, c.ratio.Of(c.span), "%v of %v", c.ratio, c.span)
	}
}
