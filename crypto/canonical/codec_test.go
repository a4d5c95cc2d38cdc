package canonical_test

import (
	"bytes"
	"encoding"
	"encoding/hex"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/crypto/canonical"
)

// id is an identifier as the protocol has them: bytes on the wire, hex in text.
type id [4]byte

func (i id) MarshalText() ([]byte, error)    { return []byte(hex.EncodeToString(i[:])), nil }
func (i *id) UnmarshalText(b []byte) error   { _, err := hex.Decode(i[:], b); return err }
func (i id) MarshalBinary() ([]byte, error)  { return []byte("binary"), nil }
func (i *id) UnmarshalBinary(b []byte) error { copy(i[:], "xxxx"); return nil }

var (
	_ encoding.TextUnmarshaler   = (*id)(nil)
	_ encoding.BinaryUnmarshaler = (*id)(nil)
)

// object has a field of each form that signed objects use.
type object struct {
	_          struct{} `cbor:",toarray"`
	Name       string
	Count      uint64
	From       id
	Previous   *id
	Data       []byte
	Peers      []id
	Deep       inner
	Extensions canonical.Extensions
}

type inner struct {
	Version uint64 `cbor:"1,keyasint"`
	Key     id     `cbor:"-1,keyasint"`
}

const (
	objectHex = "88 61 61 18 2a 44 01020304 f6 40 82 44 00000000 44 ffffffff a2 01 07 20 44 05060708 a0"
	nilHex    = "88 60 00 44 00000000 f6 40 80 a2 01 00 20 44 00000000 a0"
)

// Append is Marshal behind what is there already, and changes nothing when it
// fails.
func TestAppend(t *testing.T) {
	before := make([]byte, 3, 100)
	for _, v := range []any{uint64(7), "text", []any{1, "two"}, map[string]int{"b": 1, "a": 2}} {
		encoded, err := canonical.Marshal(v)
		require.NoError(t, err)
		longer, err := canonical.Append(before, v)
		require.NoError(t, err)
		assert.Equal(t, append(make([]byte, 3), encoded...), longer)
	}
	for _, v := range []any{1.5, canonical.Raw{0x18, 0x01}, func() {}} {
		same, err := canonical.Append(before, v)
		assert.Error(t, err)
		assert.Equal(t, before, same)
	}
}

func TestForms(t *testing.T) {
	o := object{
		Name: "a", Count: 42, From: id{1, 2, 3, 4}, Data: []byte{}, Peers: []id{{}, {255, 255, 255, 255}},
		Deep: inner{Version: 7, Key: id{5, 6, 7, 8}},
	}
	data, err := canonical.Marshal(o)
	require.NoError(t, err)
	assert.Equal(t, unhex(t, objectHex), data)
	var back object
	require.NoError(t, canonical.Unmarshal(data, &back, generous))
	assert.Equal(t, o, back)

	data, err = canonical.Marshal(object{})
	require.NoError(t, err)
	assert.Equal(t, unhex(t, nilHex), data, "nil slices and maps are empty, a nil pointer is null")
	require.NoError(t, canonical.Unmarshal(data, &back, generous))
}

