package canonical_test

import (
	"bytes"
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/crypto/canonical"
)

// generous limits permit every input of these tests.
var generous = canonical.Limits{MaxBytes: 1 << 20, MaxDepth: 32, MaxItems: 1 << 20}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	require.NoError(t, err)
	return b
}

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		hex  string
		want error
	}{
		"zero":             {"00", nil},
		"largest uint":     {"1b ffffffffffffffff", nil},
		"most negative":    {"3b ffffffffffffffff", nil},
		"24":               {"18 18", nil},
		"256":              {"19 0100", nil},
		"65536":            {"1a 00010000", nil},
		"2^32":             {"1b 0000000100000000", nil},
		"empty bytes":      {"40", nil},
		"empty text":       {"60", nil},
		"text":             {"63 e282ac", nil},
		"empty array":      {"80", nil},
		"empty map":        {"a0", nil},
		"false true null":  {"83 f4 f5 f6", nil},
		"map":              {"a3 00 01 20 02 61 61 03", nil},
		"map by length":    {"a2 18 64 00 20 00", nil}, // 1864 < 20 bytewise
		"container keys":   {"a2 80 00 a0 00", nil},
		"nothing":          {"", canonical.ErrTruncated},
		"head cut":         {"19 01", canonical.ErrTruncated},
		"bytes cut":        {"42 00", canonical.ErrTruncated},
		"text cut":         {"61", canonical.ErrTruncated},
		"array cut":        {"82 00", canonical.ErrTruncated},
		"map cut":          {"a1 00", canonical.ErrTruncated},
		"huge bytes":       {"5b ffffffffffffffff", canonical.ErrTruncated},
		"huge array":       {"9b ffffffffffffffff", canonical.ErrTruncated},
		"huge map":         {"bb 8000000000000001", canonical.ErrTruncated},
		"two items":        {"00 00", canonical.ErrTrailing},
		"open bytes":       {"5f 41 00 ff", canonical.ErrIndefinite},
		"open text":        {"7f ff", canonical.ErrIndefinite},
		"open array":       {"9f ff", canonical.ErrIndefinite},
		"open map":         {"bf ff", canonical.ErrIndefinite},
		"break":            {"ff", canonical.ErrIndefinite},
		"break inside":     {"82 00 ff", canonical.ErrIndefinite},
		"1 in two bytes":   {"18 01", canonical.ErrNotShortest},
		"23 in two bytes":  {"18 17", canonical.ErrNotShortest},
		"255 in three":     {"19 00ff", canonical.ErrNotShortest},
		"65535 in five":    {"1a 0000ffff", canonical.ErrNotShortest},
		"2^32-1 in nine":   {"1b 00000000ffffffff", canonical.ErrNotShortest},
		"long -1":          {"38 00", canonical.ErrNotShortest},
		"long bytes head":  {"58 01 00", canonical.ErrNotShortest},
		"long text head":   {"78 01 61", canonical.ErrNotShortest},
		"long array head":  {"98 01 00", canonical.ErrNotShortest},
		"long map head":    {"b8 01 00 00", canonical.ErrNotShortest},
		"keys descending":  {"a2 01 00 00 00", canonical.ErrUnsorted},
		"key twice":        {"a2 01 00 01 00", canonical.ErrUnsorted},
		"-1 before 100":    {"a2 20 00 18 64 00", canonical.ErrUnsorted},
		"unsorted inside":  {"81 a2 01 00 00 00", canonical.ErrUnsorted},
		"bad utf-8":        {"62 c328", canonical.ErrUTF8},
		"cut utf-8":        {"62 e282", canonical.ErrUTF8},
		"surrogate":        {"63 eda080", canonical.ErrUTF8},
		"bad utf-8 as key": {"a1 61 ff 00", canonical.ErrUTF8},
		"tag":              {"c0 00", canonical.ErrTag},
		"long tag":         {"d8 20 60", canonical.ErrTag},
		"tag inside":       {"81 c1 00", canonical.ErrTag},
		"tagged key":       {"a1 c1 00 00", canonical.ErrTag},
		"half float":       {"f9 0000", canonical.ErrType},
		"float":            {"fa 00000000", canonical.ErrType},
		"double":           {"fb 0000000000000000", canonical.ErrType},
		"undefined":        {"f7", canonical.ErrType},
		"simple 0":         {"e0", canonical.ErrType},
		"simple 255":       {"f8 ff", canonical.ErrType},
		"reserved head":    {"1c", canonical.ErrType},
		"open integer":     {"1f", canonical.ErrType},
		"open tag":         {"df", canonical.ErrType},
	} {
		t.Run(name, func(t *testing.T) {
			assertIs(t, canonical.Check(unhex(t, c.hex), generous), c.want)
		})
	}
}

