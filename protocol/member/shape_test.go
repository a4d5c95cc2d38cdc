package member_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// maxMethods is how many methods of one type a reader holds in the head. A type that needs
// more is several types.
const maxMethods = 45

// TestTypes_Methods_Few: no type of this package grows back into one that does everything.
func TestTypes_Methods_Few(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	count := make(map[string]int)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil {
				continue
			}
			receiver := f.Recv.List[0].Type
			if p, is := receiver.(*ast.StarExpr); is {
				receiver = p.X
			}
			count[receiver.(*ast.Ident).Name]++
		}
	}
	assert.Positive(t, count["Member"])
	for name, n := range count {
		assert.LessOrEqual(t, n, maxMethods, name)
	}
}
