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
	"os"

	"golang.org/x/tools/go/packages"
)

const programs = "./cmd/..."

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "systems: no system specified; give some, as darwin windows")
		os.Exit(2)
	}
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

// check type-checks packages of the module in dir, with their tests and all that they import,
// for a system. It returns the errors, and how many packages it has read.
func check(dir, system string, patterns ...string) (count int, errs []packages.Error, err error) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesSizes,
		Dir:   dir,
		Tests: true,
		Env:   append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"),
	}, patterns...)
	if err != nil {
		return 0, nil, err
	}
	packages.Visit(loaded, nil, func(p *packages.Package) {
		count++
		errs = append(errs, p.Errors...)
	})
	return count, errs, nil
}
