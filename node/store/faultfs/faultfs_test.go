package faultfs_test

import (
	"bytes"
	"errors"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/node/store/faultfs"
)

const outcomes = 200 // seeds tried where every permitted outcome has to show up

func contents(t *testing.T, f *faultfs.FS, name string) string {
	t.Helper()
	data, err := f.ReadFile(name, -1)
	if errors.Is(err, fs.ErrNotExist) {
		return "absent"
	}
	require.NoError(t, err)
	return string(data)
}

func create(t *testing.T, f store.FS, name, text string) store.File {
	t.Helper()
	file, err := f.Create(name)
	require.NoError(t, err)
	_, err = file.WriteAt([]byte(text), 0)
	require.NoError(t, err)
	return file
}

// after collects what run leaves of d/f over many seeds.
func after(t *testing.T, end func(*faultfs.FS) *faultfs.FS, run func(*faultfs.FS)) map[string]int {
	t.Helper()
	seen := make(map[string]int)
	for seed := range uint64(outcomes) {
		f := faultfs.New(seed)
		run(f)
		seen[contents(t, end(f), "d/f")]++
	}
	return seen
}

func keys(m map[string]int) []string {
	var all []string
	for k := range m {
		all = append(all, k)
	}
	return all
}

func TestPowerLoss_Synced_Kept(t *testing.T) {
	seen := after(t, (*faultfs.FS).PowerLoss, func(f *faultfs.FS) {
		require.NoError(t, create(t, f, "d/f", "abc").Sync())
		require.NoError(t, f.SyncDir("d"))
	})
	assert.Equal(t, []string{"abc"}, keys(seen))
}

func TestPowerLoss_NameNotSynced_Lost(t *testing.T) {
	seen := after(t, (*faultfs.FS).PowerLoss, func(f *faultfs.FS) {
		require.NoError(t, create(t, f, "d/f", "abc").Sync())
	})
	assert.ElementsMatch(t, []string{"abc", "absent"}, keys(seen))
}

func TestPowerLoss_NotSynced_Torn(t *testing.T) {
	seen := after(t, (*faultfs.FS).PowerLoss, func(f *faultfs.FS) {
		file := create(t, f, "d/f", "ab")
		require.NoError(t, file.Sync())
		require.NoError(t, f.SyncDir("d"))
		_, err := file.WriteAt([]byte("cd"), 2)
		require.NoError(t, err)
		_, err = file.WriteAt([]byte("e"), 4)
		require.NoError(t, err)
	})
	assert.ElementsMatch(t, []string{"ab", "ab\x00\x00", "abc", "abc\x00", "abcd", "abcd\x00", "abcde"}, keys(seen))
}

func TestPowerLoss_Rename_OldOrNew(t *testing.T) {
	seen := after(t, (*faultfs.FS).PowerLoss, func(f *faultfs.FS) {
		require.NoError(t, create(t, f, "d/f", "old").Sync())
		require.NoError(t, create(t, f, "d/new", "new").Sync())
		require.NoError(t, f.SyncDir("d"))
		require.NoError(t, f.Rename("d/new", "d/f"))
	})
	assert.ElementsMatch(t, []string{"old", "new"}, keys(seen))
}

func TestKill_Written_Kept(t *testing.T) {
	unsynced := func(f *faultfs.FS) { create(t, f, "d/f", "abc") }
	assert.Equal(t, []string{"abc"}, keys(after(t, (*faultfs.FS).Kill, unsynced)))
	twice := func(f *faultfs.FS) *faultfs.FS { return f.Kill().PowerLoss() }
	assert.Contains(t, keys(after(t, twice, unsynced)), "absent", "killing is not syncing")
}

