package envelope_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/veraison/go-cose"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
)

// firstKind and lastKind are the ends of the known kinds.
const firstKind, lastKind = envelope.Certificate, envelope.GateAnswer

// headEnds are the numbers around which a head changes its size.
var headEnds = []uint64{0, 23, 24, 1<<8 - 1, 1 << 8, 1<<16 - 1, 1 << 16, 1<<32 - 1, 1 << 32, math.MaxUint64}

func drawDomain(t *rapid.T) envelope.Domain {
	return envelope.Domain{
		Version: rapid.OneOf(rapid.SampledFrom(headEnds), rapid.Uint64()).Draw(t, "version"),
		Group:   [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "group")),
		Kind:    envelope.Kind(rapid.Uint8Range(uint8(firstKind), uint8(lastKind)).Draw(t, "kind")),
	}
}

func drawKey(t *rapid.T) *signature.PrivateKey {
	key, err := signature.NewPrivateKey(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "seed"))
	require.NoError(t, err)
	return key
}

func drawKID(t *rapid.T) [envelope.KeyIDSize]byte {
	return [envelope.KeyIDSize]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "kid"))
}

// drawPayload favours the lengths around which the head changes its size.
func drawPayload(t *rapid.T) []byte {
	size := rapid.OneOf(
		rapid.SampledFrom([]int{0, 1, 23, 24, 255, 256, envelope.MaxPayload}), rapid.IntRange(0, 400),
	).Draw(t, "size")
	payload := make([]byte, size)
	for i := range payload {
		payload[i] = byte(i * 7)
	}
	return payload
}

// externalAAD is external_aad as another encoder makes it.
func externalAAD(t require.TestingT, d envelope.Domain) []byte {
	mode, err := cbor.CoreDetEncOptions().EncMode()
	require.NoError(t, err)
	aad, err := mode.Marshal([]any{"wander", d.Version, d.Group[:], d.Kind.String()})
	require.NoError(t, err)
	return aad
}

// TestSign_OtherLibrary_Verifies hands our envelopes to an independent COSE
// implementation.
func TestSign_OtherLibrary_Verifies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, key, kid, payload := drawDomain(t), drawKey(t), drawKID(t), drawPayload(t)
		ours, err := envelope.Sign(d, kid, payload, key)
		require.NoError(t, err)

		var theirs cose.Sign1Message
		require.NoError(t, theirs.UnmarshalCBOR(ours.Raw()))
		verifier, err := cose.NewVerifier(cose.AlgorithmEdDSA, key.StdKey().Public())
		require.NoError(t, err)
		require.NoError(t, theirs.Verify(externalAAD(t, d), verifier))
		assert.Error(t, theirs.Verify(nil, verifier))
		assert.True(t, bytes.Equal(payload, theirs.Payload))
		assert.Equal(t, kid[:], theirs.Headers.Protected[cose.HeaderLabelKeyID])
		assert.Empty(t, theirs.Headers.Unprotected)
	})
}

// TestParse_OtherLibrary_Verified reads what the independent implementation signs; and
// as nothing is left to choose, it signs the very same bytes.
func TestParse_OtherLibrary_Verified(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, key, kid, payload := drawDomain(t), drawKey(t), drawKID(t), drawPayload(t)
		theirs := cose.NewSign1Message()
		theirs.Headers.Protected.SetAlgorithm(cose.AlgorithmEdDSA)
		theirs.Headers.Protected[cose.HeaderLabelKeyID] = kid[:]
		theirs.Payload = payload
		signer, err := cose.NewSigner(cose.AlgorithmEdDSA, key.StdKey())
		require.NoError(t, err)
		require.NoError(t, theirs.Sign(nil, externalAAD(t, d), signer))
		raw, err := theirs.MarshalCBOR()
		require.NoError(t, err)

		unverified, err := envelope.Parse(d, raw)
		require.NoError(t, err)
		verified, err := unverified.Verify(key.Public())
		require.NoError(t, err)
		assert.Equal(t, kid, verified.KeyID())
		assert.True(t, bytes.Equal(payload, verified.Payload()))
		assert.Equal(t, d, verified.Domain())

		ours, err := envelope.Sign(d, kid, payload, key)
		require.NoError(t, err)
		assert.Equal(t, raw, ours.Raw())
		assert.Equal(t, ours, verified)
	})
}

