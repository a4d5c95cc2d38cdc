package signature

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha512"
	"math/big"
	"testing"

	"filippo.io/edwards25519"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// torsion is the subgroup of small order: multiples of a point of order 8.
func torsion(t require.TestingT) (points [8]*edwards25519.Point) {
	generator, err := new(edwards25519.Point).SetBytes([]byte{
		0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0,
		0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05,
	})
	require.NoError(t, err)
	points[0] = edwards25519.NewIdentityPoint()
	for i := range points[1:] {
		points[i+1] = new(edwards25519.Point).Add(points[i], generator)
	}
	return points
}

// forger signs as the rule allows but RFC 8032 signers never do: with points of
// small order added to its key and to its R.
type forger struct {
	secret  *edwards25519.Scalar
	public  []byte
	torsion [8]*edwards25519.Point
}

func newForger(t require.TestingT, seed []byte, component int) forger {
	digest := sha512.Sum512(seed)
	secret, err := new(edwards25519.Scalar).SetUniformBytes(digest[:])
	require.NoError(t, err)
	f := forger{secret: secret, torsion: torsion(t)}
	a := new(edwards25519.Point).ScalarBaseMult(secret)
	f.public = a.Add(a, f.torsion[component]).Bytes()
	return f
}

// sign adds off to S, so any other than 0 makes the signature wrong.
func (f forger) sign(t require.TestingT, message []byte, component int, off *edwards25519.Scalar) []byte {
	digest := sha512.Sum512(append([]byte("nonce"), message...))
	r, err := new(edwards25519.Scalar).SetUniformBytes(digest[:])
	require.NoError(t, err)
	point := new(edwards25519.Point).ScalarBaseMult(r)
	encoded := point.Add(point, f.torsion[component]).Bytes()
	var k edwards25519.Scalar
	challenge(&k, encoded, (*[32]byte)(f.public), message)
	s := new(edwards25519.Scalar).MultiplyAdd(&k, f.secret, r)
	return append(encoded, s.Add(s, off).Bytes()...)
}

func smallScalar(t require.TestingT, v byte) *edwards25519.Scalar {
	s, err := new(edwards25519.Scalar).SetCanonicalBytes(append([]byte{v}, make([]byte, 31)...))
	require.NoError(t, err)
	return s
}

func randomScalar(t *rapid.T, label string) *edwards25519.Scalar {
	b := rapid.SliceOfN(rapid.Byte(), 64, 64).Draw(t, label)
	s, err := new(edwards25519.Scalar).SetUniformBytes(b)
	require.NoError(t, err)
	return s
}

// TestSameVerdict draws keys and signatures good and bad, with and without
// points of small order, and wants the known verdict alone, with a table, from
// the common equation, and from the batch.
func TestSameVerdict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var keys []*PublicKey
		var forgers []forger
		for i := range rapid.IntRange(1, 3).Draw(t, "keys") {
			f := newForger(t, []byte{byte(i)}, rapid.IntRange(0, 7).Draw(t, "component of A"))
			key, err := ParsePublicKey(f.public)
			require.NoError(t, err)
			key.uses.Store(uint32(rapid.IntRange(0, usesToSpread).Draw(t, "uses")))
			keys, forgers = append(keys, key), append(forgers, f)
		}
		var batch Batch
		var want []error
		bad := false
		for range rapid.IntRange(1, 8).Draw(t, "signatures") {
			i := rapid.IntRange(0, len(keys)-1).Draw(t, "key")
			message := rapid.SliceOfN(rapid.Byte(), 0, 4).Draw(t, "message")
			sig, verdict := drawSignature(t, forgers[i], message)
			assert.ErrorIs(t, keys[i].Verify(message, sig), verdict)
			batch.Add(keys[i], message, sig)
			want, bad = append(want, verdict), bad || verdict != nil
		}
		if batch.wellFormed() {
			assert.Equal(t, !bad, batch.holds(nil), "common equation")
		}
		got := batch.Verify(bytes.NewReader(rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "random")))
		if !bad {
			want = nil
		}
		assert.Equal(t, want, got)
	})
}

