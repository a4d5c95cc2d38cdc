package journal_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/spec/form"
)

// The CDDL and the code have the same records, under the same numbers and names.
func TestRecord_Each_InTheCDDL(t *testing.T) {
	shapes := form.Records()
	for i, o := range shapes {
		assert.Equal(t, uint64(i+1), o.Number)
		assert.Equal(t, "record "+journal.Kind(i+1).String(), o.Name)
	}
	_, _, err := journal.Decode([]byte{0x83, byte(len(shapes) + 1), 0, 0x80})
	assert.ErrorIs(t, err, journal.ErrRecordKind, "a kind that spec/journal.cddl lacks")
}

func TestRecord_Each_RoundTrip(t *testing.T) {
	var all []byte
	for _, o := range form.Records() {
		for n := range uint32(20) {
			body := o.Seeded(n)
			at, r, err := journal.Decode(body)
			require.NoError(t, err, o.Name)
			again, err := journal.Encode(at, r)
			require.NoError(t, err, o.Name)
			require.Equal(t, body, again)
			longer, err := journal.Append(all, at, r)
			require.NoError(t, err)
			require.Equal(t, append(all[:len(all):len(all)], body...), longer)
			all = longer
		}
	}
}

func TestRecord_TooLarge_Refused(t *testing.T) {
	before := []byte("before")
	same, err := journal.Append(before, 1, &journal.Known{Object: make([]byte, journal.MaxRecord)})
	require.ErrorIs(t, err, journal.ErrRecord)
	assert.Equal(t, before, same)
}

func TestUnknownRecord(t *testing.T) {
	for _, body := range [][]byte{{0x83, 0, 1, 0x80}, {0x83, 23, 1, 0x80}} {
		_, _, err := journal.Decode(body)
		assert.ErrorIs(t, err, journal.ErrRecordKind)
	}
	_, _, err := journal.Decode([]byte{0x83, 1})
	assert.ErrorIs(t, err, journal.ErrRecord)
}
