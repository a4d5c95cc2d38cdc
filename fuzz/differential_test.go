package fuzz

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha512"
	"sync/atomic"
	"testing"

	"filippo.io/edwards25519"
	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/internal/cddl"
)

// FuzzDeterministic: three independent readers of deterministic CBOR say the
// same: the scanner of package canonical, the decoder of package cddl, and the
// general library, whose encoder gives back what it has read exactly when the
// bytes were deterministic.
//
//fuzz:of crypto/canonical crypto/envelope internal/cddl
func FuzzDeterministic(f *testing.F) { targets["FuzzDeterministic"].Fuzz(f) }

var (
	libraryDecoder = must(cbor.DecOptions{
		DupMapKey: cbor.DupMapKeyEnforcedAPF, IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden,
		IntDec: cbor.IntDecConvertSignedOrBigInt,
	}.DecMode())
	libraryEncoder = must(func() cbor.EncOptions {
		o := cbor.CoreDetEncOptions()
		o.BigIntConvert = cbor.BigIntConvertShortest
		return o
	}().EncMode())
)

func checkDeterministic(t require.TestingT, data []byte) bool {
	scanned := canonical.Check(data, generous)
	item, err := cddl.Decode(data)
	within := err == nil && len(data) <= generous.MaxBytes
	if within {
		tags, depth, items := measure(item)
		within = tags == 0 && depth <= generous.MaxDepth && items <= generous.MaxItems
	}
	require.Equal(t, within, scanned == nil, "package cddl: %v, package canonical: %v", err, scanned)
	var value any
	if libraryDecoder.Unmarshal(data, &value) != nil {
		return scanned == nil // a map in a key has no value in Go
	}
	again, err := libraryEncoder.Marshal(value)
	if scanned == nil {
		require.NoError(t, err)
		require.Equal(t, data, again, "not deterministic for the library")
	}
	return scanned == nil
}

// measure counts what package canonical bounds: the tags and items in an item, and
// how deep arrays and maps nest.
func measure(item cddl.Item) (tags, depth, items int) {
	items = 1
	for _, i := range item.Items {
		t, d, n := measure(i)
		tags, depth, items = tags+t, max(depth, d), items+n
	}
	switch item.Major {
	case cddl.Tag:
		tags++
	case cddl.Array, cddl.Map:
		depth++
	}
	return tags, depth, items
}

func deterministicSeeds() map[string][]byte {
	seeds := canonicalSeeds()
	seeds["good-transfer-payload"] = payloadOf(envelope.Certificate, certificateOf(ada, "ada").Raw())
	seeds["bad-big-number"] = []byte{0xc2, 0x41, 0x01}
	return seeds
}

// naiveEnvelope reads a COSE_Sign1 of this protocol by the book, from a general
// decoder's items: RFC 9052 §4.2 and the envelope chapter of the specification.
func naiveEnvelope(raw []byte) bool {
	sealed, err := cddl.Decode(raw)
	if err != nil || sealed.Major != cddl.Tag || sealed.Arg != 18 || sealed.Items[0].Major != cddl.Array {
		return false
	}
	parts := sealed.Items[0].Items
	if len(parts) != 4 || parts[0].Major != cddl.Bytes || parts[1].Major != cddl.Map ||
		parts[2].Major != cddl.Bytes || parts[3].Major != cddl.Bytes {
		return false
	}
	header, err := cddl.Decode(parts[0].Data)
	if err != nil || header.Major != cddl.Map || len(header.Items) != 4 {
		return false
	}
	algorithm, key := header.Items[:2], header.Items[2:]
	is := func(i cddl.Item, major cddl.Major, n uint64) bool { return i.Major == major && i.Arg == n }
	return is(algorithm[0], cddl.Uint, 1) && is(algorithm[1], cddl.Negative, 7) && // alg: EdDSA
		is(key[0], cddl.Uint, 4) && key[1].Major == cddl.Bytes && len(key[1].Data) == envelope.KeyIDSize &&
		len(parts[1].Items) == 0 && len(parts[2].Data) <= envelope.MaxPayload && len(parts[3].Data) == signature.SignatureSize
}

// FuzzEd25519: our verifier, a naive one that computes the rule of package
// signature with a general library, and the one of the standard library. Ours and
// the naive one always agree. The standard one has no cofactor and accepts other
// encodings of A, so of signatures under a good key it accepts those for which the
// equation holds without the cofactor, and whatever it accepts is accepted here.
//
//fuzz:of crypto/signature
func FuzzEd25519(f *testing.F) { targets["FuzzEd25519"].Fuzz(f) }

// torsion are the eight points of small order: multiples of one of order 8, whose
// encoding is from RFC 8032's curve: [L]P for a point P outside the subgroup.
var torsion = smallOrder()

func smallOrder() (points [8]*edwards25519.Point) {
	// A point with a component of order 8, found by trying y = 0, 1, 2…: [L]P
	// leaves only that component.
	var order edwards25519.Scalar
	_ = must(order.SetCanonicalBytes(lessOne()))
	for y := byte(0); ; y++ {
		p, err := new(edwards25519.Point).SetBytes(append([]byte{y}, make([]byte, 31)...))
		if err != nil {
			continue
		}
		t := new(edwards25519.Point).ScalarMult(&order, p) // [L-1]P
		t.Add(t, p)
		points[0] = edwards25519.NewIdentityPoint()
		for i := 1; i < 8; i++ {
			points[i] = new(edwards25519.Point).Add(points[i-1], t)
		}
		if points[4].Equal(points[0]) == 0 {
			return points
		}
	}
}

