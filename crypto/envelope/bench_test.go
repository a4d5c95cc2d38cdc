package envelope_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/envelope"
)

// transferSize is about the payload of a token's transfer.
const transferSize = 220

// BenchmarkParse is what an envelope adds to its signature on the way in.
func BenchmarkParse(b *testing.B) {
	d, v, _ := example(b, transferSize)
	b.ReportAllocs()
	for b.Loop() {
		_, err := envelope.Parse(d, v.Raw())
		require.NoError(b, err)
	}
}

func BenchmarkParseVerify(b *testing.B) {
	d, v, key := example(b, transferSize)
	b.ReportAllocs()
	for b.Loop() {
		u, err := envelope.Parse(d, v.Raw())
		require.NoError(b, err)
		_, err = u.Verify(key.Public())
		require.NoError(b, err)
	}
}

// BenchmarkVerifyBare is the same signature without its envelope.
func BenchmarkVerifyBare(b *testing.B) {
	_, v, key := example(b, transferSize)
	message := v.Raw()
	sig := key.Sign(message)
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, key.Public().Verify(message, sig))
	}
}

func BenchmarkSign(b *testing.B) {
	d, v, key := example(b, transferSize)
	b.ReportAllocs()
	for b.Loop() {
		_, err := envelope.Sign(d, v.KeyID(), v.Payload(), key)
		require.NoError(b, err)
	}
}

func BenchmarkSignBare(b *testing.B) {
	_, v, key := example(b, transferSize)
	message := v.Raw()
	b.ReportAllocs()
	for b.Loop() {
		key.Sign(message)
	}
}
