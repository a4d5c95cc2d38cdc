//go:build remember

package signature

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is remembered is what would be computed, is of the whole key, message and
// signature, and nobody can change it.
func TestRemembered(t *testing.T) {
	key, err := NewPrivateKey(bytes.Repeat([]byte{7}, SeedSize))
	require.NoError(t, err)
	stranger, err := NewPrivateKey(bytes.Repeat([]byte{8}, SeedSize))
	require.NoError(t, err)
	message := []byte("message")
	sig := key.Sign(message)
	altered := bytes.Clone(sig)
	altered[SignatureSize-1] ^= 1
	for range 3 { // computed, then remembered
		var batch Batch
		var want []error
		for _, c := range []struct {
			key          *PrivateKey
			message, sig []byte
			verdict      error
		}{
			{key, message, sig, nil},
			{stranger, message, sig, ErrMismatch},
			{key, message[1:], sig, ErrMismatch},
			{key, append([]byte{sig[SignatureSize-1]}, message...), sig[:SignatureSize-1], ErrEncoding},
			{key, message, altered, ErrMismatch},
		} {
			require.ErrorIs(t, c.key.Public().Verify(c.message, c.sig), c.verdict)
			batch.Add(c.key.Public(), c.message, c.sig)
			want = append(want, c.verdict)
		}
		assert.Equal(t, want, batch.Verify(nil))
		require.Equal(t, sig, key.Sign(message))
		key.Sign(message)[0] ^= 1
	}
	var good Batch
	good.Add(key.Public(), message, sig)
	assert.Nil(t, good.Verify(nil))
}

func TestRememberedKeys(t *testing.T) {
	key, err := NewPrivateKey(bytes.Repeat([]byte{7}, SeedSize))
	require.NoError(t, err)
	encoded := key.Public().Bytes()
	for range 2 {
		public, err := ParsePublicKey(encoded[:])
		require.NoError(t, err)
		require.True(t, public.Equal(key.Public()))
		_, err = ParsePublicKey(encoded[1:])
		require.ErrorIs(t, err, ErrKeyEncoding)
		_, err = ParsePublicKey(make([]byte, PublicKeySize))
		require.ErrorIs(t, err, ErrSmallOrder)
	}
}

// It does not grow without bound, keeps what was asked for last, and parts of what it
// is asked for do not run into each other.
func TestMemory(t *testing.T) {
	var m memory[int]
	const always = -1
	for i := range 3 * mostKnown {
		require.Equal(t, i, m.of(func() int { return i }, binary.BigEndian.AppendUint32(nil, uint32(i))))
		require.Equal(t, always, m.of(func() int {
			require.Zero(t, i, "forgotten")
			return always
		}, []byte("always")))
	}
	require.LessOrEqual(t, len(m.young)+len(m.old), 2*mostKnown)
	last := binary.BigEndian.AppendUint32(nil, 3*mostKnown-1)
	require.Equal(t, -2, m.of(func() int { return -2 }, last[:2], last[2:]))
}
