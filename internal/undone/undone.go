// Package undone tries what tests say when one place of the code is changed.
package undone

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/whole"
)

// Try replaces a text, which is there once, in a file of the test's own package, and sees tests of that fail with certain words. The file itself stays as
// it is. In the short form of tests it only looks for the text.
func Try(t *testing.T, file, old, new, tests, says string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(raw), old), "%s has no such place, or several", file)
	if !whole.Asked() {
		return
	}
	dir := t.TempDir()
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(changed, []byte(strings.Replace(string(raw), old, new, 1)), 0o600))
	path, err := filepath.Abs(file)
	require.NoError(t, err)
	list, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(overlay, list, 0o600))
	out, err := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "-run", tests, ".").CombinedOutput()
	assert.Error(t, err, "nothing fails")
	assert.Contains(t, string(out), says)
	assert.NotContains(t, string(out), "build failed")
}
