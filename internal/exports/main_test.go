package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestUnused_Module_ListsWhatOnlyItsPackageUses: b and an external test use a; a's own test
// does not count.
func TestUnused_Module_ListsWhatOnlyItsPackageUses(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module " + module + "\n\ngo 1.26\n",
		"a/a.go": `package a

type Used struct{ Shown Shown }
type Shown int
type Alone int
type runner interface{ Run() }
var ErrSentinel error
const First, Second Shown = 1, 2
var _ runner = Used{}

func ForTests() {}
func ForExamples() {}
func (Used) Run() {}
func (Used) Alone() {}
`,
		"a/a_test.go":       "package a\n\nvar _ = ForTests\n",
		"a/example_test.go": "package a_test\n\nimport \"" + module + "/a\"\n\nfunc Example() { a.ForExamples() }\n",
		"b/b.go":            "package b\n\nimport \"" + module + "/a\"\n\nvar _ a.Used\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	list, err := unused(dir)
	require.NoError(t, err)
	for i := range list {
		list[i] = filepath.Base(list[i])
	}
	assert.Equal(t, []string{"a.go:11: ForTests", "a.go:14: Used.Alone", "a.go:5: Alone"}, list)
}
