package signature_test

import (
	"crypto/ed25519"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
)

// benchMessage has the size of a transfer's Sig_structure.
var benchMessage = make([]byte, 350)

func benchKeys(b *testing.B, n int) []*signature.PrivateKey {
	random := rand.NewChaCha8([32]byte{1})
	keys := make([]*signature.PrivateKey, n)
	for i := range keys {
		var err error
		keys[i], err = signature.Generate(random)
		require.NoError(b, err)
	}
	return keys
}

func BenchmarkSign(b *testing.B) {
	key := benchKeys(b, 1)[0]
	for b.Loop() {
		key.Sign(benchMessage)
	}
}

// BenchmarkVerify is with a key that has to be parsed each time.
func BenchmarkVerify(b *testing.B) {
	key := benchKeys(b, 1)[0]
	sig, public := key.Sign(benchMessage), key.Public().Bytes()
	for b.Loop() {
		parsed, err := signature.ParsePublicKey(public[:])
		require.NoError(b, err)
		require.NoError(b, parsed.Verify(benchMessage, sig))
	}
}

// BenchmarkVerifyCachedKey is with a key that is at hand, as members' keys are.
func BenchmarkVerifyCachedKey(b *testing.B) {
	key := benchKeys(b, 1)[0]
	sig, public := key.Sign(benchMessage), key.Public()
	for b.Loop() {
		require.NoError(b, public.Verify(benchMessage, sig))
	}
}

// BenchmarkVerifyStandard is crypto/ed25519, with its own, laxer rule.
func BenchmarkVerifyStandard(b *testing.B) {
	key := benchKeys(b, 1)[0]
	sig, public := key.Sign(benchMessage), key.Public().Bytes()
	for b.Loop() {
		require.True(b, ed25519.Verify(public[:], benchMessage, sig))
	}
}

// BenchmarkBatch reports the time of one signature within a batch.
func BenchmarkBatch(b *testing.B) {
	for _, c := range []struct{ size, keys int }{{1, 1}, {2, 2}, {3, 3}, {4, 4}, {6, 6}, {8, 8}, {8, 1}, {16, 16}, {64, 64}, {64, 8}} {
		b.Run(fmt.Sprintf("signatures=%d/keys=%d", c.size, c.keys), func(b *testing.B) {
			keys := benchKeys(b, c.keys)
			random := rand.NewChaCha8([32]byte{2})
			sigs := make([][]byte, c.size)
			for i := range sigs {
				sigs[i] = keys[i%c.keys].Sign(benchMessage)
			}
			for b.Loop() {
				var batch signature.Batch
				for i := range sigs {
					batch.Add(keys[i%c.keys].Public(), benchMessage, sigs[i])
				}
				require.Nil(b, batch.Verify(random))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*c.size), "ns/signature")
		})
	}
}
