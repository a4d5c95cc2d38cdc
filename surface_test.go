package wander_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/golden"
)

// surfaces are the packages that are meant for other modules, with the files of their surfaces.
var surfaces = map[string]string{".": "surface.txt", "wandertest": "surface-wandertest.txt"}

// TestSurface_AsBefore compares what other modules may use with the files in testdata, so that nobody changes it without seeing so: `go test . -run
// Surface -update` writes them anew.
func TestSurface_AsBefore(t *testing.T) {
	for dir, file := range surfaces {
		golden.File(t, "testdata/"+file, surface(t, dir))
	}
}

// surface is the exported declarations of a package, without comments and bodies, sorted.
func surface(t *testing.T, dir string) []byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	files := token.NewFileSet()
	var lines []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, dir+"/"+e.Name(), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		if !ast.FileExports(file) {
			continue
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				if f.Body = nil; ofHidden(f) {
					continue
				}
			}
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
				continue
			}
			var b bytes.Buffer
			require.NoError(t, printer.Fprint(&b, files, d))
			lines = append(lines, b.String()+"\n")
		}
	}
	slices.Sort(lines)
	return []byte(strings.Join(lines, "\n"))
}

// ofHidden reports whether a function is a method of a type that other modules do not see.
func ofHidden(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return false
	}
	of := f.Recv.List[0].Type
	if p, ok := of.(*ast.StarExpr); ok {
		of = p.X
	}
	name, ok := of.(*ast.Ident)
	return ok && !name.IsExported()
}