// drawSignature draws a signature and the verdict that it deserves.
func drawSignature(t *rapid.T, f forger, message []byte) ([]byte, error) {
	good := f.sign(t, message, rapid.IntRange(0, 7).Draw(t, "component of R"), new(edwards25519.Scalar))
	switch rapid.SampledFrom([]string{"good", "good", "good", "off", "other", "high S", "bad R", "short"}).Draw(t, "as") {
	case "off":
		return f.sign(t, message, 0, smallScalar(t, 8)), ErrMismatch
	case "other":
		return f.sign(t, append(message, 1), 0, new(edwards25519.Scalar)), ErrMismatch
	case "high S":
		return addOrder(good), ErrEncoding
	case "bad R":
		return append(bytes.Repeat([]byte{0xff}, 32), good[32:]...), ErrEncoding
	case "short":
		return good[:63], ErrEncoding
	}
	return good, nil
}

// groupOrder is L.
var groupOrder, _ = new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)

// addOrder replaces S by S + L, which is the same number to a careless
// verifier.
func addOrder(sig []byte) []byte {
	s := new(big.Int).SetBytes(reversed(sig[32:]))
	s.Add(s, groupOrder)
	return append(bytes.Clone(sig[:32]), reversed(s.FillBytes(make([]byte, 32)))...)
}

func reversed(b []byte) []byte {
	r := make([]byte, len(b))
	for i := range b {
		r[len(b)-1-i] = b[i]
	}
	return r
}

// TestCancellingErrors pairs wrong signatures whose errors add up to nothing:
// without coefficients the common equation would hold for them.
func TestCancellingErrors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		off := randomScalar(t, "off")
		minus := new(edwards25519.Scalar).Negate(off)
		var batch Batch
		var naive edwards25519.Point // the sum with all coefficients 1
		naive.Set(edwards25519.NewIdentityPoint())
		for i, o := range []*edwards25519.Scalar{off, minus} {
			f := newForger(t, []byte{byte(i)}, rapid.IntRange(0, 7).Draw(t, "component of A"))
			key, err := ParsePublicKey(f.public)
			require.NoError(t, err)
			message := []byte{byte(i)}
			batch.Add(key, message, f.sign(t, message, rapid.IntRange(0, 7).Draw(t, "component of R"), o))
			it := &batch.items[i]
			var p edwards25519.Point
			p.VarTimeDoubleScalarBaseMult(&it.c, &key.minus, &it.sig.s)
			naive.Add(&naive, p.Subtract(&p, &it.sig.r))
		}
		require.True(t, isSmallOrder(&naive), "the errors cancel")
		assert.False(t, batch.holds(nil), "without randomness")
		assert.False(t, batch.holds(bytes.NewReader(make([]byte, 32))))
		assert.Equal(t, []error{ErrMismatch, ErrMismatch}, batch.Verify(nil))
	})
}

// TestVerify_AnySignature_AgreesWithStandard: crypto/ed25519 has another rule, but for keys and
// signatures without points of small order the verdicts are the same.
func TestVerify_AnySignature_AgreesWithStandard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key, err := NewPrivateKey(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "seed"))
		require.NoError(t, err)
		message := rapid.SliceOf(rapid.Byte()).Draw(t, "message")
		sig := key.Sign(message)
		if rapid.Bool().Draw(t, "alter") {
			at := rapid.IntRange(0, 8*SignatureSize-1).Draw(t, "bit")
			sig[at/8] ^= 1 << (at % 8)
		}
		public := key.Public().Bytes()
		want := ed25519.Verify(public[:], message, sig)
		assert.Equal(t, want, key.Public().Verify(message, sig) == nil)
		key.Public().uses.Store(usesToSpread)
		assert.Equal(t, want, key.Public().Verify(message, sig) == nil, "with a table")
	})
}