// TestUnmarshal_Invalid_Refused alters one place of the object's encoding.
func TestUnmarshal_Invalid_Refused(t *testing.T) {
	for name, c := range map[string]struct {
		hex  string
		want error
	}{
		"array too short":    {"87 60 00 44 00000000 f6 40 80 a2 01 00 20 44 00000000", canonical.ErrType},
		"array too long":     {"89 60 00 44 00000000 f6 40 80 a2 01 00 20 44 00000000 a0 00", canonical.ErrType},
		"a map":              {"a0", canonical.ErrType},
		"null for all":       {"f6", canonical.ErrNotCanonical},
		"bytes for text":     {"88 40 00 44 00000000 f6 40 80 a2 01 00 20 44 00000000 a0", canonical.ErrType},
		"null for text":      {"88 f6 00 44 00000000 f6 40 80 a2 01 00 20 44 00000000 a0", canonical.ErrNotCanonical},
		"null for bytes":     {"88 60 00 44 00000000 f6 f6 80 a2 01 00 20 44 00000000 a0", canonical.ErrNotCanonical},
		"null for an array":  {"88 60 00 44 00000000 f6 40 f6 a2 01 00 20 44 00000000 a0", canonical.ErrNotCanonical},
		"negative count":     {"88 60 20 44 00000000 f6 40 80 a2 01 00 20 44 00000000 a0", canonical.ErrType},
		"true for count":     {"88 60 f5 44 00000000 f6 40 80 a2 01 00 20 44 00000000 a0", canonical.ErrType},
		"id too short":       {"88 60 00 43 000000 f6 40 80 a2 01 00 20 44 00000000 a0", canonical.ErrNotCanonical},
		"id too long":        {"88 60 00 45 0000000000 f6 40 80 a2 01 00 20 44 00000000 a0", canonical.ErrNotCanonical},
		"id as text":         {"88 60 00 68 3030303030303030 f6 40 80 a2 01 00 20 44 00000000 a0", canonical.ErrType},
		"id as array":        {"88 60 00 84 00000000 f6 40 80 a2 01 00 20 44 00000000 a0", canonical.ErrNotCanonical},
		"null for an id":     {"88 60 00 f6 f6 40 80 a2 01 00 20 44 00000000 a0", canonical.ErrNotCanonical},
		"pointer wrong size": {"88 60 00 44 00000000 43 000000 40 80 a2 01 00 20 44 00000000 a0", canonical.ErrNotCanonical},
		"unknown map key":    {"88 60 00 44 00000000 f6 40 80 a3 01 00 02 00 20 44 00000000 a0", canonical.ErrType},
		"missing map key":    {"88 60 00 44 00000000 f6 40 80 a1 01 00 a0", canonical.ErrNotCanonical},
		"text map key":       {"88 60 00 44 00000000 f6 40 80 a2 20 44 00000000 61 31 00 a0", canonical.ErrType},
		"null extensions":    {"88 60 00 44 00000000 f6 40 80 a2 01 00 20 44 00000000 f6", canonical.ErrNotCanonical},
		"array extensions":   {"88 60 00 44 00000000 f6 40 80 a2 01 00 20 44 00000000 80", canonical.ErrType},
		"critical extension": {"88 60 00 44 00000000 f6 40 80 a2 01 00 20 44 00000000 a1 02 00", canonical.ErrExtension},
		"trailing":           {objectHex + "00", canonical.ErrTrailing},
		"not checked first":  {"88 60 1800 44 00000000 f6 40 80 a2 01 00 20 44 00000000 a0", canonical.ErrNotShortest},
	} {
		t.Run(name, func(t *testing.T) {
			var o object
			assert.ErrorIs(t, canonical.Unmarshal(unhex(t, c.hex), &o, generous), c.want)
		})
	}
}

// TestUsedDestination: what was in the destination before cannot make up for
// what the bytes lack.
func TestUsedDestination(t *testing.T) {
	o := inner{Version: 9, Key: id{1}}
	assert.ErrorIs(t, canonical.Unmarshal(unhex(t, "a1 01 00"), &o, generous), canonical.ErrNotCanonical)
}

func TestMarshal_Invalid_Refused(t *testing.T) {
	for name, c := range map[string]struct {
		v    any
		want error
	}{
		"float":         {1.5, canonical.ErrType},
		"whole float":   {float32(1), canonical.ErrType},
		"not utf-8":     {"\xff", canonical.ErrUTF8},
		"raw not short": {canonical.Raw{0x18, 0x01}, canonical.ErrNotShortest},
		"raw tag":       {canonical.Raw{0xc0, 0x00}, canonical.ErrType},
		"raw two items": {[]canonical.Raw{{0x00, 0x00}}, canonical.ErrType},
		"channel":       {make(chan int), canonical.ErrType},
		"too deep":      {nested(33), canonical.ErrTooDeep},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := canonical.Marshal(c.v)
			assert.ErrorIs(t, err, c.want)
		})
	}
}

func nested(depth int) any {
	var v any = []any{}
	for range depth - 1 {
		v = []any{v}
	}
	return v
}

// TestRoundTrip: what Marshal makes, Check and Unmarshal accept, and what
// Unmarshal accepts, Marshal makes.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := object{
			Name:  rapid.String().Draw(t, "name"),
			Count: rapid.Uint64().Draw(t, "count"),
			From:  id(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "from")),
			Data:  rapid.SliceOf(rapid.Byte()).Draw(t, "data"),
			Deep:  inner{Version: rapid.Uint64().Draw(t, "version")},
		}
		if rapid.Bool().Draw(t, "previous") {
			o.Previous = &id{9}
		}
		for range rapid.IntRange(0, 3).Draw(t, "peers") {
			o.Peers = append(o.Peers, id{7})
		}
		data, err := canonical.Marshal(&o)
		require.NoError(t, err)
		var back object
		require.NoError(t, canonical.Unmarshal(data, &back, generous))
		data = damage(t, data)
		if canonical.Unmarshal(data, &back, generous) == nil {
			again, err := canonical.Marshal(back)
			require.NoError(t, err)
			assert.Equal(t, data, again)
		}
	})
}

