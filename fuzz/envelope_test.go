package fuzz

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/fuzz/corpus"
)

// FuzzCanonical: the strict CBOR check, and decoding into whatever it is.
//
//fuzz:of crypto/canonical crypto/envelope internal/cddl
func FuzzCanonical(f *testing.F) { targets["FuzzCanonical"].Fuzz(f) }

var generous = canonical.Limits{MaxBytes: 64 << 10, MaxDepth: 16, MaxItems: 4096}

func checkCanonical(t require.TestingT, data []byte) bool {
	checked := canonical.Check(data, generous)
	var value any
	err := canonical.Unmarshal(data, &value, generous)
	if checked != nil {
		require.Equal(t, checked.Error(), err.Error(), "decoding is never more lenient than the check")
		return false
	}
	if err != nil {
		// Deterministic, but Go has no value for it: a map in a key, a number
		// below those of int64.
		isOneOf(t, err, canonical.ErrType)
		return true
	}
	again, err := canonical.Marshal(value)
	require.NoError(t, err)
	require.Equal(t, data, again)
	return true
}

func canonicalSeeds() map[string][]byte {
	return map[string][]byte{
		"good-zero":          {0x00},
		"good-numbers":       {0x85, 0x17, 0x18, 0x18, 0x19, 0x01, 0x00, 0x1a, 0x00, 0x01, 0x00, 0x00, 0x1b, 0, 0, 0, 1, 0, 0, 0, 0},
		"good-negative":      {0x82, 0x20, 0x3b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		"good-strings":       {0x82, 0x43, 1, 2, 3, 0x62, 0xc3, 0xa9},
		"good-map":           {0xa3, 0x01, 0xf4, 0x20, 0xf5, 0x61, 'a', 0xf6},
		"good-map-in-a-key":  {0xa1, 0xa1, 0x01, 0x02, 0x03},
		"good-nested":        {0x81, 0x81, 0x81, 0x81, 0xa0},
		"bad-empty":          {},
		"bad-trailing":       {0x00, 0x00},
		"bad-truncated":      {0x43, 0x01},
		"bad-not-shortest":   {0x18, 0x17},
		"bad-indefinite":     {0x9f, 0xff},
		"bad-unsorted":       {0xa2, 0x02, 0x00, 0x01, 0x00},
		"bad-twice":          {0xa2, 0x01, 0x00, 0x01, 0x00},
		"bad-utf8":           {0x61, 0xff},
		"bad-tag":            {0xc0, 0x00},
		"bad-float":          {0xf9, 0x00, 0x00},
		"bad-undefined":      {0xf7},
		"bad-simple":         {0xe0},
		"bad-large-array":    {0x9a, 0xff, 0xff, 0xff, 0xff},
		"bad-nested-deeply":  {0x81, 0x81, 0x81, 0x81, 0x81, 0x81, 0x81, 0x81, 0x81, 0x81, 0x81, 0x81, 0x81, 0x81, 0x81, 0x81, 0x81, 0x00},
		"bad-reserved-heads": {0x1c},
	}
}

// FuzzEnvelope: the parser of COSE_Sign1.
//
//fuzz:of crypto/canonical crypto/envelope internal/cddl
func FuzzEnvelope(f *testing.F) { targets["FuzzEnvelope"].Fuzz(f) }

// sign1 is the envelope as RFC 9052 has it, for the general encoder.
type sign1 struct {
	_           struct{} `cbor:",toarray"`
	Protected   []byte
	Unprotected map[int]int
	Payload     []byte
	Signature   []byte
}

type protected struct {
	Algorithm int      `cbor:"1,keyasint"`
	KeyID     [16]byte `cbor:"4,keyasint"`
}

func checkEnvelope(t require.TestingT, raw []byte) bool {
	d := envelope.Domain{Version: 1, Group: group, Kind: envelope.Transfer}
	u, err := envelope.Parse(d, raw)
	require.Equal(t, naiveEnvelope(raw), err == nil, "a naive reader of the specification does not agree")
	if err != nil {
		isOneOf(t, err, envelope.ErrTag, envelope.ErrHeader, envelope.ErrPayload, envelope.ErrTooLarge,
			envelope.ErrTruncated, envelope.ErrTrailing, envelope.ErrSignatureSize)
		return false
	}
	require.Equal(t, raw, u.Raw())
	header, err := canonical.Marshal(protected{Algorithm: -8, KeyID: u.KeyID()})
	require.NoError(t, err)
	again, err := canonical.Marshal(sign1{
		Protected: header, Payload: u.Payload(), Signature: raw[len(raw)-64:],
	})
	require.NoError(t, err)
	require.Equal(t, raw, append([]byte{0xd2}, again...))
	v, err := u.Verify(ada.Public())
	if err == nil {
		require.Equal(t, u.Hash(), v.Hash())
		resigned, err := envelope.Sign(d, u.KeyID(), u.Payload(), ada)
		require.NoError(t, err)
		require.Equal(t, u.Hash(), resigned.Hash())
	}
	return true
}

func envelopeSeeds() map[string][]byte {
	const head = "\xd2\x84\x55\xa2\x01\x27\x04\x500123456789abcdef"
	tail := "\x58\x40" + strings.Repeat("s", 64)
	_, transfer, void := tokenObjects()
	seeds := map[string][]byte{
		"good-transfer":      transfer.Raw(),
		"good-other-kind":    void.Raw(),
		"good-by-hand":       []byte(head + "\xa0\x41p" + tail),
		"good-empty":         seal(envelope.Transfer, adaID, nil, ada),
		"good-23-bytes":      seal(envelope.Transfer, adaID, make([]byte, 23), ada),
		"good-24-bytes":      seal(envelope.Transfer, adaID, make([]byte, 24), ada),
		"good-256-bytes":     seal(envelope.Transfer, adaID, make([]byte, 256), ada),
		"bad-empty":          {},
		"bad-tag":            {0xd3, 0x84},
		"bad-header":         []byte("\xd2\x84\x55\xa2\x01\x26\x04\x50"),
		"bad-no-signature":   transfer.Raw()[:len(transfer.Raw())-66],
		"bad-large-payload":  []byte(head + "\xa0\x59\x40\x01" + strings.Repeat("p", envelope.MaxPayload+1) + tail),
		"bad-long-head":      []byte(head + "\xa0\x58\x01p" + tail),
		"bad-longer-head":    []byte(head + "\xa0\x59\x00\x20" + strings.Repeat("p", 32) + tail),
		"bad-unprotected-it": []byte(head + "\xa1\x01\x01\x41p" + tail),
	}
	corpus.Spoil(seeds, "good-transfer")
	return seeds
}
