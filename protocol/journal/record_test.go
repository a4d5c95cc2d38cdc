package journal_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
)

// records has one of each kind, with values of several lengths.
var records = []journal.Record{
	&journal.Incarnation{}, &journal.Counters{Accepts: 1024, Sequence: 1 << 40},
	&journal.Floor{Offerer: ident.Member{1}, Floor: 23}, &journal.Settled{Below: 24},
	&journal.Generated{Genesis: []byte("genesis"), Founding: true},
	&journal.Held{Transfer: make([]byte, 300), Genesis: []byte{1}, Void: []byte{}},
	&journal.Sent{Transfer: []byte("transfer")}, &journal.Closed{Hop: 7, Receipt: []byte("receipt")},
	&journal.Reclaimed{Hop: 8, Void: []byte("void")}, &journal.Voided{Transfer: []byte{1}, Void: []byte{2}},
	&journal.Dropped{Reason: 2}, &journal.Taken{Accept: 70_000, Declined: true},
	&journal.Started{Resource: "ftp", Boot: "boot", Machine: "machine"}, &journal.Ended{Operated: true},
	&journal.Known{What: journal.KnownEndpoint, Object: []byte("endpoint")},
	&journal.Evidence{What: "two transfers", Objects: [][]byte{{1}, {2, 3}}},
	&journal.Founded{Resource: "ftp", Slot: 3}, &journal.Visited{Resource: "ftp", At: 5},
	&journal.Opened{Opening: 1 << 40, Tag: [8]byte{7}, Serial: 12},
	&journal.Complained{Complaint: []byte("complaint")},
}

func TestRecord_Each_RoundTrip(t *testing.T) {
	var all []byte
	for i, r := range records {
		require.Equal(t, journal.Kind(i+1), r.Kind(), "a kind without a sample")
		at := uint64(1) << (3 * i)
		body, err := journal.Encode(at, r)
		require.NoError(t, err, r.Kind())
		gotAt, got, err := journal.Decode(body)
		require.NoError(t, err, r.Kind())
		assert.Equal(t, at, gotAt)
		assert.Equal(t, r, got)

		longer, err := journal.Append(all, at, r)
		require.NoError(t, err)
		assert.Equal(t, append(all[:len(all):len(all)], body...), longer)
		all = longer
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