// TestExtensions_With_LikeAMap builds extensions in any order, with keys that come again:
// they are what the library makes of a map, and what they were made from is unchanged.
func TestExtensions_With_LikeAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, model := canonical.Extensions{}, map[uint64]canonical.Raw{}
		keys := rapid.SliceOfN(rapid.OneOf(rapid.Uint64Range(0, 3), rapid.Uint64Max(math.MaxUint64>>1)), 0, canonical.MaxExtensions)
		for _, n := range keys.Draw(t, "keys") {
			key, value := 2*n+1, rapid.SampledFrom([]canonical.Raw{{0x00}, {0x18, 200}, {0x82, 0x01, 0x41, 0x00}}).Draw(t, "value")
			before, had := bytes.Clone(must(canonical.Marshal(e))), e.Get(key)
			assert.Equal(t, model[key], had)
			with := e.With(key, value)
			assert.Equal(t, before, must(canonical.Marshal(e)))
			e, model[key] = with, value
			assert.Equal(t, value, e.Get(key))
		}
		assert.Equal(t, len(model), e.Len())
		assert.Equal(t, must(canonical.Marshal(model)), must(canonical.Marshal(e)))
	})
}

func TestExtensions(t *testing.T) {
	full := canonical.Extensions{}
	for i := range uint64(canonical.MaxExtensions) {
		full = full.With(math.MaxUint64-2*i, append(canonical.Raw{0x58, 254}, make([]byte, 254)...))
	}
	tooMany := canonical.Extensions{}
	for i := range uint64(canonical.MaxExtensions + 1) {
		tooMany = tooMany.With(2*i+1, canonical.Raw{0x00})
	}
	for name, c := range map[string]struct {
		e    canonical.Extensions
		want error
	}{
		"empty":         {canonical.Extensions{}, nil},
		"odd":           {canonical.Extensions{}.With(1, canonical.Raw{0x00}).With(3, canonical.Raw{0xf6}), nil},
		"full":          {full, nil},
		"even":          {canonical.Extensions{}.With(2, canonical.Raw{0x00}), canonical.ErrExtension},
		"zero":          {canonical.Extensions{}.With(0, canonical.Raw{0x00}), canonical.ErrExtension},
		"too many":      {tooMany, canonical.ErrTooMany},
		"too large":     {canonical.Extensions{}.With(1, append(canonical.Raw{0x59, 1, 0}, make([]byte, 256)...)), canonical.ErrTooLarge},
		"not canonical": {canonical.Extensions{}.With(1, canonical.Raw{0x18, 0x00}), canonical.ErrNotShortest},
		"no value":      {canonical.Extensions{}.With(1, canonical.Raw{}), canonical.ErrTruncated},
	} {
		t.Run(name, func(t *testing.T) {
			assertIs(t, c.e.Validate(), c.want)
			data, err := canonical.Marshal(c.e)
			assertIs(t, err, c.want)
			if c.want != nil {
				return
			}
			var back canonical.Extensions
			require.NoError(t, canonical.Unmarshal(data, &back, generous))
			if c.e.Len() == 0 {
				assert.Equal(t, []byte{0xa0}, data)
				assert.Zero(t, back)
				return
			}
			assert.Equal(t, c.e, back)
		})
	}
	for name, c := range map[string]struct {
		hex  string
		want error
	}{
		"even":      {"a1 02 00", canonical.ErrExtension},
		"negative":  {"a1 20 00", canonical.ErrType},
		"text key":  {"a1 61 61 00", canonical.ErrType},
		"too many":  {"a9 01 00 03 00 05 00 07 00 09 00 0b 00 0d 00 0f 00 11 00", canonical.ErrTooMany},
		"too large": {"a1 01 59 0100" + hex.EncodeToString(make([]byte, 256)), canonical.ErrTooLarge},
	} {
		t.Run("decode "+name, func(t *testing.T) {
			var e canonical.Extensions
			assert.ErrorIs(t, canonical.Unmarshal(unhex(t, c.hex), &e, generous), c.want)
			assert.ErrorIs(t, e.UnmarshalCBOR(unhex(t, c.hex)), c.want, "whatever decodes it")
		})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
