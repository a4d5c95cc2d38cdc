package spec_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGuarantees_EachLine_NamesWhatShowsIt: each row of the tables of guarantees.md that end
// in "shown by" names a test, a model or a page that says why, and what it names is there.
func TestGuarantees_EachLine_NamesWhatShowsIt(t *testing.T) {
	raw, err := os.ReadFile("../docs/guarantees.md")
	require.NoError(t, err)
	rows, tests, shown := 0, 0, false
	for line := range strings.Lines(string(raw)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		switch last := strings.TrimSpace(cells[len(cells)-1]); {
		case !strings.HasPrefix(line, "|"):
			shown = false
		case last == "shown by":
			shown = true
		case shown && !strings.HasPrefix(last, "---"):
			rows++
			n := namedTests(t, last)
			tests += n
			assert.True(t, n > 0 || strings.Contains(last, "spec/model/") || strings.Contains(last, "]("), "nothing shows: %s", line)
		}
	}
	assert.Greater(t, rows, 15)
	assert.Greater(t, tests, 20)
}

// namedTests counts the tests of a cell, each behind its folder. They are there, and so are
// the folders and files.
func namedTests(t *testing.T, cell string) (n int) {
	t.Helper()
	folder := ""
	for _, word := range strings.FieldsFunc(cell, func(r rune) bool { return strings.ContainsRune(" ;,()", r) }) {
		if m := inTicks.FindStringSubmatch(word); m != nil {
			folder = m[1]
			_, err := os.Stat(filepath.Join("..", folder))
			assert.NoError(t, err, cell)
		} else if name := aTest.FindString(word); name != "" {
			n++
			assert.True(t, testsOf(t, folder)[name], "no %s in %s", name, folder)
		}
	}
	return n
}