// TestHash computes H(x) with another encoder.
func TestHash(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, key, kid, payload := drawDomain(t), drawKey(t), drawKID(t), drawPayload(t)
		v, err := envelope.Sign(d, kid, payload, key)
		require.NoError(t, err)
		mode, err := cbor.CoreDetEncOptions().EncMode()
		require.NoError(t, err)
		protected, err := mode.Marshal(map[int]any{1: -8, 4: kid[:]})
		require.NoError(t, err)
		tbs, err := mode.Marshal([]any{"Signature1", protected, externalAAD(t, d), payload})
		require.NoError(t, err)
		assert.Equal(t, sha256.Sum256(tbs), v.Hash())
		u, err := envelope.Parse(d, v.Raw())
		require.NoError(t, err)
		assert.Equal(t, v.Hash(), u.Hash())
	})
}

// TestDomains: under any other domain, or by any other key, the same bytes
// hold for nothing.
func TestDomains(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, key := drawDomain(t), drawKey(t)
		v, err := envelope.Sign(d, drawKID(t), drawPayload(t), key)
		require.NoError(t, err)
		other := d
		switch rapid.SampledFrom([]string{"version", "group", "kind"}).Draw(t, "other") {
		case "version":
			other.Version ^= 1 << rapid.IntRange(0, 63).Draw(t, "bit")
		case "group":
			other.Group[rapid.IntRange(0, 31).Draw(t, "byte")]++
		case "kind":
			other.Kind = d.Kind%lastKind + 1
		}
		u, err := envelope.Parse(other, v.Raw())
		require.NoError(t, err)
		assert.NotEqual(t, v.Hash(), u.Hash())
		_, err = u.Verify(key.Public())
		assert.ErrorIs(t, err, envelope.ErrSignature)
		assert.ErrorIs(t, err, signature.ErrMismatch)

		u, err = envelope.Parse(d, v.Raw())
		require.NoError(t, err)
		stranger, err := signature.NewPrivateKey(bytes.Repeat([]byte{0x5a}, 32))
		require.NoError(t, err)
		_, err = u.Verify(stranger.Public())
		assert.ErrorIs(t, err, envelope.ErrSignature)
	})
}

// example is one envelope to damage.
func example(t testing.TB, size int) (envelope.Domain, envelope.Verified, *signature.PrivateKey) {
	key, err := signature.NewPrivateKey(make([]byte, 32))
	require.NoError(t, err)
	d := envelope.Domain{Version: 1, Kind: envelope.Transfer}
	v, err := envelope.Sign(d, [16]byte{1, 2, 3}, make([]byte, size), key)
	require.NoError(t, err)
	return d, v, key
}

// TestVerify_AnyByteChanged_Refused alters each byte in turn.
func TestVerify_AnyByteChanged_Refused(t *testing.T) {
	d, v, key := example(t, 30)
	for i := range v.Raw() {
		raw := bytes.Clone(v.Raw())
		raw[i] ^= 1
		u, err := envelope.Parse(d, raw)
		if err != nil {
			continue
		}
		_, err = u.Verify(key.Public())
		assert.ErrorIs(t, err, envelope.ErrSignature, "byte %d", i)
	}
}

// TestParse_AnyCut_Truncated cuts after each byte.
func TestParse_AnyCut_Truncated(t *testing.T) {
	for _, size := range []int{0, 1, 2, 30, 300} {
		d, v, _ := example(t, size)
		for i := range v.Raw() {
			_, err := envelope.Parse(d, v.Raw()[:i])
			assert.ErrorIs(t, err, envelope.ErrTruncated, "%d of %d bytes", i, len(v.Raw()))
		}
	}
}

