package fuzz

import (
	"bytes"
	"crypto/sha512"
	"testing"

	"filippo.io/edwards25519"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
)

// FuzzSignature: a public key, a signature and a message behind each other. A
// batch gives the verdict that each signature gets alone, and two whose faults
// cancel each other out do not get through.
//
//fuzz:of crypto/signature
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
	var b signature.Batch
	b.Add(key, message, sig)
	for range batchOthers[len(message)%len(batchOthers)] {
		b.Add(ada.Public(), signedByAda, adasSignature)
	}
	if verdicts := b.Verify(nil); alone == nil {
		require.Nil(t, verdicts)
	} else {
		require.ErrorIs(t, verdicts[0], alone)
		for _, v := range verdicts[1:] {
			require.NoError(t, v)
		}
	}
	if len(message)%64 == 7 { // as in the seeds: it takes as long as all the rest
		checkShifted(t, message, sig)
	}
	return alone == nil
}

// batchOthers is how many good signatures are in the batch with the one in question,
// by the length of its message.
var batchOthers = []int{0, 3, 0, 7}

var (
	signedByAda   = []byte("signed by ada")
	adasSignature = ada.Sign(signedByAda)
)

// checkShifted: two signatures, each wrong by what the other is wrong by to the other
// side, cancel out in a sum that gives all the same weight. A batch refuses both.
func checkShifted(t require.TestingT, message, seed []byte) {
	digest := sha512.Sum512(seed)
	by, err := edwards25519.NewScalar().SetUniformBytes(digest[:])
	require.NoError(t, err)
	good := ada.Sign(message)
	one := shifted(t, good, by)
	other := shifted(t, ada.Sign(digest[:]), edwards25519.NewScalar().Negate(by))
	var b signature.Batch
	b.Add(ada.Public(), message, one)
	b.Add(ada.Public(), digest[:], other)
	for range 7 {
		b.Add(ada.Public(), message, good)
	}
	verdicts := b.Verify(nil)
	require.NotNil(t, verdicts)
	require.ErrorIs(t, verdicts[0], signature.ErrMismatch)
	require.ErrorIs(t, verdicts[1], signature.ErrMismatch)
	require.NoError(t, verdicts[2])
}

// shifted is a signature whose S is larger by so much.
func shifted(t require.TestingT, sig []byte, by *edwards25519.Scalar) []byte {
	s, err := edwards25519.NewScalar().SetCanonicalBytes(sig[32:])
	require.NoError(t, err)
	return append(bytes.Clone(sig[:32]), s.Add(s, by).Bytes()...)
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
