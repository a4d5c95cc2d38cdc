package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// target is one fuzz function.
type target struct {
	pkg  pack
	name string
	of   []string // folders of the packages whose coverage guides it; none: all of the module
}

// directive is the comment at a fuzz function that says of which packages it is:
//
//	//fuzz:of protocol/wire protocol/policy/...
const directive = "//fuzz:of "

// pack is a package of this module.
type pack struct {
	ImportPath   string
	Dir          string
	TestGoFiles  []string
	XTestGoFiles []string
	Module       struct{ Path string }
}

// path is the package's folder in the module.
func (p pack) path() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, p.Module.Path), "/")
}

func (t target) String() string { return t.pkg.path() + "/" + t.name }

// discover lists the targets that match, package by package.
func discover(ctx context.Context, which *regexp.Regexp) (targets []target, err error) {
	packs, err := list(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range packs {
		for _, file := range append(p.TestGoFiles, p.XTestGoFiles...) {
			found, err := fuzzFunctions(p, filepath.Join(p.Dir, file))
			if err != nil {
				return nil, err
			}
			for _, t := range found {
				if err := t.check(packs); err != nil {
					return nil, err
				}
				if which.MatchString(t.String()) {
					targets = append(targets, t)
				}
			}
		}
	}
	return targets, nil
}

// fuzzFunctions are the fuzz functions of a file. It is parsed, because what is
// written in a string is none.
func fuzzFunctions(p pack, file string) (targets []target, err error) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return nil, err
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Fuzz") {
			targets = append(targets, target{p, fn.Name.Name, directed(fn.Doc)})
		}
	}
	return targets, nil
}

// directed is what a directive in a comment says.
func directed(comment *ast.CommentGroup) (of []string) {
	if comment == nil {
		return nil
	}
	for _, line := range comment.List {
		if words, ok := strings.CutPrefix(line.Text, directive); ok {
			of = append(of, strings.Fields(words)...)
		}
	}
	return of
}

var errDirective = errors.New("fuzz:of names a folder without a package")

// check finds names in the directive that are none: they would count nothing.
func (t target) check(packs []pack) error {
	for _, folder := range t.of {
		above, all := strings.CutSuffix(folder, "/...")
		if !slices.ContainsFunc(packs, func(p pack) bool {
			return p.path() == folder || all && (p.path() == above || strings.HasPrefix(p.path(), above+"/"))
		}) {
			return fmt.Errorf("%v: %w: %s", t, errDirective, folder)
		}
	}
	return nil
}

// list is all packages of the module in whose folder we are.
func list(ctx context.Context) (packs []pack, err error) {
	root, err := goCommand(ctx, "", "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return nil, err
	}
	text, err := goCommand(ctx, strings.TrimSpace(string(root)), "list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles,Module", "./...")
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var p pack
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packs, nil
		} else if err != nil {
			return nil, err
		}
		packs = append(packs, p)
	}
}

// goCommand runs the go command in a folder and returns what it prints.
func goCommand(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, complaint.Bytes())
	}
	return text, nil
}