func assertIs(t assert.TestingT, err, want error) {
	if want == nil {
		assert.NoError(t, err)
		return
	}
	assert.ErrorIs(t, err, want)
}

// TestCheck_DeepNesting_Refused: no limit of a caller lets a nest of arrays use up
// the stack.
func TestCheck_DeepNesting_Refused(t *testing.T) {
	endless := canonical.Limits{MaxBytes: math.MaxInt, MaxDepth: math.MaxInt, MaxItems: math.MaxInt}
	nest := bytes.Repeat([]byte{0x81}, 1<<20)
	assert.ErrorIs(t, canonical.Check(nest, endless), canonical.ErrTooDeep)
	nest = append(nest[:32:32], 0x00)
	assert.NoError(t, canonical.Check(nest, endless))
	assert.ErrorIs(t, canonical.Check(append(nest[:32:32], 0x80), endless), canonical.ErrTooDeep)
}

// TestLimits_Boundary_Exact draws a value, knows what it needs, and takes away one of
// each.
func TestLimits_Boundary_Exact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawValue(t, 4)
		data := reference(t, v)
		items, depth := measure(v)
		exact := canonical.Limits{MaxBytes: len(data), MaxDepth: depth, MaxItems: items}
		require.NoError(t, canonical.Check(data, exact))

		less := exact
		less.MaxBytes--
		assert.ErrorIs(t, canonical.Check(data, less), canonical.ErrTooLarge)
		less = exact
		less.MaxItems--
		assert.ErrorIs(t, canonical.Check(data, less), canonical.ErrTooMany)
		less = exact
		if less.MaxDepth--; depth > 0 {
			assert.ErrorIs(t, canonical.Check(data, less), canonical.ErrTooDeep)
		}
	})
}

// measure counts items and nesting.
func measure(v any) (items, depth int) {
	items = 1
	count := func(child any) {
		i, d := measure(child)
		items, depth = items+i, max(depth, d)
	}
	switch v := v.(type) {
	case []any:
		for _, child := range v {
			count(child)
		}
		depth++
	case map[any]any:
		for key, child := range v {
			count(key)
			count(child)
		}
		depth++
	}
	return items, depth
}

// drawValue draws anything that the codec permits.
func drawValue(t *rapid.T, depth int) any {
	kinds := []string{"uint", "negative", "bytes", "text", "simple", "array", "map"}
	if depth == 0 {
		kinds = kinds[:5]
	}
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "uint":
		return rapid.Uint64().Draw(t, "uint")
	case "negative":
		return -rapid.Int64Range(1, math.MaxInt64).Draw(t, "negative")
	case "bytes":
		return cbor.ByteString(rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "bytes"))
	case "text":
		return rapid.StringN(0, 80, 300).Draw(t, "text")
	case "simple":
		return rapid.SampledFrom([]any{nil, false, true}).Draw(t, "simple")
	case "array":
		array := make([]any, rapid.IntRange(0, 5).Draw(t, "length"))
		for i := range array {
			array[i] = drawValue(t, depth-1)
		}
		return array
	}
	pairs := map[any]any{}
	for range rapid.IntRange(0, 5).Draw(t, "pairs") {
		pairs[drawValue(t, 0)] = drawValue(t, depth-1)
	}
	return pairs
}

// reference is the other library's core deterministic encoding.
func reference(t require.TestingT, v any) []byte {
	mode, err := cbor.CoreDetEncOptions().EncMode()
	require.NoError(t, err)
	data, err := mode.Marshal(v)
	require.NoError(t, err)
	return data
}

