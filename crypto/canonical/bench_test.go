package canonical_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
)

// transfer has the fields and sizes of a token's transfer, the payload that is
// decoded most.
type transfer struct {
	_          struct{} `cbor:",toarray"`
	Token      [32]byte
	Hop        uint64
	From, To   [16]byte
	ToInc      [16]byte
	ToAcc      uint64
	Previous   [32]byte
	Void       *[32]byte
	Time       uint64
	Policy     []byte
	Extensions canonical.Extensions
}

func transferLike(t testing.TB) []byte {
	data, err := canonical.Marshal(transfer{Hop: 1 << 20, ToAcc: 1 << 30, Time: 1 << 40, Policy: make([]byte, 64)})
	require.NoError(t, err)
	return data
}

var transferLimits = canonical.Limits{MaxBytes: 1024, MaxDepth: 3, MaxItems: 64}

func BenchmarkCheck(b *testing.B) {
	data := transferLike(b)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, canonical.Check(data, transferLimits))
	}
}

func BenchmarkUnmarshal(b *testing.B) {
	data := transferLike(b)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		var v transfer
		require.NoError(b, canonical.Unmarshal(data, &v, transferLimits))
	}
}

func BenchmarkMarshal(b *testing.B) {
	var v transfer
	require.NoError(b, canonical.Unmarshal(transferLike(b), &v, transferLimits))
	b.ReportAllocs()
	for b.Loop() {
		_, err := canonical.Marshal(&v)
		require.NoError(b, err)
	}
}