func TestParse_Invalid_Refused(t *testing.T) {
	d, v, _ := example(t, 30) // payload head at 25 (58 1e), signature head at 57
	set := func(at int, b ...byte) []byte {
		raw := bytes.Clone(v.Raw())
		copy(raw[at:], b)
		return raw
	}
	cut := func(from, to int, instead ...byte) []byte {
		return append(append(bytes.Clone(v.Raw()[:from]), instead...), v.Raw()[to:]...)
	}
	tooLarge := binary.BigEndian.AppendUint16([]byte{0x59}, envelope.MaxPayload+1)
	for name, c := range map[string]struct {
		raw  []byte
		want error
	}{
		"no tag":                 {v.Raw()[1:], envelope.ErrTag},
		"another tag":            {set(0, 0xd1), envelope.ErrTag},
		"tag in two bytes":       {cut(0, 1, 0xd8, 0x12), envelope.ErrTag},
		"array of 5":             {set(1, 0x85), envelope.ErrTag},
		"open array":             {set(1, 0x9f), envelope.ErrTag},
		"not cbor":               {[]byte("-----BEGIN WANDER"), envelope.ErrTag},
		"no protected header":    {cut(2, 24, 0x40), envelope.ErrHeader},
		"another algorithm":      {set(5, 0x26), envelope.ErrHeader},
		"no key id":              {cut(2, 24, 0x43, 0xa1, 0x01, 0x27), envelope.ErrHeader},
		"short key id":           {set(7, 0x4f), envelope.ErrHeader},
		"long form header":       {cut(2, 3, 0x58, 0x15), envelope.ErrHeader},
		"unprotected null":       {set(24, 0xf6), envelope.ErrHeader},
		"unprotected not empty":  {cut(24, 25, 0xa1, 0x00, 0x00), envelope.ErrHeader},
		"open unprotected":       {cut(24, 25, 0xbf, 0xff), envelope.ErrHeader},
		"detached payload":       {cut(25, 57, 0xf6), envelope.ErrPayload},
		"text payload":           {set(25, 0x78), envelope.ErrPayload},
		"open payload":           {set(25, 0x5f), envelope.ErrPayload},
		"payload head of 3":      {cut(25, 26, 0x59, 0x00), envelope.ErrPayload},
		"payload head of 5":      {cut(25, 26, 0x5a, 0x00, 0x00, 0x00), envelope.ErrPayload},
		"short in two bytes":     {cut(25, 57, 0x58, 0x01, 0x00), envelope.ErrPayload},
		"payload head of 5, 64":  {cut(25, 57, 0x5a, 0x00, 0x00, 0xff, 0xff), envelope.ErrPayload},
		"too large in 5":         {cut(25, 57, 0x5a, 0x00, 0x01, 0x00, 0x00), envelope.ErrPayload},
		"payload too large":      {append(cut(25, 121, tooLarge...), make([]byte, 2*envelope.MaxPayload)...), envelope.ErrTooLarge},
		"too large, not there":   {cut(25, 57, tooLarge...), envelope.ErrTooLarge},
		"signature not bytes":    {set(57, 0x78), envelope.ErrSignatureSize},
		"signature of 63":        {cut(58, 60, 63, 0), envelope.ErrSignatureSize},
		"signature open":         {set(57, 0x5f), envelope.ErrSignatureSize},
		"signature in long form": {cut(57, 59, 0x59, 0x00, 0x40), envelope.ErrSignatureSize},
		"trailing":               {append(bytes.Clone(v.Raw()), 0), envelope.ErrTrailing},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := envelope.Parse(d, c.raw)
			assert.ErrorIs(t, err, c.want)
		})
	}
}