// TestTable_ManyUses_Built: a key used once or twice stays small.
func TestTable_ManyUses_Built(t *testing.T) {
	key, err := NewPrivateKey(make([]byte, 32))
	require.NoError(t, err)
	sig := key.Sign(nil)
	for range usesToSpread {
		require.NoError(t, key.Public().Verify(nil, sig))
		assert.Nil(t, key.Public().table.Load())
	}
	require.NoError(t, key.Public().Verify(nil, sig))
	assert.NotNil(t, key.Public().table.Load())
}

func TestRefusedEncodings(t *testing.T) {
	key, err := NewPrivateKey(make([]byte, 32))
	require.NoError(t, err)
	message := []byte("message")
	good := key.Sign(message)
	notOnCurve := append([]byte{2}, make([]byte, 31)...)
	for name, c := range map[string]struct {
		sig  []byte
		want error
	}{
		"good":           {good, nil},
		"empty":          {nil, ErrEncoding},
		"short":          {good[:63], ErrEncoding},
		"long":           {append(bytes.Clone(good), 0), ErrEncoding},
		"S plus L":       {addOrder(good), ErrEncoding},
		"S is L":         {addOrder(append(bytes.Clone(good[:32]), make([]byte, 32)...)), ErrEncoding},
		"R off curve":    {append(notOnCurve, good[32:]...), ErrEncoding},
		"R not reduced":  {append(fieldElement(0, 0), good[32:]...), ErrEncoding},
		"R minus zero":   {append(fieldElement(-1, 0x80), good[32:]...), ErrEncoding},
		"R is identity":  {append(append([]byte{1}, make([]byte, 31)...), good[32:]...), ErrMismatch},
		"another S":      {append(bytes.Clone(good[:32]), make([]byte, 32)...), ErrMismatch},
		"both wrong":     {make([]byte, 64), ErrMismatch},
		"everything set": {bytes.Repeat([]byte{0xff}, 64), ErrEncoding},
	} {
		t.Run(name, func(t *testing.T) {
			if c.want == nil {
				assert.NoError(t, key.Public().Verify(message, c.sig))
			} else {
				assert.ErrorIs(t, key.Public().Verify(message, c.sig), c.want)
			}
		})
	}
}

// fieldElement is p + n, with the given bits set in the last byte.
func fieldElement(n int64, top byte) []byte {
	p := new(big.Int).Lsh(big.NewInt(1), 255)
	p.Sub(p, big.NewInt(19-n))
	b := reversed(p.FillBytes(make([]byte, 32)))
	b[31] |= top
	return b
}

// TestCanonicalPoints compares the byte arithmetic with decoding and encoding
// again, around both ends of the field and anywhere.
func TestCanonicalPoints(t *testing.T) {
	check := func(t require.TestingT, b []byte) {
		p, err := new(edwards25519.Point).SetBytes(b)
		want := err == nil && bytes.Equal(p.Bytes(), b)
		var q edwards25519.Point
		assert.Equal(t, want, decodePoint(&q, b), "%x", b)
	}
	for n := int64(-40); n <= 18; n++ {
		check(t, fieldElement(n, 0))
		check(t, fieldElement(n, 0x80))
	}
	for n := range byte(40) {
		check(t, append([]byte{n}, make([]byte, 31)...))
		check(t, append(append([]byte{n}, make([]byte, 30)...), 0x80))
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "bytes"))
	})
}

func TestPublicKey_Parse_StrictPoints(t *testing.T) {
	for i, p := range torsion(t) {
		_, err := ParsePublicKey(p.Bytes())
		assert.ErrorIs(t, err, ErrSmallOrder, "%d times the generator", i)
	}
	for name, b := range map[string][]byte{
		"empty": nil, "short": make([]byte, 31), "long": make([]byte, 33),
		"off the curve": append([]byte{2}, make([]byte, 31)...), "not reduced": fieldElement(1, 0),
	} {
		_, err := ParsePublicKey(b)
		assert.ErrorIs(t, err, ErrKeyEncoding, name)
	}
	f := newForger(t, []byte("mixed"), 3)
	key, err := ParsePublicKey(f.public)
	require.NoError(t, err, "a component of small order is no ground for refusal")
	again := key.Bytes()
	assert.Equal(t, f.public, again[:])
}
