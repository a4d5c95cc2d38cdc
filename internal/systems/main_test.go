package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheck_BrokenOnOneSystem_FoundThere(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":     "module example.org/m\n\ngo 1.26\n",
		"a.go":       "package m\n\nimport \"os\"\n\nvar _ = os.Args\n",
		"windows.go": "//go:build windows\n\npackage m\n\nfunc f() int { return \"a string\" }\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for system, want := range map[string]int{"darwin": 0, "windows": 1} {
		count, errs, err := check(dir, system, "./...")
		require.NoError(t, err)
		assert.Len(t, errs, want, system)
		assert.Greater(t, count, 1)
	}
}
