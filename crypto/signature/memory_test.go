package signature

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// counting counts what is read of it.
type counting struct{ read int }

func (c *counting) Read(p []byte) (int, error) {
	c.read += len(p)
	return len(p), nil
}

// TestMemory_Verdicts_AsComputed: a remembered verdict equals the computed one, and belongs to the whole
// key, message and signature. A key with a memory earns its table when one without does, and a batch of
// such keys draws as many random numbers.
func TestMemory_Verdicts_AsComputed(t *testing.T) {
	var m Memory
	type pair struct{ key, stranger *PublicKey }
	signer, err := NewPrivateKey(bytes.Repeat([]byte{7}, SeedSize))
	require.NoError(t, err)
	other, err := NewPrivateKey(bytes.Repeat([]byte{8}, SeedSize))
	require.NoError(t, err)
	plain := pair{signer.Public(), other.Public()}
	remembering := pair{plain.key.With(&m), plain.stranger.With(&m)}
	message := []byte("message")
	sig := signer.Sign(message)
	altered := bytes.Clone(sig)
	altered[SignatureSize-1] ^= 1
	cases := []struct {
		stranger     bool
		message, sig []byte
		verdict      error
	}{
		{false, message, sig, nil},
		{true, message, sig, ErrMismatch},
		{false, message[1:], sig, ErrMismatch},
		{false, append([]byte{sig[SignatureSize-1]}, message...), sig[:SignatureSize-1], ErrEncoding},
		{false, message, altered, ErrMismatch},
		{false, []byte("again"), signer.Sign([]byte("again")), nil},
		{false, []byte("and again"), signer.Sign([]byte("and again")), nil},
	}
	for range 4 { // computed, then remembered
		for _, p := range []pair{plain, remembering} {
			for _, c := range cases {
				key := p.key
				if c.stranger {
					key = p.stranger
				}
				require.Equal(t, c.verdict, key.Verify(c.message, c.sig))
			}
		}
		for size := range cases {
			var drawn [2]counting
			for i, p := range []pair{plain, remembering} {
				var batch Batch
				var want []error
				for _, c := range cases[:size] {
					key := p.key
					if c.stranger {
						key = p.stranger
					}
					batch.Add(key, c.message, c.sig)
					want = append(want, c.verdict)
				}
				if size < 2 {
					want = nil
				}
				require.Equal(t, want, batch.Verify(&drawn[i]))
			}
			require.Equal(t, drawn[0], drawn[1])
		}
		require.Equal(t, plain.key.uses.Load(), remembering.key.uses.Load())
		require.Equal(t, plain.stranger.uses.Load(), remembering.stranger.uses.Load())
	}
}

// A batch computes what is not known, whatever else is.
func TestMemory_Batch_PartlyKnown(t *testing.T) {
	signer, err := NewPrivateKey(bytes.Repeat([]byte{7}, SeedSize))
	require.NoError(t, err)
	const size = 12
	for first := range size {
		for _, bad := range []int{-1, 0, size - 1} {
			var m Memory
			key := signer.Public().With(&m)
			var drawn counting
			for range 2 {
				var batch Batch
				var want []error
				for i := range byte(size) {
					sig := signer.Sign([]byte{i})
					want = append(want, nil)
					if int(i) == bad {
						sig, want[i] = signer.Sign([]byte{i, i}), ErrMismatch
					}
					if int(i) < first {
						require.Equal(t, want[i], key.Verify([]byte{i}, sig))
					}
					batch.Add(key, []byte{i}, sig)
				}
				if bad < 0 {
					want = nil
				}
				require.Equal(t, want, batch.Verify(&drawn))
			}
			require.Equal(t, 2*32, drawn.read)
		}
	}
}

// TestMemory_Sign_Known: a key with a memory remembers its own signatures. A key without one shares nothing.
func TestMemory_Sign_Known(t *testing.T) {
	var m Memory
	key, err := m.PrivateKey(bytes.Repeat([]byte{7}, SeedSize))
	require.NoError(t, err)
	plain, err := NewPrivateKey(bytes.Repeat([]byte{7}, SeedSize))
	require.NoError(t, err)
	message := []byte("message")
	require.Equal(t, plain.Sign(message), key.Sign(message))
	good, known := m.verdict(m.of(plain.Public(), message, plain.Sign(message)))
	assert.True(t, good && known)
	assert.Same(t, &m, key.Public().Memory())
	assert.Nil(t, plain.Public().Memory())
	assert.Same(t, plain.Public(), plain.Public().With(nil))
	assert.True(t, plain.Public().With(&m).Equal(plain.Public()))
	_, err = m.PrivateKey(nil)
	require.ErrorIs(t, err, ErrSeed)
}

// It does not grow without bound, and keeps what was asked for last.
func TestMemory_Full_LastKept(t *testing.T) {
	var m Memory
	of := func(i int) (d digest) {
		binary.BigEndian.PutUint32(d[:], uint32(i))
		return d
	}
	for i := range 3 * maxVerdicts {
		m.note(of(i), i%2 == 0)
		good, known := m.verdict(of(0))
		require.True(t, good && known)
		good, known = m.verdict(of(max(0, i-maxVerdicts/4)))
		require.True(t, known)
		require.Equal(t, max(0, i-maxVerdicts/4)%2 == 0, good)
	}
	require.LessOrEqual(t, len(m.young)+len(m.old), 2*maxVerdicts)
	_, known := m.verdict(of(1))
	require.False(t, known)
}

// A verdict that is known is a use of the key: it earns its table after as many.
func TestMemory_Known_CountedAsUse(t *testing.T) {
	var m Memory
	signer, err := NewPrivateKey(bytes.Repeat([]byte{7}, SeedSize))
	require.NoError(t, err)
	sig := signer.Sign(nil)
	for range 2 { // the first ones are not known
		for uses := range usesToSpread + 2 {
			plain := &PublicKey{bytes: signer.public.bytes, minus: signer.public.minus}
			for _, inBatch := range []bool{false, true} {
				alone := &PublicKey{bytes: signer.public.bytes, minus: signer.public.minus}
				key := plain.With(&m)
				for _, k := range []*PublicKey{alone, key} {
					if !inBatch {
						for range uses {
							require.NoError(t, k.Verify(nil, sig))
						}
						continue
					}
					var b Batch // of which one is bad, so that each is looked at
					for range uses {
						b.Add(k, nil, sig)
					}
					b.Add(k, []byte{1}, sig)
					require.Len(t, b.Verify(nil), uses+1)
				}
				require.Equal(t, alone.uses.Load(), key.uses.Load())
			}
		}
	}
}
