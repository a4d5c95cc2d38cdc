package keyfile_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/crypto/signature"
)

func TestPublicKey_Text_RoundTrip(t *testing.T) {
	key, err := signature.NewPrivateKey(bytes.Repeat([]byte{5}, signature.SeedSize))
	require.NoError(t, err)
	block, err := keyfile.EncodePublicKey(key.Public())
	require.NoError(t, err)
	text, err := keyfile.EncodeBlocks(block)
	require.NoError(t, err)
	blocks, err := keyfile.DecodeBlocks(text)
	require.NoError(t, err)
	require.Len(t, blocks, 1)
	public, err := keyfile.DecodePublicKey(blocks[0])
	require.NoError(t, err)
	assert.True(t, public.Equal(key.Public()))
}

func TestPublicKey_Invalid_Refused(t *testing.T) {
	key, err := signature.NewPrivateKey(bytes.Repeat([]byte{5}, signature.SeedSize))
	require.NoError(t, err)
	x := key.Public().Bytes()
	tests := []struct {
		name string
		kind string
		key  map[int]any
		want error
	}{
		{"as it should be", keyfile.PublicKey, map[int]any{1: 1, 3: -8, -1: 6, -2: x}, nil},
		{"another block", keyfile.PrivateKey, map[int]any{1: 1, 3: -8, -1: 6, -2: x}, keyfile.ErrType},
		{"key type", keyfile.PublicKey, map[int]any{1: 2, 3: -8, -1: 6, -2: x}, keyfile.ErrKey},
		{"algorithm", keyfile.PublicKey, map[int]any{1: 1, 3: -7, -1: 6, -2: x}, keyfile.ErrKey},
		{"curve", keyfile.PublicKey, map[int]any{1: 1, 3: -8, -1: 4, -2: x}, keyfile.ErrKey},
		{"small order", keyfile.PublicKey, map[int]any{1: 1, 3: -8, -1: 6, -2: [32]byte{1}}, keyfile.ErrKey},
		{"secret beside it", keyfile.PublicKey, map[int]any{1: 1, 3: -8, -1: 6, -2: x, -4: x}, keyfile.ErrKey},
		{"short", keyfile.PublicKey, map[int]any{1: 1, 3: -8, -1: 6, -2: x[:31]}, keyfile.ErrKey},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plain, err := canonical.Marshal(tt.key)
			require.NoError(t, err)
			_, err = keyfile.DecodePublicKey(keyfile.Block{Type: tt.kind, Bytes: plain})
			assert.ErrorIs(t, err, tt.want)
		})
	}
}
