package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/node/store/faultfs"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
)

func open(t *testing.T, dir string, o store.Options) (*store.Store, *store.Recovery) {
	t.Helper()
	st, found, err := store.Open(dir, o)
	require.NoError(t, err)
	return st, found
}

func appendAll(t *testing.T, st *store.Store, records ...string) uint64 {
	t.Helper()
	var bodies [][]byte
	for _, r := range records {
		bodies = append(bodies, []byte(r))
	}
	seq, err := st.Append(bodies...)
	require.NoError(t, err)
	return seq
}

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

// The same life on a real disk as in doc.go.
func TestOnDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	st, found := open(t, dir, store.Options{})
	assert.True(t, found.Fresh)
	assert.Empty(t, found.Records)

	seq := appendAll(t, st, "one", "two")
	assert.Less(t, st.Synced(), seq)
	require.NoError(t, st.Sync())
	assert.Equal(t, seq, st.Synced())
	require.NoError(t, st.Checkpoint([][]byte{[]byte("both")}))
	assert.Greater(t, st.Synced(), seq)
	appendAll(t, st, "three")
	require.NoError(t, st.Close())

	st, found = open(t, dir, store.Options{})
	assert.Equal(t, []string{"both", "three"}, texts(found.Records))
	assert.Equal(t, 1, found.Carried)
	assert.False(t, found.Fresh)
	assert.Nil(t, found.Torn)
	assert.Greater(t, appendAll(t, st, "four"), seq)
	require.NoError(t, st.Close())

	var all []string
	for f, err := range store.Frames(nil, dir) {
		require.NoError(t, err)
		all = append(all, fmt.Sprintf("%d %v %s %v", f.Segment.Number, f.Type, f.Body, f.Carried))
	}
	assert.Equal(t, []string{
		"1 checkpoint begin  true", "1 checkpoint end  true", "1 record one false", "1 record two false",
		"2 checkpoint begin  true", "2 record both true", "2 checkpoint end  true", "2 record three false",
		"2 record four false",
	}, all)
}

func TestFilesAreForTheOwnerOnly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	dir := filepath.Join(t.TempDir(), "journal")
	st, _ := open(t, dir, store.Options{})
	defer st.Close()
	for _, name := range []string{"", "lock", journal.SegmentName(1)} {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Zero(t, info.Mode().Perm()&0o077, "%q", name)
	}
}

func TestSecondProcessIsRefused(t *testing.T) {
	dir := t.TempDir()
	st, _ := open(t, dir, store.Options{})
	_, _, err := store.Open(dir, store.Options{})
	require.ErrorIs(t, err, store.ErrLocked)
	assert.ErrorContains(t, err, fmt.Sprintf("process %d", os.Getpid()))
	assert.ErrorContains(t, err, dir)
	require.NoError(t, st.Close())
	st, _ = open(t, dir, store.Options{})
	require.NoError(t, st.Close())
}

// A refused journal is not left locked.
func TestRefusalReleasesTheLock(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, journal.SegmentName(1))
	require.NoError(t, os.WriteFile(name, []byte("not a journal"), 0o600))
	for range 2 {
		_, _, err := store.Open(dir, store.Options{})
		require.ErrorIs(t, err, journal.ErrMagic)
		assert.ErrorContains(t, err, name)
	}
}

func TestJournalOfAnotherIsRefused(t *testing.T) {
	fs := faultfs.New(1)
	st, _ := open(t, testDir, store.Options{FS: fs, Member: ident.Member{1}, Group: ident.Group{1}})
	require.NoError(t, st.Close())
	for _, o := range []store.Options{
		{FS: fs, Member: ident.Member{2}, Group: ident.Group{1}},
		{FS: fs, Member: ident.Member{1}, Group: ident.Group{2}},
	} {
		_, _, err := store.Open(testDir, o)
		assert.ErrorIs(t, err, journal.ErrForeign)
	}
	require.NoError(t, fs.Rename(filepath.Join(testDir, journal.SegmentName(1)), filepath.Join(testDir, journal.SegmentName(9))))
	_, _, err := store.Open(testDir, store.Options{FS: fs, Member: ident.Member{1}, Group: ident.Group{1}})
	assert.ErrorIs(t, err, journal.ErrForeign, "a segment in another's place")
	assert.ErrorIs(t, scanError(fs), journal.ErrForeign)
}

func TestOptionsOutOfRange(t *testing.T) {
	for _, o := range []store.Options{
		{Mode: 2}, {SegmentSize: store.MinSegmentSize - 1}, {SegmentSize: -1}, {Retention: -1}, {RetainBytes: -1},
	} {
		o.FS = faultfs.New(1)
		_, _, err := store.Open(testDir, o)
		assert.ErrorIs(t, err, store.ErrOptions)
	}
}

func TestRecordsOutOfRange(t *testing.T) {
	st, _ := open(t, testDir, store.Options{FS: faultfs.New(1)})
	largest := make([]byte, journal.MaxRecord)
	for _, bad := range [][]byte{nil, make([]byte, journal.MaxRecord+1)} {
		before := appendAll(t, st, "x")
		_, err := st.Append([]byte("fine"), bad)
		assert.ErrorIs(t, err, store.ErrRecordSize)
		assert.ErrorIs(t, st.Checkpoint([][]byte{bad}), store.ErrRecordSize)
		assert.Equal(t, before+1, appendAll(t, st, "y"), "nothing was appended")
	}
	for n := int64(0); n < store.MaxBacklog/(journal.MaxRecord+journal.FrameOverhead); n++ {
		_, err := st.Append(largest)
		require.NoError(t, err)
	}
	_, err := st.Append(largest)
	require.ErrorIs(t, err, store.ErrBacklog)
	require.NoError(t, st.Sync())
	_, err = st.Append(largest)
	require.NoError(t, err)
	require.NoError(t, st.Close())
}

