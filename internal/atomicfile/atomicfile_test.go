package atomicfile_test

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/atomicfile"
)

// The old file is there or the new one, nothing is overwritten unasked, and
// nothing is left over.
func TestFile_ReplaceAndCreate_Atomic(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, atomicfile.Create("a", []byte("1"), 0o600))
	assert.ErrorIs(t, atomicfile.Create("a", []byte("2"), 0o600), os.ErrExist)
	text, err := os.ReadFile("a")
	require.NoError(t, err)
	assert.Equal(t, "1", string(text))
	require.NoError(t, atomicfile.Replace("a", []byte("3"), 0o644))
	info, err := os.Stat("a")
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		assert.Equal(t, os.FileMode(0o644), info.Mode().Perm())
	}
	assert.Error(t, atomicfile.Replace("no/a", []byte("1"), 0o600))
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}

// What another process may be writing is left alone.
func TestSweep(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{".wander-1.tmp", ".wander-2.tmp", "kept"} {
		require.NoError(t, os.WriteFile(name, nil, 0o600))
	}
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{".wander-1.tmp", "kept"} {
		require.NoError(t, os.Chtimes(name, old, old))
	}
	atomicfile.Sweep(".")
	assert.NoFileExists(t, ".wander-1.tmp")
	assert.FileExists(t, ".wander-2.tmp")
	assert.FileExists(t, "kept")
}
