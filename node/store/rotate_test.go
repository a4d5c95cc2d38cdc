package store_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/node/store/faultfs"
	"github.com/wandertoken/wander/protocol/journal"
)

func segments(t *testing.T, fs store.FS, dir string) (names []string, size int64) {
	t.Helper()
	entries, err := fs.List(dir)
	require.NoError(t, err)
	for _, e := range entries {
		if _, ok := journal.ParseSegmentName(e.Name); ok {
			names = append(names, e.Name)
			size += e.Size
		}
	}
	return names, size
}

// A volatile member's rotation is as safe as a durable one's.
func TestVolatileRotation(t *testing.T) {
	for seed := range uint64(50) {
		fs := faultfs.New(seed)
		st, _ := open(t, testDir, store.Options{FS: fs, Mode: store.Volatile})
		appendAll(t, st, "one")
		require.NoError(t, st.Sync())
		require.NoError(t, st.Checkpoint([][]byte{[]byte("live")}))
		fs = fs.PowerLoss()
		st, found := open(t, testDir, store.Options{FS: fs, Mode: store.Volatile})
		assert.Equal(t, []string{"live"}, texts(found.Records))
		require.NoError(t, scanError(fs))
		require.NoError(t, st.Close())
	}
}

// NeedsCheckpoint keeps the copying of live state below what is appended.
func TestNeedsCheckpoint(t *testing.T) {
	fs := faultfs.New(1)
	st, _ := open(t, testDir, store.Options{FS: fs, SegmentSize: store.MinSegmentSize})
	assert.False(t, st.NeedsCheckpoint())
	appendAll(t, st, strings.Repeat("x", store.MinSegmentSize))
	assert.True(t, st.NeedsCheckpoint(), "counted when appended")

	large := []byte(strings.Repeat("x", 3*store.MinSegmentSize))
	require.NoError(t, st.Checkpoint([][]byte{large}))
	for _, fresh := range []bool{false, true} {
		if fresh { // a restart counts the same
			require.NoError(t, st.Close())
			st, _ = open(t, testDir, store.Options{FS: fs, SegmentSize: store.MinSegmentSize})
		}
		appendAll(t, st, string(large[:store.MinSegmentSize]))
		assert.False(t, st.NeedsCheckpoint())
	}
	appendAll(t, st, string(large[:store.MinSegmentSize]), "more")
	assert.False(t, st.NeedsCheckpoint(), "the checkpoint is larger")
	appendAll(t, st, strings.Repeat("y", 100))
	assert.True(t, st.NeedsCheckpoint())
}

func TestSegments_Old_RemovedByAge(t *testing.T) {
	fs := faultfs.New(1)
	now := time.UnixMilli(1_700_000_000_000)
	o := store.Options{FS: fs, Retention: time.Hour, Now: func() time.Time { return now }}
	st, _ := open(t, testDir, o)
	now = now.Add(24 * time.Hour) // the age of a segment counts from its end
	require.NoError(t, st.Checkpoint(nil))
	now = now.Add(30 * time.Minute)
	require.NoError(t, st.Checkpoint(nil))
	names, _ := segments(t, fs, testDir)
	require.Len(t, names, 3)

	now = now.Add(31 * time.Minute)
	require.NoError(t, st.Prune())
	names, _ = segments(t, fs, testDir)
	assert.Equal(t, []string{journal.SegmentName(2), journal.SegmentName(3)}, names)
	require.NoError(t, st.Close())

	now = now.Add(1000 * time.Hour)
	_, _ = open(t, testDir, o)
	names, _ = segments(t, fs, testDir)
	assert.Equal(t, []string{journal.SegmentName(3)}, names, "the last one stays")
}

func TestSegments_DiskUse_Bounded(t *testing.T) {
	const retain = 20_000
	fs := faultfs.New(1)
	st, _ := open(t, testDir, store.Options{FS: fs, RetainBytes: retain, SegmentSize: store.MinSegmentSize})
	live := [][]byte{[]byte(strings.Repeat("x", 100))}
	rotations := 0
	for range 2000 {
		appendAll(t, st, strings.Repeat("y", 100))
		require.NoError(t, st.Sync())
		if st.NeedsCheckpoint() {
			require.NoError(t, st.Checkpoint(live))
			rotations++
		}
		_, size := segments(t, fs, testDir)
		require.LessOrEqual(t, size, int64(retain+2*store.MinSegmentSize))
	}
	assert.Greater(t, rotations, 30)
	names, _ := segments(t, fs, testDir)
	assert.Len(t, names, 5)
}

// What cannot be removed is kept and tried again; the member goes on.
func TestSegments_RemovalFails_TriedAgain(t *testing.T) {
	var text bytes.Buffer
	fs := faultfs.New(1)
	st, _ := open(t, testDir, store.Options{FS: fs, RetainBytes: 1, Log: slog.New(slog.NewTextHandler(&text, nil))})
	denied := errors.New("denied")
	appendAll(t, st, "one")
	const rotation = 7 // write, sync; create, write, sync, rename; sync of the directory
	fs.FailAt(fs.Ops()+rotation+1, denied)
	require.NoError(t, st.Checkpoint(nil))
	assert.Contains(t, text.String(), "denied")
	fs.FailAt(fs.Ops()+1, denied)
	err := st.Prune()
	assert.ErrorIs(t, err, store.ErrPrune)
	assert.ErrorIs(t, err, denied)
	require.NoError(t, st.Prune())
	names, _ := segments(t, fs, testDir)
	assert.Equal(t, []string{journal.SegmentName(2)}, names)
	appendAll(t, st, "two")
	require.NoError(t, st.Close())
}