// acceptable is the same question asked another way: does the decoder, at its
// strictest, make a value of data that encodes as data? ok is false where it
// cannot say, for map keys that are no Go map keys.
func acceptable(t require.TestingT, data []byte) (yes, ok bool) {
	simple, err := cbor.NewSimpleValueRegistryFromDefaults(rejectSimple()...)
	require.NoError(t, err)
	mode, err := cbor.DecOptions{
		DupMapKey: cbor.DupMapKeyEnforcedAPF, IndefLength: cbor.IndefLengthForbidden,
		TagsMd: cbor.TagsForbidden, UTF8: cbor.UTF8RejectInvalid, MaxNestedLevels: 32,
		MapKeyByteString: cbor.MapKeyByteStringAllowed, SimpleValues: simple,
	}.DecMode()
	require.NoError(t, err)
	var v any
	if err := mode.Unmarshal(data, &v); err != nil {
		var key *cbor.InvalidMapKeyTypeError
		return false, !assert.ErrorAs(silent{}, err, &key)
	}
	return !hasFloat(v) && bytes.Equal(reference(t, v), data), true
}

// silent lets a condition be asked without failing the test.
type silent struct{}

func (silent) Errorf(string, ...any) {}

func rejectSimple() (options []func(*cbor.SimpleValueRegistry) error) {
	for v := range 256 {
		if (v < 20 || v > 22) && (v < 24 || v > 31) {
			options = append(options, cbor.WithRejectedSimpleValue(cbor.SimpleValue(v)))
		}
	}
	return options
}

func hasFloat(v any) bool {
	switch v := v.(type) {
	case float64:
		return true
	case []any:
		for _, child := range v {
			if hasFloat(child) {
				return true
			}
		}
	case map[any]any:
		for key, child := range v {
			if hasFloat(key) || hasFloat(child) {
				return true
			}
		}
	}
	return false
}

// TestCheck_AnyBytes_AgreesWithDecoder damages good encodings here and there, and makes
// bytes up, and compares the check with the decoder.
func TestCheck_AnyBytes_AgreesWithDecoder(t *testing.T) {
	verdicts := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		var data []byte
		if rapid.Bool().Draw(t, "made up") {
			data = rapid.SliceOfN(rapid.SampledFrom(heads), 1, 12).Draw(t, "bytes")
		} else {
			data = damage(t, reference(t, drawValue(t, 3)))
		}
		if yes, ok := acceptable(t, data); ok {
			err := canonical.Check(data, generous)
			assert.Equal(t, yes, err == nil, "%x: %v", data, err)
			verdicts[yes]++
		}
	})
	assert.NotZero(t, verdicts[true])
	assert.NotZero(t, verdicts[false])
}

// heads are bytes with which an item can begin, each form at least once.
var heads = []byte{
	0x00, 0x01, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x20, 0x38, 0x40, 0x41, 0x42, 0x58, 0x5f, 0x60,
	0x61, 0x62, 0x78, 0x80, 0x81, 0x82, 0x98, 0x9f, 0xa0, 0xa1, 0xa2, 0xb8, 0xc0, 0xd2, 0xd8, 0xf4,
	0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xff,
}

func damage(t *rapid.T, data []byte) []byte {
	data = bytes.Clone(data)
	for range rapid.IntRange(0, 2).Draw(t, "damages") {
		at := rapid.IntRange(0, len(data)-1).Draw(t, "at")
		switch b := rapid.Byte().Draw(t, "byte"); rapid.SampledFrom([]string{"set", "insert", "cut"}).Draw(t, "how") {
		case "set":
			data[at] = b
		case "insert":
			data = append(data[:at], append([]byte{b}, data[at:]...)...)
		case "cut":
			data = append(data[:at], data[min(at+1, len(data)):]...)
		}
		if len(data) == 0 {
			return data
		}
	}
	return data
}

func TestCheck_Valid_NoAllocations(t *testing.T) {
	data := transferLike(t)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if canonical.Check(data, generous) != nil {
			t.Fatal("refused")
		}
	}))
}