func TestClosed(t *testing.T) {
	st, _ := open(t, testDir, store.Options{FS: faultfs.New(1)})
	require.NoError(t, st.Close())
	_, err := st.Append([]byte("x"))
	assert.ErrorIs(t, err, store.ErrClosed)
	assert.ErrorIs(t, st.Sync(), store.ErrClosed)
	assert.ErrorIs(t, st.Checkpoint(nil), store.ErrClosed)
	assert.ErrorIs(t, st.Prune(), store.ErrClosed)
	assert.ErrorIs(t, st.Close(), store.ErrClosed)
}

// Everything that waits is written and synced at once.
func TestGroupCommit(t *testing.T) {
	fs := faultfs.New(1)
	var observed int
	st, _ := open(t, testDir, store.Options{FS: fs, ObserveSync: func(time.Duration) { observed++ }})
	before := fs.Ops()
	for range 64 {
		appendAll(t, st, "record")
	}
	require.NoError(t, st.Sync())
	require.NoError(t, st.Sync())
	assert.Equal(t, 2, fs.Ops()-before, "%v", fs.Trace()[before:])
	assert.Equal(t, 1, observed)
}

func TestVolatileDoesNotSync(t *testing.T) {
	fs := faultfs.New(1)
	st, _ := open(t, testDir, store.Options{FS: fs, Mode: store.Volatile})
	before := fs.Ops()
	appendAll(t, st, "one")
	require.NoError(t, st.Sync())
	assert.Equal(t, 1, fs.Ops()-before)

	fs = fs.Kill()
	st, found := open(t, testDir, store.Options{FS: fs, Mode: store.Volatile})
	assert.Equal(t, []string{"one"}, texts(found.Records))
	appendAll(t, st, "two")
	require.NoError(t, st.Sync())
	require.NoError(t, st.Close())
	_, found = open(t, testDir, store.Options{FS: fs.PowerLoss(), Mode: store.Volatile})
	assert.Equal(t, []string{"one", "two"}, texts(found.Records), "Close syncs")
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

func TestTornTailIsCutAndReported(t *testing.T) {
	var text bytes.Buffer
	fs := faultfs.New(1)
	o := store.Options{FS: fs, Log: slog.New(slog.NewTextHandler(&text, nil))}
	st, _ := open(t, testDir, o)
	appendAll(t, st, "one")
	require.NoError(t, st.Close())
	name := filepath.Join(testDir, journal.SegmentName(1))
	whole, err := fs.ReadFile(name, -1)
	require.NoError(t, err)
	file, err := fs.Open(name)
	require.NoError(t, err)
	_, err = file.WriteAt([]byte("tail"), int64(len(whole)))
	require.NoError(t, err)

	assert.ErrorIs(t, scanError(fs), journal.ErrTorn)
	st, found := open(t, testDir, o)
	require.NotNil(t, found.Torn)
	assert.Equal(t, journal.TornError{File: name, Offset: int64(len(whole)), Size: 4}, *found.Torn)
	assert.Contains(t, text.String(), name)
	require.NoError(t, st.Close())
	after, err := fs.ReadFile(name, -1)
	require.NoError(t, err)
	assert.Equal(t, whole, after)
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

func TestOldSegmentsGoByAge(t *testing.T) {
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

func TestDiskUseIsBounded(t *testing.T) {
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
func TestRemovalThatFails(t *testing.T) {
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

// An auditor finds what a restart does not look at.
func TestFramesFindsGapsAndCuts(t *testing.T) {
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

func TestFramesStopsWhenToldTo(t *testing.T) {
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

func TestOtherFilesAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	mine := []string{"notes.txt", "x.new", "0000000000000001.journal.bak"}
	for _, name := range mine {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("mine"), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, journal.SegmentName(5)+".new"), nil, 0o600))
	st, found := open(t, dir, store.Options{})
	assert.True(t, found.Fresh)
	require.NoError(t, st.Close())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	assert.ElementsMatch(t, append(slices.Clone(mine), "lock", journal.SegmentName(1)), names)
}

// Many goroutines append, sync and rotate at once: each finds its own records
// durable and in its own order.
func TestConcurrentUse(t *testing.T) {
	const writers, records = 8, 60
	fs := faultfs.New(1)
	st, _ := open(t, testDir, store.Options{FS: fs, SegmentSize: store.MinSegmentSize})
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range records {
				seq, err := st.Append(fmt.Appendf(nil, "%d %d", w, i))
				assert.NoError(t, err)
				assert.NoError(t, st.Sync())
				assert.GreaterOrEqual(t, st.Synced(), seq)
				if i%20 == 0 {
					assert.NoError(t, st.Checkpoint([][]byte{[]byte("live")}))
				}
			}
		})
	}
	all.Wait()
	require.NoError(t, st.Close())
	next := make(map[string]int)
	total := 0
	for _, f := range locate(t, fs.PowerLoss()) {
		if f.Type != journal.FrameRecord || f.Carried {
			continue
		}
		writer, number, _ := strings.Cut(string(f.Body), " ")
		require.Equal(t, fmt.Sprint(next[writer]), number)
		next[writer]++
		total++
	}
	assert.Equal(t, writers*records, total)
}
