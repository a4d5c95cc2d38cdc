package wandering

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// What follows reads and writes what members of the preset fair say to each other, and
// what tokens of light and fair carry, and was written from the tables of P-33 alone.
// It shares nothing with the package but the tests that hold the two together.

// specBody is a body, field by field: which it has says specFields.
type specBody map[string][]byte

// specField is a field of a body, and its size in bytes.
type specField struct {
	name string
	size int
}

var specSight = []specField{{"token", 32}, {"genesis time", 8}, {"hop", 8}, {"sight age", 4}}

var specFields = map[byte][]specField{
	1: append(slices.Clone(specSight), specField{"member", 16}, specField{"age", 4}, specField{"older", 4}),
	2: {{"member", 16}, {"age", 4}}, // 1 to 4 times
	3: append(slices.Clone(specSight), specField{"member", 16}),
	4: {{"member", 16}, {"age", 4}, {"what", 1}},
	5: {{"what", 1}, {"age", 4}},
	6: append(slices.Clone(specSight), specField{"member", 16}),
}

// specRead is the kind of a body and its parts, one after the other: one of each kind
// but report. None are there if the body is to be ignored.
func specRead(b []byte) (kind byte, parts []specBody) {
	if len(b) == 0 || specFields[b[0]] == nil {
		return 0, nil
	}
	kind, b = b[0], b[1:]
	for len(b) > 0 {
		part := specBody{}
		for _, f := range specFields[kind] {
			if len(b) < f.size {
				return 0, nil
			}
			part[f.name], b = b[:f.size], b[f.size:]
		}
		parts = append(parts, part)
	}
	most := 1
	if kind == 2 {
		most = 4
	}
	for _, p := range parts {
		what := p["what"]
		switch {
		case kind == 4 && what[0] > 2, kind == 5 && what[0] != 1 && what[0] != 2:
			return 0, nil
		}
	}
	if len(parts) > most {
		return 0, nil
	}
	return kind, parts
}

// specWrite is the body of which these are the parts.
func specWrite(kind byte, parts []specBody) []byte {
	b := []byte{kind}
	for _, p := range parts {
		for _, f := range specFields[kind] {
			b = append(b, p[f.name]...)
		}
	}
	return b
}

// specSame holds what the package makes of a body to what the specification does.
func specSame(t require.TestingT, b []byte) (kind byte) {
	kind, parts := specRead(b)
	var m body
	ok := parseBody(b, &m)
	require.Equal(t, parts != nil, ok, "%x", b)
	if !ok {
		return 0
	}
	require.Equal(t, b, specWrite(kind, parts))
	require.Equal(t, b, m.append(nil))
	require.Equal(t, kind, byte(m.kind))
	if kind == 2 {
		require.Len(t, parts, m.n)
		for i, p := range parts {
			require.Equal(t, waiter{ident.Member(p["member"]), binary.BigEndian.Uint32(p["age"])}, m.records[i])
		}
		return kind
	}
	read := map[string]any{
		"token": m.sight.id[:], "genesis time": m.sight.born, "hop": m.sight.hop, "sight age": m.sight.age,
		"member": m.member[:], "age": m.age, "older": m.older, "what": m.what,
	}
	for name, raw := range parts[0] {
		switch got := read[name].(type) {
		case []byte:
			require.Equal(t, raw, got, "%s of %x", name, b)
		case uint64:
			require.Equal(t, binary.BigEndian.Uint64(raw), got, "%s of %x", name, b)
		case uint32:
			require.Equal(t, binary.BigEndian.Uint32(raw), got, "%s of %x", name, b)
		case byte:
			require.Equal(t, raw[0], got, "%s of %x", name, b)
		}
	}
	return kind
}

// specToken is what a token carries: nil is as none.
type specToken struct {
	streak  byte
	age     uint32
	waiters map[ident.Member]uint32
}

