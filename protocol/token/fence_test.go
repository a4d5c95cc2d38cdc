package token_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/token"
)

func TestFence_Numbers_Fixed(t *testing.T) {
	for _, c := range []struct{ born, hop, fence uint64 }{
		{0, 0, 0},
		{0, 7, 7},
		{1, 0, 1 << 21},
		{1700000000000, 42, 3565158400000000042},
		{token.MaxFenceTime, 0, math.MaxInt64 - 1<<21 + 1},
		{token.MaxFenceTime, math.MaxUint64, math.MaxInt64},
		{math.MaxUint64, 3, math.MaxInt64 - 1<<21 + 4},
		{math.MaxUint64, math.MaxUint64, math.MaxInt64},
	} {
		assert.Equal(t, c.fence, token.Fence(c.born, c.hop), "%d, hop %d", c.born, c.hop)
	}
	assert.Equal(t, 2109, time.UnixMilli(token.MaxFenceTime).UTC().Year())
}

// A fence grows with the hop, and with the genesis time whatever the hops, as long as a
// token does fewer than 2^21 of them in each millisecond between.
func TestFence_LaterTokenOrHop_Greater(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		born := rapid.Uint64Range(0, token.MaxFenceTime-1).Draw(t, "born")
		later := rapid.Uint64Range(born+1, token.MaxFenceTime).Draw(t, "later")
		hop := rapid.Uint64Range(1, (later-born)<<21-1).Draw(t, "hop")
		assert.Less(t, token.Fence(born, hop-1), token.Fence(born, hop))
		assert.Less(t, token.Fence(born, hop), token.Fence(later, 0))
	})
}

func TestFence_AnyNumbers_NeverWraps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		born, hop := rapid.Uint64().Draw(t, "born"), rapid.Uint64().Draw(t, "hop")
		f := token.Fence(born, hop)
		assert.LessOrEqual(t, f, uint64(math.MaxInt64))
		assert.GreaterOrEqual(t, f, min(hop, math.MaxInt64))
		assert.GreaterOrEqual(t, f, token.Fence(born, 0))
	})
}