// A failed sync forgets, and a later one does not notice.
func TestSync_Fails_WritesForgotten(t *testing.T) {
	broken := errors.New("broken")
	run := func(f *faultfs.FS) {
		file := create(t, f, "d/f", "abc")
		require.NoError(t, f.SyncDir("d"))
		f.FailAt(f.Ops()+1, broken)
		require.ErrorIs(t, file.Sync(), broken)
		require.Equal(t, "abc", contents(t, f, "d/f"))
		require.NoError(t, file.Sync())
	}
	assert.Equal(t, []string{""}, keys(after(t, (*faultfs.FS).PowerLoss, run)))
	again := func(f *faultfs.FS) {
		run(f)
		file, err := f.Open("d/f")
		require.NoError(t, err)
		_, err = file.WriteAt([]byte("abc"), 0)
		require.NoError(t, err)
		require.NoError(t, file.Sync())
	}
	assert.Equal(t, []string{"abc"}, keys(after(t, (*faultfs.FS).PowerLoss, again)), "written again")
}

func TestCrash_EveryOperation_Reached(t *testing.T) {
	run := func(f *faultfs.FS) error {
		file, err := f.Create("d/f")
		if err != nil {
			return err
		}
		_, err = file.WriteAt([]byte("abc"), 0)
		return errors.Join(err, file.Truncate(2), file.Sync(), f.Rename("d/f", "d/g"), f.SyncDir("d"), f.Remove("d/g"))
	}
	whole := faultfs.New(1)
	require.NoError(t, run(whole))
	require.Equal(t, 7, whole.Ops())
	require.Len(t, whole.Trace(), 7)
	for n := 1; n <= whole.Ops(); n++ {
		f := faultfs.New(1)
		f.CrashAt(n)
		require.ErrorIs(t, run(f), faultfs.ErrCrashed)
		assert.True(t, f.Crashed())
		assert.Equal(t, n, f.Ops())
		_, err := f.ReadFile("d/f", -1)
		assert.ErrorIs(t, err, faultfs.ErrCrashed)
		next := f.Kill()
		assert.False(t, next.Crashed())
		assert.Zero(t, next.Ops())
	}
}

func TestSeeds_Equal_EqualOutcomes(t *testing.T) {
	run := func(seed uint64) string {
		f := faultfs.New(seed)
		require.NoError(t, f.SyncDir("d"))
		file := create(t, f, "d/f", "some text")
		require.NoError(t, f.SyncDir("d"))
		_, err := file.WriteAt(bytes.Repeat([]byte("x"), 100), 9)
		require.NoError(t, err)
		return contents(t, f.PowerLoss(), "d/f")
	}
	different := make(map[string]bool)
	for seed := range uint64(20) {
		assert.Equal(t, run(seed), run(seed))
		different[run(seed)] = true
	}
	assert.Greater(t, len(different), 10)
}

func TestFlip(t *testing.T) {
	f := faultfs.New(1)
	require.NoError(t, create(t, f, "d/f", "A").Sync())
	require.NoError(t, f.SyncDir("d"))
	require.NoError(t, f.Flip("d/f", 6))
	assert.Equal(t, "C", contents(t, f, "d/f"))
	assert.Error(t, f.Flip("d/f", 8))
	assert.ErrorIs(t, f.Flip("d/g", 0), fs.ErrNotExist)
	assert.Equal(t, "C", contents(t, f.PowerLoss(), "d/f"))
}

func TestLock_ProcessEnds_Released(t *testing.T) {
	f := faultfs.New(1)
	held, err := f.Lock("d/lock")
	require.NoError(t, err)
	_, err = f.Lock("d/lock")
	require.ErrorIs(t, err, store.ErrLocked)
	require.NoError(t, held.Close())
	_, err = f.Lock("d/lock")
	require.NoError(t, err)
	_, err = f.Kill().Lock("d/lock")
	require.NoError(t, err)
}

func TestWithhold(t *testing.T) {
	dir := t.TempDir()
	f := faultfs.Withhold(store.OS())
	file := create(t, f, dir+"/f", "abcd")
	read := func() string {
		data, err := f.ReadFile(dir+"/f", -1)
		require.NoError(t, err)
		return string(data)
	}
	assert.Empty(t, read())
	require.NoError(t, file.Truncate(2))
	require.NoError(t, file.Sync())
	assert.Equal(t, "ab", read())
	_, err := file.WriteAt([]byte("x"), 2)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	assert.Equal(t, "ab", read(), "what was not synced is gone")
}
