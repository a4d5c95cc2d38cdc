package store_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/node/store/faultfs"
	"github.com/wandertoken/wander/protocol/journal"
)

// An auditor finds what a restart does not look at.
func TestFrames_GapsAndCuts_Found(t *testing.T) {
	life := func() *faultfs.FS {
		fs := faultfs.New(1)
		st, _ := open(t, testDir, store.Options{FS: fs})
		for range 3 {
			appendAll(t, st, "one", "two")
			require.NoError(t, st.Checkpoint(nil))
		}
		require.NoError(t, st.Close())
		return fs
	}
	name := func(n uint64) string { return filepath.Join(testDir, journal.SegmentName(n)) }

	fs := life()
	require.NoError(t, fs.Remove(name(1)))
	require.NoError(t, scanError(fs), "the oldest may be gone")
	require.NoError(t, fs.Remove(name(3)))
	err := scanError(fs)
	require.ErrorIs(t, err, journal.ErrSequence)
	assert.ErrorContains(t, err, name(4))

	fs = life()
	whole, err := fs.ReadFile(name(2), -1)
	require.NoError(t, err)
	file, err := fs.Open(name(2))
	require.NoError(t, err)
	require.NoError(t, file.Truncate(int64(len(whole)-1)))
	err = scanError(fs)
	require.ErrorIs(t, err, journal.ErrTruncated)
	assert.NotErrorIs(t, err, journal.ErrTorn)
	assert.ErrorContains(t, err, name(2))
}

// A segment of the same number from another life of the same journal, such as
// a restored backup, does not fit.
func TestFrames_SegmentOfAnotherLife_Found(t *testing.T) {
	life := func(records ...string) *faultfs.FS {
		fs := faultfs.New(1)
		st, _ := open(t, testDir, store.Options{FS: fs})
		appendAll(t, st, records...)
		require.NoError(t, st.Checkpoint(nil))
		require.NoError(t, st.Close())
		return fs
	}
	name := filepath.Join(testDir, journal.SegmentName(2))
	foreign, err := life("one").ReadFile(name, -1)
	require.NoError(t, err)
	fs := life("one", "two")
	file, err := fs.Open(name)
	require.NoError(t, err)
	_, err = file.WriteAt(foreign, 0)
	require.NoError(t, err)
	err = scanError(fs)
	require.ErrorIs(t, err, journal.ErrSequence)
	assert.ErrorContains(t, err, name)
}

func TestFrames_BreakOff_Stops(t *testing.T) {
	fs := faultfs.New(1)
	st, _ := open(t, testDir, store.Options{FS: fs})
	require.NoError(t, st.Checkpoint(nil))
	n := 0
	for range store.Frames(fs, testDir) {
		if n++; n == 3 {
			break
		}
	}
	assert.Equal(t, 3, n)
	assert.Error(t, func() (err error) {
		for _, err = range store.Frames(nil, filepath.Join(t.TempDir(), "absent")) {
		}
		return err
	}())
}
