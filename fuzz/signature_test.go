package fuzz

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
)

// FuzzSignature: a public key, a signature and a message behind each other. A
// batch gives the verdict that each signature gets alone.
func FuzzSignature(f *testing.F) { targets["FuzzSignature"].Fuzz(f) }

func checkSignature(t require.TestingT, data []byte) bool {
	if len(data) < signature.PublicKeySize+signature.SignatureSize {
		return false
	}
	encoded, rest := data[:signature.PublicKeySize], data[signature.PublicKeySize:]
	sig, message := rest[:signature.SignatureSize], rest[signature.SignatureSize:]
	key, err := signature.ParsePublicKey(encoded)
	if err != nil {
		isOneOf(t, err, signature.ErrKeyEncoding, signature.ErrSmallOrder)
		return false
	}
	kept := key.Bytes()
	require.Equal(t, encoded, kept[:])
	alone := key.Verify(message, sig)
	good := ada.Sign(message)
	for _, others := range []int{0, 7} {
		var b signature.Batch
		b.Add(key, message, sig)
		for range others {
			b.Add(ada.Public(), message, good)
		}
		verdicts := b.Verify(nil)
		if alone == nil {
			require.Nil(t, verdicts)
			continue
		}
		require.ErrorIs(t, verdicts[0], alone)
		for _, v := range verdicts[1:] {
			require.NoError(t, v)
		}
	}
	return alone == nil
}

func signatureSeeds() map[string][]byte {
	message := []byte("message")
	join := func(key, sig []byte) []byte { return bytes.Join([][]byte{key, sig, message}, nil) }
	key, sig := publicBytes(ada), ada.Sign(message)
	altered := bytes.Clone(sig)
	altered[40] ^= 1
	identity := append([]byte{1}, make([]byte, 31)...)
	return map[string][]byte{
		"good-usual":       join(key, sig),
		"bad-other-key":    join(publicBytes(ben), sig),
		"bad-altered":      join(key, altered),
		"bad-small-order":  join(identity, sig),
		"bad-key-encoding": join(bytes.Repeat([]byte{0xff}, 32), sig),
		"bad-s-too-large":  join(key, append(bytes.Clone(sig[:32]), bytes.Repeat([]byte{0xff}, 32)...)),
		"bad-short":        key,
	}
}
