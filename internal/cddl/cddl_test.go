package cddl

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	require.NoError(t, err)
	return b
}

// Examples of RFC 8949 appendix A that are deterministic and without floating
// point.
func TestDecodeExamples(t *testing.T) {
	for in, want := range map[string]string{
		"00": "0", "17": "23", "1818": "24", "1903e8": "1000", "1a000f4240": "1000000",
		"1bffffffffffffffff": "18446744073709551615", "3bffffffffffffffff": "-18446744073709551616",
		"20": "-1", "3903e7": "-1000", "f4": "false", "f5": "true", "f6": "null",
		"40": "h''", "4401020304": "h'01020304'", "6161": `"a"`, "62c3bc": `"ü"`, "80": "[]",
		"8301820203820405": "[1, [2, 3], [4, 5]]", "a201020304": "{1: 2, 3: 4}",
		"a26161016162820203": `{"a": 1, "b": [2, 3]}`, "d20401": "",
	} {
		item, err := Decode(unhex(t, in))
		if want == "" {
			assert.ErrorIs(t, err, ErrEncoding, in)
			continue
		}
		require.NoError(t, err, in)
		assert.Equal(t, want, item.String(), in)
		assert.Equal(t, in, hex.EncodeToString(item.Append(nil)))
	}
}

func TestDecode_Invalid_Refused(t *testing.T) {
	for name, in := range map[string]string{
		"nothing": "", "behind": "0000", "cut head": "19", "cut string": "4201", "cut array": "8201",
		"cut map": "a101", "long head of 1": "1817", "of 2": "1900ff", "of 4": "1a0000ffff",
		"of 8": "1b00000000ffffffff", "long length": "580101", "indefinite": "9f01ff", "break": "ff",
		"float": "f90000", "undefined": "f7", "simple": "f8ff", "unsorted": "a203000100",
		"twice": "a201000100", "not UTF-8": "61ff", "reserved": "1c", "huge array": "9bffffffffffffffff",
		"huge map": "bbffffffffffffffff", "huge string": "5bffffffffffffffff",
	} {
		_, err := Decode(unhex(t, in))
		assert.ErrorIs(t, err, ErrEncoding, name)
	}
	deep := make([]byte, 100)
	for i := range deep {
		deep[i] = 0x81
	}
	_, err := Decode(deep)
	assert.ErrorIs(t, err, ErrEncoding)
}

// Whatever is accepted encodes to the same bytes again.
func TestDecodeAppend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOf(rapid.Byte()).Draw(t, "in")
		item, err := Decode(in)
		if err == nil && string(item.Append(nil)) != string(in) {
			t.Fatalf("%x encodes to %x", in, item.Append(nil))
		}
	})
}

const schema = `
; a comment; with "quotes" and = signs
small = 1..3
id = bstr .size 4        ; to the end of the line
title = tstr .size (1..8)
either = id / null / "none"
pair = [ left: small, right: either ]
many = [ 1*3 small, * title, end: bool ]
table = { 1: small, -7: title, ? "x": id, 0*2 uint => any }
boxed<p> = #6.18([ head: bstr .cbor { 4: id }, body: bstr .cbor p ])
box = boxed<pair>
boxes = [ + boxed<small> ]
twice<p> = [ boxed<p>, p ]
both = twice<title>
grouped = ( 1 => small, ? 2 => title )
`

func TestCheck(t *testing.T) {
	s, err := Parse(schema)
	require.NoError(t, err)
	for _, c := range []struct {
		rule, in string
		ok       bool
	}{
		{"small", "01", true}, {"small", "00", false}, {"small", "04", false}, {"small", "20", false},
		{"id", "4401020304", true}, {"id", "43010203", false}, {"id", "6461626364", false},
		{"title", "6161", true}, {"title", "60", false}, {"title", "69616161616161616161", false},
		{"either", "f6", true}, {"either", "646e6f6e65", true}, {"either", "f4", false}, {"either", "4401020304", true},
		{"pair", "8201f6", true}, {"pair", "8101", false}, {"pair", "8301f6f6", false}, {"pair", "82f601", false}, {"pair", "a201f602f6", false},
		{"many", "8201f4", true}, {"many", "84010203f5", true}, {"many", "8501020301f5", false}, {"many", "81f4", false},
		{"many", "8301616101", false}, {"many", "84016161f5f5", false}, {"many", "8401616161" + "62f5", true},
		{"table", "a20101266161", true}, {"table", "a10101", false}, {"table", "a301010cf6266161", true},
		{"table", "a401010cf60df6266161", true}, {"table", "a501010cf60df60ef6266161", false},
		{"table", "a3010126616161" + "784401020304", true}, {"table", "a30101266161617961", false},
		{"table", "a20104266161", false},
		{"box", "d28247a104440102030443" + "8201f6", true}, {"box", "d28247a1044401020304438204f6", false},
		{"box", "8247a1044401020304438201f6", false}, {"box", "d18247a1044401020304438201f6", false},
		{"box", "d28247a1054401020304438201f6", false}, {"box", "d28247a104440102030441ff", false},
		{"boxes", "81d28247a10444010203044101", true}, {"boxes", "80", false},
		{"grouped", "a10101", true}, {"grouped", "a2010102617a", true}, {"grouped", "a10104", false},
		{"grouped", "a0", false}, {"grouped", "8101", false},
		{"both", "82d28247a1044401020304426161" + "6162", true}, {"both", "82d28247a10444010203044101" + "6162", false},
	} {
		err := s.Check(c.rule, unhex(t, c.in))
		if c.ok {
			assert.NoError(t, err, "%s %s", c.rule, c.in)
		} else if assert.Error(t, err, "%s %s", c.rule, c.in) {
			assert.NotErrorIs(t, err, ErrNoRule)
		}
	}
	assert.Empty(t, s.Unmatched())
	assert.ErrorIs(t, s.Check("nothing", []byte{0}), ErrNoRule)
}

func TestUnmatched(t *testing.T) {
	s, err := Parse("a = [ b ] b = 1 / c c = 2")
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b", "c"}, s.Unmatched())
	require.NoError(t, s.Check("a", []byte{0x81, 0x01}))
	assert.Equal(t, []string{"c"}, s.Unmatched())
	require.Error(t, s.Check("c", []byte{0x01}))
	assert.Equal(t, []string{"c"}, s.Unmatched(), "a mismatch is no match")
	assert.Equal(t, []string{"b", "=", "1", "/", "c"}, s.Tokens("b"))
}

func TestUnknownNames(t *testing.T) {
	s, err := Parse("a = [ b ] c<p> = [ p ] d = c e = a<uint>")
	require.NoError(t, err)
	for _, rule := range []string{"a", "d", "e"} {
		assert.ErrorIs(t, s.Check(rule, []byte{0x81, 0x01}), ErrNoRule, rule)
	}
}

func TestParse_Invalid_Refused(t *testing.T) {
	for name, text := range map[string]string{
		"no rule": "= 1", "no type": "a =", "open array": "a = [ uint", "open map": "a = { 1: uint",
		"open parenthesis": "a = ( uint", "twice": "a = 1 a = 2", "range of texts": `a = "x".."y"`,
		"unknown control": "a = uint .le 4", "group choice": "a = [ uint // tstr ]", "no key": "a = { uint }",
		"group without keys": "a = ( uint, tstr )",
		"socket":             "a = $b", "a tag without a type": "a = #6.18", "float": "a = 1.5", "no parameter": "a<> = 1",
	} {
		_, err := Parse(text)
		assert.ErrorIs(t, err, ErrSyntax, name)
	}
}
