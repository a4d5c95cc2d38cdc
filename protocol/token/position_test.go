package token_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/protocol/token"
)

func TestPosition_InExtensions_ComesBack(t *testing.T) {
	for _, n := range []uint64{1, 23, 24, 255, 256, 1<<16 - 1, 1 << 16, 1 << 32, math.MaxUint64} {
		p := token.Position{Opening: n, Tag: [token.TagSize]byte{1, 2}, Serial: n - 1}
		e := p.Extensions().With(1, canonical.Raw{0x00})
		require.NoError(t, e.Validate(), "in its shortest form")
		assert.Equal(t, p, token.PositionOf(e))
		assert.Equal(t, canonical.Raw{0x00}, e.Get(1))
		assert.LessOrEqual(t, len(e.Get(3)), 1+9+1+token.TagSize+9)
	}
	assert.Zero(t, token.Position{}.Extensions())
}

func TestPosition_Malformed_None(t *testing.T) {
	good := token.Position{Opening: 1000, Serial: 2}.Extensions().Get(3)
	for name, raw := range map[string][]byte{
		"nothing": nil, "text": {0x61, 'x'}, "array of 2": append([]byte{0x82}, good[1:]...),
		"cut short": good[:len(good)-1], "no tag": {0x83, 1, 2, 3},
		"negative": {0x83, 0x20}, "number cut short": {0x83, 0x1b, 1},
	} {
		assert.True(t, token.PositionOf(canonical.Extensions{}.With(3, raw)).IsZero(), name)
	}
}

func TestPosition_After_ByOpeningThenSerial(t *testing.T) {
	p := token.Position{Opening: 5, Serial: 7}
	assert.True(t, token.Position{Opening: 6}.After(p))
	assert.True(t, token.Position{Opening: 5, Serial: 8}.After(p))
	assert.False(t, p.After(p))
	assert.False(t, token.Position{Opening: 4, Serial: 9}.After(p))
}