// lessOne is the order of the group less one: minus one, as a scalar.
func lessOne() []byte {
	one := must(edwards25519.NewScalar().SetCanonicalBytes(append([]byte{1}, make([]byte, 31)...)))
	return edwards25519.NewScalar().Negate(one).Bytes()
}

// checkEd25519: bytes 0 and 1 choose the small-order parts of A and R, byte 2 the
// secret scalar, 3 a place and 4 a change of the 64 bytes of the signature, 5 and 6
// the same of the key; the rest is the message. The scalars are small and the
// nonce is known: nothing of this is secret.
func checkEd25519(t require.TestingT, data []byte) bool {
	if len(data) < 7 {
		return false
	}
	message := data[7:]
	var a edwards25519.Point
	secret := scalarOf(data[2])
	a.Add(baseTimes(data[2]), torsion[data[0]%8])
	encoded := a.Bytes()
	encoded[data[5]%32] ^= data[6]
	nonce := scalarOf(data[2] ^ 0xff)
	var r edwards25519.Point
	r.Add(baseTimes(data[2]^0xff), torsion[data[1]%8])
	sig := r.Bytes()
	k := challengeOf(sig, encoded, message)
	sig = append(sig, edwards25519.NewScalar().MultiplyAdd(k, secret, nonce).Bytes()...)
	sig[data[3]%64] ^= data[4]
	return agree(t, encoded, sig, message)
}

// multiples are those of the base point by a byte that were computed already.
var multiples [256]atomic.Pointer[edwards25519.Point]

func baseTimes(b byte) *edwards25519.Point {
	if p := multiples[b].Load(); p != nil {
		return p
	}
	p := new(edwards25519.Point).ScalarBaseMult(scalarOf(b))
	multiples[b].Store(p)
	return p
}

func scalarOf(b byte) *edwards25519.Scalar {
	return must(edwards25519.NewScalar().SetCanonicalBytes(append([]byte{b}, make([]byte, 31)...)))
}

func challengeOf(r, key, message []byte) *edwards25519.Scalar {
	digest := sha512.Sum512(bytes.Join([][]byte{r, key, message}, nil))
	return must(edwards25519.NewScalar().SetUniformBytes(digest[:]))
}

// agree checks one signature with all verifiers.
func agree(t require.TestingT, encoded, sig, message []byte) bool {
	standard := ed25519.Verify(encoded, message, sig)
	key, err := signature.ParsePublicKey(encoded)
	a, canonicalA := pointOf(encoded)
	good := canonicalA && new(edwards25519.Point).MultByCofactor(a).Equal(edwards25519.NewIdentityPoint()) == 0
	require.Equal(t, good, err == nil, "which keys are good")
	if !good {
		return false
	}
	withCofactor, without := naiveVerify(a, encoded, sig, message)
	times := 1
	if len(message)%4 == 3 { // as in most seeds: the third one is computed with a table
		times = 3
	}
	for range times {
		require.Equal(t, withCofactor, key.Verify(message, sig) == nil, "our rule")
	}
	require.Equal(t, without, standard, "the standard library's rule")
	require.True(t, withCofactor || !standard, "refused only here")
	return withCofactor
}

// pointOf decodes a point in its only canonical encoding.
func pointOf(encoded []byte) (*edwards25519.Point, bool) {
	p, err := new(edwards25519.Point).SetBytes(encoded)
	return p, err == nil && bytes.Equal(p.Bytes(), encoded)
}

// naiveVerify is [8]([S]B - [k]A - R) = 0, and the same without the cofactor.
func naiveVerify(a *edwards25519.Point, encoded, sig, message []byte) (withCofactor, without bool) {
	r, ok := pointOf(sig[:32])
	s, err := edwards25519.NewScalar().SetCanonicalBytes(sig[32:])
	if !ok || err != nil {
		return false, false
	}
	left := new(edwards25519.Point).ScalarBaseMult(s)
	left.Subtract(left, new(edwards25519.Point).ScalarMult(challengeOf(sig[:32], encoded, message), a))
	left.Subtract(left, r)
	zero := edwards25519.NewIdentityPoint()
	return new(edwards25519.Point).MultByCofactor(left).Equal(zero) == 1, left.Equal(zero) == 1
}

func ed25519Seeds() map[string][]byte {
	with := func(b ...byte) []byte { return append(b, "message"...) }
	return map[string][]byte{
		"good-usual":         with(0, 0, 5, 0, 0, 0, 0),
		"good-mixed-key":     with(1, 0, 5, 0, 0, 0, 0),
		"good-mixed-nonce":   with(0, 3, 5, 0, 0, 0, 0),
		"good-mixed-both":    with(7, 2, 9, 0, 0, 0, 0),
		"good-no-message":    {0, 0, 200, 0, 0, 0, 0},
		"bad-small-key":      with(1, 0, 0, 0, 0, 0, 0),
		"bad-identity":       with(0, 0, 0, 0, 0, 0, 0),
		"bad-altered-r":      with(0, 0, 5, 3, 1, 0, 0),
		"bad-altered-s":      with(0, 0, 5, 40, 1, 0, 0),
		"bad-s-too-large":    with(0, 0, 5, 63, 0xf0, 0, 0),
		"bad-altered-key":    with(0, 0, 5, 0, 0, 4, 4),
		"bad-r-of-nonce-255": with(0, 1, 0xff, 31, 0x80, 0, 0),
		"bad-short":          {1, 2, 3},
	}
}