// TestParse_OtherEncoding_Refused: what Parse accepts is also deterministic CBOR to the
// checker, and no other bytes.
func TestParse_OtherEncoding_Refused(t *testing.T) {
	d, v, _ := example(t, 30)
	limits := canonical.Limits{MaxBytes: envelope.MaxSize, MaxDepth: 2, MaxItems: 5}
	untagged := func(raw []byte) []byte { return bytes.TrimPrefix(raw, []byte{0xd2}) } // tag 18; Check refuses others
	require.NoError(t, canonical.Check(untagged(v.Raw()), limits))
	rapid.Check(t, func(t *rapid.T) {
		raw := bytes.Clone(v.Raw())
		for range rapid.IntRange(1, 3).Draw(t, "damages") {
			raw[rapid.IntRange(0, len(raw)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		if u, err := envelope.Parse(d, raw); err == nil {
			assert.NoError(t, canonical.Check(untagged(raw), limits))
			assert.Equal(t, raw, u.Raw())
		}
	})
}

func TestSizes(t *testing.T) {
	_, _, key := example(t, 1)
	for k := firstKind; k <= lastKind; k++ {
		most := envelope.MaxPayload
		if k == envelope.Configuration {
			most = envelope.MaxConfiguration
		}
		d := envelope.Domain{Version: 1, Kind: k}
		for _, size := range []int{23, 24, 255, 256, 1<<16 - 1, 1 << 16, most} {
			if size > most {
				continue
			}
			v, err := envelope.Sign(d, [16]byte{}, make([]byte, size), key)
			require.NoError(t, err)
			u, err := envelope.Parse(d, v.Raw())
			require.NoError(t, err, "%s of %d", k, size)
			assert.Len(t, u.Payload(), size)
			assert.LessOrEqual(t, len(v.Raw()), envelope.MaxSize)
			assert.Equal(t, k == envelope.Configuration && size == most, len(v.Raw()) == envelope.MaxSize)
		}
		_, err := envelope.Sign(d, [16]byte{}, make([]byte, most+1), key)
		assert.ErrorIs(t, err, envelope.ErrTooLarge)
	}
}

func TestParse_LongHeadOfConfiguration_Strict(t *testing.T) {
	_, v, _ := example(t, 1)
	d := envelope.Domain{Version: 1, Kind: envelope.Configuration}
	for name, c := range map[string]struct {
		head []byte
		want error
	}{
		"not shortest": {[]byte{0x5a, 0x00, 0x00, 0xff, 0xff}, envelope.ErrPayload},
		"not there":    {[]byte{0x5a, 0x00, 0x01, 0x00, 0x00}, envelope.ErrTruncated},
		"too large":    {[]byte{0x5a, 0x00, 0x04, 0x00, 0x01}, envelope.ErrTooLarge},
		"4 GiB":        {[]byte{0x5a, 0xff, 0xff, 0xff, 0xff}, envelope.ErrTooLarge},
		"in 9":         {[]byte{0x5b, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00}, envelope.ErrPayload},
	} {
		_, err := envelope.Parse(d, append(append(bytes.Clone(v.Raw()[:25]), c.head...), v.Raw()[26:]...))
		assert.ErrorIs(t, err, c.want, name)
	}
}

func TestKinds(t *testing.T) {
	_, v, key := example(t, 1)
	names := map[string]bool{}
	for k := firstKind; k <= lastKind; k++ {
		assert.Less(t, len(k.String()), 24, "the head of the name has one byte")
		names[k.String()] = true
	}
	assert.Len(t, names, int(lastKind), "all names differ")
	for _, k := range []envelope.Kind{0, lastKind + 1, 255} {
		assert.Contains(t, k.String(), "kind ")
		_, err := envelope.Parse(envelope.Domain{Kind: k}, v.Raw())
		assert.ErrorIs(t, err, envelope.ErrKind)
		_, err = envelope.Sign(envelope.Domain{Kind: k}, v.KeyID(), nil, key)
		assert.ErrorIs(t, err, envelope.ErrKind)
	}
}

// TestParse_Input_NotShared: an envelope is a copy of what it was made from, and its
// parts cannot grow into each other.
func TestParse_Input_NotShared(t *testing.T) {
	d, v, key := example(t, 30)
	raw := bytes.Clone(v.Raw())
	u, err := envelope.Parse(d, raw)
	require.NoError(t, err)
	clear(raw)
	again, err := u.Verify(key.Public())
	require.NoError(t, err)
	_ = append(again.Payload(), 0xff)
	_ = append(v.Payload(), 0xff)
	assert.Equal(t, v, again)
	payload := []byte{1}
	v, err = envelope.Sign(d, v.KeyID(), payload, key)
	require.NoError(t, err)
	payload[0] = 2
	assert.Equal(t, []byte{1}, v.Payload())
}

func TestZero(t *testing.T) {
	_, v, key := example(t, 0)
	assert.False(t, v.IsZero())
	assert.True(t, envelope.Verified{}.IsZero())
	assert.Zero(t, envelope.Verified{}.KeyID())
	_, err := envelope.Unverified{}.Verify(key.Public())
	assert.ErrorIs(t, err, envelope.ErrSignature)
}

// TestBatch wants from a batch what each envelope gets alone.
func TestBatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var batch envelope.Batch
		var want []envelope.Result
		for range rapid.IntRange(0, 8).Draw(t, "envelopes") {
			d, key := drawDomain(t), drawKey(t)
			v, err := envelope.Sign(d, drawKID(t), drawPayload(t), key)
			require.NoError(t, err)
			if rapid.Float64().Draw(t, "damage") > 0.8 {
				d.Version++
			}
			u, err := envelope.Parse(d, v.Raw())
			require.NoError(t, err)
			var r envelope.Result
			r.Verified, r.Err = u.Verify(key.Public())
			batch.Add(u, key.Public())
			want = append(want, r)
		}
		got := batch.Verify(nil)
		require.Len(t, got, len(want))
		for i := range want {
			assert.Equal(t, want[i].Verified, got[i].Verified)
			assert.Equal(t, want[i].Err == nil, got[i].Err == nil)
			if want[i].Err != nil {
				assert.ErrorIs(t, got[i].Err, envelope.ErrSignature)
				assert.True(t, got[i].Verified.IsZero())
			}
		}
	})
}
