// Package golden compares what code gives now with what files say that it gave
// before. It is for tests, which get the flag -update from it.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata anew, instead of comparing with it")

// Scripts plays every testdata/*.txt, each in a subtest. play returns the
// script with the answers in it, which must be what the file already says, or
// replace it with -update.
func Scripts(t *testing.T, play func(t *testing.T, script string) string) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			script, err := os.ReadFile(file)
			require.NoError(t, err)
			File(t, file, []byte(play(t, string(script))))
		})
	}
}

// File holds got to what the file says, or writes it there with -update.
func File(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, got, 0o644))
		return
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "run the test with -update to make it")
	assert.Equal(t, string(want), string(got))
}
