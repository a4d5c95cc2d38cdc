package protocol_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// maxMethods is how many methods of one type a reader holds in the head. A type that needs
// more is several types.
const maxMethods = 45

// TestTypes_Methods_Few: no type of the module does everything.
func TestTypes_Methods_Few(t *testing.T) {
	methods, err := methodsOf(os.DirFS(".."))
	require.NoError(t, err)
	assert.Empty(t, tooLarge(methods))

	// The test would also pass if it found nothing to read.
	for _, name := range []string{"protocol/member.Member", "ca.Authority", "node.Node"} {
		assert.NotEmpty(t, methods[name], name)
	}
}

func TestTypes_Methods_Counted(t *testing.T) {
	methods, err := methodsOf(fstest.MapFS{
		"a/a.go":         {Data: []byte("package a; type T struct{}; func (t *T) A() {}; func (T) B() {}; func F() {}")},
		"a/a_linux.go":   {Data: []byte("package a; func (T) C() {}")},
		"a/a_windows.go": {Data: []byte("package a; func (T) C() {}")},
		"a/a_test.go":    {Data: []byte("package a; func (T) D() {}")},
		"b/b.go":         {Data: []byte("package b; type T[K, V any] struct{}; func (t *T[K, V]) A() {}; type U[K any] struct{}; func (U[_]) A() {}")},
	})
	require.NoError(t, err)
	assert.Equal(t, map[string]map[string]bool{
		"a.T": {"A": true, "B": true, "C": true}, "b.T": {"A": true}, "b.U": {"A": true},
	}, methods)
}

func TestTypes_TooLarge_Reported(t *testing.T) {
	many := func(n int) map[string]bool {
		methods := map[string]bool{}
		for i := range n {
			methods[fmt.Sprint(i)] = true
		}
		return methods
	}
	assert.Equal(t, []string{"a.Grown has 46 methods, permitted are 45: it lacks a type"},
		tooLarge(map[string]map[string]bool{"a.Full": many(maxMethods), "a.Grown": many(maxMethods + 1)}))
}

// methodsOf are the names of the methods of each type below root, with the type's
// folder before its name. A method that each platform has for itself counts once.
func methodsOf(root fs.FS) (map[string]map[string]bool, error) {
	methods := map[string]map[string]bool{}
	err := eachSource(root, func(name string, text []byte) error {
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil {
				continue
			}
			owner := path.Dir(name) + "." + receiverOf(f.Recv.List[0].Type)
			if methods[owner] == nil {
				methods[owner] = map[string]bool{}
			}
			methods[owner][f.Name.Name] = true
		}
		return nil
	})
	return methods, err
}

// receiverOf is the name of a receiver's type, without pointer and type parameters.
func receiverOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverOf(e.X)
	case *ast.IndexExpr:
		return receiverOf(e.X)
	case *ast.IndexListExpr:
		return receiverOf(e.X)
	}
	return e.(*ast.Ident).Name
}

// tooLarge reports the types with too many methods.
func tooLarge(methods map[string]map[string]bool) (reports []string) {
	for name, m := range methods {
		if len(m) > maxMethods {
			reports = append(reports, fmt.Sprintf("%s has %d methods, permitted are %d: it lacks a type", name, len(m), maxMethods))
		}
	}
	slices.Sort(reports)
	return reports
}
