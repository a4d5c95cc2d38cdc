package spec_test

import (
	"bytes"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	// pagedLines is how many lines of code a package has at most without a page: so much is read in
	// half an hour, and its comments explain it. Its doc.go and its tests do not count.
	pagedLines = 500
	// minPage is the length of a page, in lines: what the package is for, who calls it, its types, the walk
	// of one input, and what it does not do have about six lines each.
	minPage = 35
)

// Each package with much code has a doc.go that explains it, with an example or a diagram: at least one
// indented block.
func TestPackages_Large_HaveAPage(t *testing.T) {
	lines := make(map[string]int) // by folder
	for _, s := range goSources(t) {
		if dir, name := filepath.Split(s.file); !strings.HasSuffix(name, "_test.go") && name != "doc.go" {
			raw, err := os.ReadFile(filepath.Join("..", s.file))
			require.NoError(t, err)
			lines[filepath.Clean(dir)] += bytes.Count(raw, []byte("\n"))
		}
	}
	large := 0
	for dir, n := range lines {
		if n <= pagedLines {
			continue
		}
		large++
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", dir, "doc.go"), nil, parser.ParseComments|parser.PackageClauseOnly)
		if !assert.NoError(t, err, "%s has %d lines of code and no doc.go", dir, n) {
			continue
		}
		page := parsed.Doc.Text()
		assert.GreaterOrEqual(t, strings.Count(page, "\n"), minPage, "%s has %d lines of code and too short a page in doc.go", dir, n)
		assert.True(t, strings.Contains(page, "\n\t"), "the page of %s has no indented block: neither an example nor a diagram", dir)
	}
	require.Greater(t, large, 40, "packages with so much code")
}
