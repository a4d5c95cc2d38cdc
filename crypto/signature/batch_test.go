package signature

import (
	"bytes"
	"io"
	"testing"

	"filippo.io/edwards25519"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// encoded is a scalar's 32 bytes.
type encoded [32]byte

func encodeAll(scalars []edwards25519.Scalar) (all []encoded) {
	for i := range scalars {
		all = append(all, encoded(scalars[i].Bytes()))
	}
	return all
}

// TestCoefficients: whoever changes anything of a batch changes all of them,
// so no signature can be made to fit the coefficients it will get.
func TestCoefficients(t *testing.T) {
	build := func(random io.Reader, change func(keys [2]*PrivateKey, messages [][]byte, sigs [][]byte)) []encoded {
		var keys [2]*PrivateKey
		messages, sigs := [][]byte{[]byte("one"), []byte("two")}, make([][]byte, 2)
		for i := range keys {
			var err error
			keys[i], err = NewPrivateKey(bytes.Repeat([]byte{byte(i)}, SeedSize))
			require.NoError(t, err)
			sigs[i] = keys[i].Sign(messages[i])
		}
		change(keys, messages, sigs)
		var b Batch
		for i := range keys {
			b.Add(keys[i].Public(), messages[i], sigs[i])
		}
		require.True(t, b.wellFormed())
		return encodeAll(b.coefficients(random))
	}
	nothing := func([2]*PrivateKey, [][]byte, [][]byte) {}
	seen := map[encoded]string{}
	for name, z := range map[string][]encoded{
		"as it is":  build(nil, nothing),
		"random":    build(bytes.NewReader(bytes.Repeat([]byte{9}, 32)), nothing),
		"message":   build(nil, func(_ [2]*PrivateKey, m, _ [][]byte) { m[1] = []byte("changed") }),
		"R":         build(nil, func(k [2]*PrivateKey, _, s [][]byte) { copy(s[1][:32], k[1].Sign(nil)) }),
		"S":         build(nil, func(_ [2]*PrivateKey, _, s [][]byte) { s[1][32] ^= 1 }),
		"keys":      build(nil, func(k [2]*PrivateKey, _, _ [][]byte) { k[0].public, k[1].public = k[1].public, k[0].public }),
		"last only": build(bytes.NewReader(append(make([]byte, 31), 1)), nothing),
	} {
		for i, one := range z {
			assert.Empty(t, seen[one], "coefficient %d of %q", i, name)
			seen[one] = name
			assert.NotEqual(t, make([]byte, 8), one[8:16], "128 bits, not 64")
			assert.Equal(t, make([]byte, 16), one[16:], "128 bits, not more")
		}
	}
	assert.Equal(t, build(nil, nothing), build(nil, nothing), "the same batch can be computed again")
}
