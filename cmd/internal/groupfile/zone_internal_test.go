package groupfile

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// zoneFile is a file of the database of time zones (RFC 8536): a zone that is an hour ahead of UTC, but between each first and
// second of the changes, and whose last line is a rule.
func zoneFile(rule string, changes ...string) []byte {
	header := func(changes, types, letters uint32) []byte {
		b := append([]byte("TZif2"), make([]byte, 15+3*4)...)
		for _, n := range []uint32{changes, types, letters} {
			b = binary.BigEndian.AppendUint32(b, n)
		}
		return b
	}
	old := append(header(0, 1, 4), "\x00\x00\x00\x00\x00\x00UTC\x00"...) // which readers of the newer part skip
	b := append(old, header(uint32(len(changes)), 2, 8)...)
	for _, text := range changes {
		at, err := time.Parse(time.DateOnly, text)
		if err != nil {
			panic(err)
		}
		b = binary.BigEndian.AppendUint64(b, uint64(at.Unix()))
	}
	for i := range changes {
		b = append(b, byte(1-i%2))
	}
	b = append(b, "\x00\x00\x0e\x10\x00\x00"+"\x00\x00\x00\x00\x01\x04"+"+01\x00+00\x00"...)
	return append(b, "\n"+rule+"\n"...)
}

// TestLookupZone_EachFile has files of its own: those of this machine change with the law. The rule at the end of a zone's file holds
// only after the changes that the file lists.
func TestLookupZone_EachFile(t *testing.T) {
	folder := t.TempDir()
	t.Setenv(zoneVariable, folder)
	now := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		data    []byte
		refused string
	}{
		"Test/Rule":     {zoneFile("<+01>-1"), ""},
		"Test/Past":     {zoneFile("<+01>-1", "2024-03-10", "2024-04-14", "2025-02-28", "2025-04-06"), ""},
		"Test/Far":      {zoneFile("<+01>-1", "2029-01-14", "2029-02-18"), ""}, // known in time for another signature
		"Test/Moon":     {zoneFile("<+01>-1", "2026-02-15", "2026-03-22"), "which no rule says, the first near 2026-02-15"},
		"Test/Late":     {zoneFile("<+01>-1", "2027-12-20", "2028-01-20"), "which no rule says, the first near 2027-12-20"},
		"Test/NoRule":   {zoneFile(""), "does not end in a rule"},
		"Test/Text":     {[]byte("CET-1CEST,M3.5.0,M10.5.0/3\n"), "does not end in a rule"},
		"Test/Damaged":  {append([]byte("TZif2"), "\n<+01>-1\n"...), "is damaged"},
		"Test/TooLarge": {make([]byte, maxZoneFile+1), "is not in this machine's database"},
	} {
		file := filepath.Join(folder, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, test.data, 0o600))
		z, err := lookupZone(name, now)
		if test.refused == "" {
			require.NoError(t, err, name)
			assert.Equal(t, "<+01>-1", z.String(), name)
			continue
		}
		require.ErrorIs(t, err, ErrNoZone, name)
		assert.ErrorContains(t, err, test.refused, name)
	}
	for name, says := range map[string]string{
		"Test": "is not in this machine's database", "Test/None": "is not in this machine's database",
		"../Rule": "is not a name such as", `Test\Rule`: "is not a name such as", ":Test/Rule": "is not a name such as",
	} {
		_, err := lookupZone(name, now)
		require.ErrorIs(t, err, ErrNoZone, name)
		assert.ErrorContains(t, err, says, name)
	}
	here := zoneFolders
	defer func() { zoneFolders = here }()
	zoneFolders = nil
	t.Setenv(zoneVariable, filepath.Join(folder, "none"))
	_, err := lookupZone("Test/Rule", now)
	assert.ErrorContains(t, err, "this machine has no database of time zones")
}
