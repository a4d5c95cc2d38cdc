package main

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOverlay holds the overlay to the package that it replaces: what is renamed
// is there, and the memo calls nothing else.
func TestOverlay(t *testing.T) {
	t.Chdir("../../..")
	dir := t.TempDir()
	require.NoError(t, run(dir))
	text, err := os.ReadFile(filepath.Join(dir, "overlay.json"))
	require.NoError(t, err)
	var overlay struct{ Replace map[string]string }
	require.NoError(t, json.Unmarshal(text, &overlay))
	assert.Len(t, overlay.Replace, 4)
	for original, path := range overlay.Replace {
		assert.Equal(t, filepath.Base(original), filepath.Base(path))
		_, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.AllErrors)
		assert.NoError(t, err, path)
	}
}

func TestNoOverlayOfAnythingElse(t *testing.T) {
	assert.Error(t, run(""))
	t.Chdir(t.TempDir())
	assert.ErrorContains(t, run(t.TempDir()), "not at the top of the module")
}