func specReadToken(field []byte) (s specToken) {
	if len(field) < 6 || field[0] != 1 || (len(field)-6)%20 != 0 || (len(field)-6)/20 > 16 {
		return s
	}
	s = specToken{field[1], binary.BigEndian.Uint32(field[2:]), map[ident.Member]uint32{}}
	for rest := range slices.Chunk(field[6:], 20) {
		id, age := ident.Member(rest), binary.BigEndian.Uint32(rest[16:])
		if known, twice := s.waiters[id]; id != (ident.Member{}) && (!twice || age < known) {
			s.waiters[id] = age
		}
	}
	return s
}

// specSameToken holds what the package makes of a field to what the specification does.
func specSameToken(t require.TestingT, field []byte) {
	s := specReadToken(field)
	b := parseBaggage(field)
	require.Equal(t, s.streak, b.streak, "%x", field)
	require.Equal(t, s.age, b.age, "%x", field)
	now := clock.Instant(1) << 62
	w := search{common: &common{}}
	w.Now = now
	w.readCandidates(b.records)
	require.Equal(t, len(s.waiters), w.candidates.n, "%x", field)
	for _, e := range w.candidates.list[:w.candidates.n] {
		require.Equal(t, before(now, s.waiters[e.member]), e.served, "%x", field)
	}
}

// inScripts finds all bodies and fields in the golden scripts.
var inScripts = regexp.MustCompile(`(?:(message|tell) [A-Z]|(field))[ =]([0-9a-f]+)\b`)

// TestBodies_Each_AsSpecified: what the scripts' members say and hear is the same by the
// specification and by the package, and every kind is among it.
func TestBodies_Each_AsSpecified(t *testing.T) {
	scripts, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	kinds, fields := map[byte]int{}, 0
	for _, path := range scripts {
		script, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, m := range inScripts.FindAllSubmatch(script, -1) {
			raw, err := hex.DecodeString(string(m[3]))
			require.NoError(t, err)
			if len(m[1]) > 0 {
				kind := specSame(t, raw)
				require.True(t, kind != 0 || string(m[1]) == "message", "%s: says %x", path, raw)
				kinds[kind]++
			} else {
				specSameToken(t, raw)
				fields++
			}
		}
	}
	for kind := range specFields {
		require.Positive(t, kinds[kind], "no script has a body of kind %d", kind)
	}
	require.Greater(t, fields, 10)
}

// TestBodies_Damaged_AsSpecified: also of sizes and kinds that nobody would say,
// both make the same.
func TestBodies_Damaged_AsSpecified(t *testing.T) {
	specSame(t, nil)
	for kind := range byte(8) {
		size := 0
		for _, f := range specFields[kind] {
			size += f.size
		}
		for times := range 6 {
			for _, n := range []int{times*size - 1, times * size, times*size + 1} {
				for fill := range byte(5) {
					specSame(t, append([]byte{kind}, bytes.Repeat([]byte{fill}, max(n, 0))...))
				}
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 1, 100).Draw(t, "body")
		b[0] %= 8
		specSame(t, b)
		specSameToken(t, b)
	})
}

// TestFields_Damaged_AsSpecified is the same of what a token carries.
func TestFields_Damaged_AsSpecified(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := []byte{rapid.SampledFrom([]byte{1, 1, 1, 0, 2}).Draw(t, "form"), rapid.Byte().Draw(t, "streak"), 0, 0, 1, rapid.Byte().Draw(t, "age")}
		for range rapid.IntRange(0, 18).Draw(t, "candidates") {
			id := ident.Member{rapid.Byte().Draw(t, "member") % 20}
			b = binary.BigEndian.AppendUint32(append(b, id[:]...), rapid.Uint32Range(0, 5).Draw(t, "age"))
		}
		specSameToken(t, b[:len(b)-rapid.SampledFrom([]int{0, 0, 0, 1, 6}).Draw(t, "cut")])
	})
}
