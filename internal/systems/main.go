// Command systems type-checks the programs of this module, and all that they import, for
// other operating systems:
//
//	go run ./internal/systems darwin windows
//
// It finds what does not compile there, and generates no code: so it takes seconds where a
// build of the standard library and of all modules for another system takes minutes. It
// prints one line for each error and exits with 1 if there is any.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

const programs = "./cmd/..."

func main() {
	failed := false
	for _, system := range os.Args[1:] {
		count, errs, err := check(".", system, programs)
		if err != nil {
			fmt.Fprintln(os.Stderr, "systems:", err)
			os.Exit(2)
		}
		for _, e := range errs {
			fmt.Printf("%s: %s\n", system, e)
			failed = true
		}
		fmt.Printf("%s: %d packages\n", system, count)
	}
	if failed {
		os.Exit(1)
	}
}

// check type-checks packages of the module in dir, with their tests, for a system. It
// returns the errors in packages of the module, and how many packages it has read, those of
// other modules included.
func check(dir, system string, patterns ...string) (count int, errs []packages.Error, err error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return 0, nil, err
	}
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax | packages.NeedModule | packages.NeedTypesSizes,
		Dir:   dir,
		Tests: true,
		Env:   append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"),
		ParseFile: func(files *token.FileSet, name string, text []byte) (*ast.File, error) {
			f, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
			if f != nil && !strings.HasPrefix(name, root+string(filepath.Separator)) {
				declare(f)
			}
			return f, err
		},
	}, patterns...)
	if err != nil {
		return 0, nil, err
	}
	packages.Visit(loaded, nil, func(p *packages.Package) {
		count++
		generated := strings.HasSuffix(p.ID, ".test") // the main function of a test, which go list writes
		if p.Module != nil && p.Module.Main && !generated {
			errs = append(errs, p.Errors...)
		}
	})
	return count, errs, nil
}

// declare leaves of a file of another module what it declares: its maintainers have
// compiled its functions.
func declare(f *ast.File) {
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok {
			d.Body = nil
		}
	}
}
