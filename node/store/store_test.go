package store_test

import (
	"bytes"
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
	assert.Equal(t, 1, found.FromCheckpoint)
	assert.False(t, found.Fresh)
	assert.Nil(t, found.Torn)
	assert.Equal(t, st.Synced()+1, appendAll(t, st, "four"))
	require.NoError(t, st.Close())

	var all []string
	for f, err := range store.Frames(nil, dir) {
		require.NoError(t, err)
		all = append(all, fmt.Sprintf("%d %v %s %v", f.Segment.Number, f.Type, f.Body, f.FromCheckpoint))
	}
	assert.Equal(t, []string{
		"1 checkpoint begin  true", "1 checkpoint end  true", "1 record one false", "1 record two false",
		"2 checkpoint begin  true", "2 record both true", "2 checkpoint end  true", "2 record three false",
		"2 record four false",
	}, all)
}

func TestFiles_Mode_OwnerOnly(t *testing.T) {
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

func TestOpen_SecondProcess_Refused(t *testing.T) {
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
func TestOpen_Refused_LockReleased(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, journal.SegmentName(1))
	require.NoError(t, os.WriteFile(name, []byte("not a journal"), 0o600))
	for range 2 {
		_, _, err := store.Open(dir, store.Options{})
		require.ErrorIs(t, err, journal.ErrMagic)
		assert.ErrorContains(t, err, name)
	}
}

func TestOpen_JournalOfAnother_Refused(t *testing.T) {
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

func TestOptions_OutOfRange_Refused(t *testing.T) {
	for _, o := range []store.Options{
		{Mode: 2}, {SegmentSize: store.MinSegmentSize - 1}, {SegmentSize: -1}, {Retention: -1}, {RetainBytes: -1},
	} {
		o.FS = faultfs.New(1)
		_, _, err := store.Open(testDir, o)
		assert.ErrorIs(t, err, store.ErrOptions)
	}
}

func TestAppend_RecordOutOfRange_Refused(t *testing.T) {
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

func TestVolatile_Sync_None(t *testing.T) {
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
	assert.Equal(t, 3+2, fs.Ops(), "restart 3, write, and a sync by Close: %v", fs.Trace())
}

func TestOpen_TornTail_CutAndReported(t *testing.T) {
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

func TestOpen_OtherFiles_LeftAlone(t *testing.T) {
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
		if f.Type != journal.FrameRecord || f.FromCheckpoint {
			continue
		}
		writer, number, _ := strings.Cut(string(f.Body), " ")
		require.Equal(t, fmt.Sprint(next[writer]), number)
		next[writer]++
		total++
	}
	assert.Equal(t, writers*records, total)
}
