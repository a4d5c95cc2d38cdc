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
	"strings"
)

// target is one fuzz function.
type target struct {
	pkg  pack
	name string
}

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
			names, err := fuzzFunctions(filepath.Join(p.Dir, file))
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				if t := (target{p, name}); which.MatchString(t.String()) {
					targets = append(targets, t)
				}
			}
		}
	}
	return targets, nil
}

// fuzzFunctions are the fuzz functions of a file. It is parsed, because what is
// written in a string is none.
func fuzzFunctions(file string) (names []string, err error) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Fuzz") {
			names = append(names, fn.Name.Name)
		}
	}
	return names, nil
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
