//go:build remember

package signature

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is remembered is what would be computed, and nobody can change it.
func TestRemembered(t *testing.T) {
	key, err := NewPrivateKey(bytes.Repeat([]byte{7}, SeedSize))
	require.NoError(t, err)
	message, other := []byte("message"), []byte("messagf")
	sig := key.Sign(message)
	for range 3 {
		require.NoError(t, key.Public().Verify(message, sig))
		require.ErrorIs(t, key.Public().Verify(other, sig), ErrMismatch)
		require.ErrorIs(t, key.Public().Verify(message, sig[1:]), ErrEncoding)
		require.Equal(t, sig, key.Sign(message))
		key.Sign(message)[0] ^= 1
	}
	encoded := key.Public().Bytes()
	public, err := ParsePublicKey(encoded[:])
	require.NoError(t, err)
	require.True(t, public.Equal(key.Public()))
	_, err = ParsePublicKey(encoded[1:])
	require.ErrorIs(t, err, ErrKeyEncoding)
}

// It does not grow without bound, and parts of what it is asked for do not run into
// each other.
func TestMemory(t *testing.T) {
	m := memory[int]{known: make(map[[32]byte]int)}
	for i := range mostKnown + 1 {
		require.Equal(t, i, m.of(func() int { return i }, []byte{byte(i), byte(i >> 8)}))
	}
	require.Len(t, m.known, 1)
	require.Equal(t, -1, m.of(func() int { return -1 }, []byte{0}, []byte{byte(mostKnown >> 8)}))
}
