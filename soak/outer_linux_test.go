package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestSweepFolders_RunEnded_Removed(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	make := func(name string) string {
		dir := filepath.Join(os.TempDir(), name)
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, lockFile), nil, 0o600))
		return dir
	}
	left, other, lasting := make(folderPrefix+"1"), make("other-1"), make(folderPrefix+"2")
	kept, err := makeFolder("")
	require.NoError(t, err)
	lock, err := os.Open(filepath.Join(lasting, lockFile))
	require.NoError(t, err)
	defer lock.Close()
	require.NoError(t, unix.Flock(int(lock.Fd()), unix.LOCK_EX))
	sweepFolders()
	assert.NoDirExists(t, left)
	assert.DirExists(t, other)
	assert.DirExists(t, lasting)
	assert.DirExists(t, kept, "it has no lock any more")
}

func TestMakeFolder_Unsuitable_Refused(t *testing.T) {
	full := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(full, "x"), nil, 0o600))
	for _, name := range []string{full, filepath.Join(full, "x"), filepath.Join(t.TempDir(), strings.Repeat("x", maxFolder))} {
		_, err := makeFolder(name)
		assert.Error(t, err, name)
	}
}
