package main

import (
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// directory is where the package is that is replaced, from the top of the module.
const directory = "crypto/signature"

//go:embed memo.txt
var memo string

//go:embed memo_test.txt
var memoTest string

// renamed are the functions, by the file that they are in, whose place memo.txt
// takes. They get other names, under which it calls them.
var renamed = map[string][][2]string{
	"direct.go": {
		{"func ParsePublicKey(", "func parseDirectly("},
		{"func (k *PublicKey) Verify(", "func (k *PublicKey) check("},
	},
	"batch.go": {
		{"func (b *Batch) Add(", "func (b *Batch) addAlone("},
		{"func (b *Batch) Verify(", "func (b *Batch) checkTogether("},
	},
}

func main() {
	dir := flag.String("dir", "", "where to write the overlay")
	flag.Parse()
	if err := run(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "overlay:", err)
		os.Exit(1)
	}
}

// run writes the overlay of the module in the working directory.
func run(dir string) error {
	if dir == "" {
		return fmt.Errorf("say with -dir where to write it")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	top, err := os.Getwd()
	if err != nil {
		return err
	}
	files, err := replace(top)
	if err != nil {
		return err
	}
	return write(dir, top, files)
}

// replace is the files that stand in the place of others, by their names.
func replace(top string) (map[string]string, error) {
	files := map[string]string{"memo.go": memo, "memo_test.go": memoTest}
	for name, pairs := range renamed {
		text, err := os.ReadFile(filepath.Join(top, directory, name))
		if err != nil {
			return nil, fmt.Errorf("not at the top of the module: %w", err)
		}
		files[name] = string(text)
		for _, p := range pairs {
			if strings.Count(files[name], p[0]) != 1 {
				return nil, fmt.Errorf("%s: not there once: %s", name, p[0])
			}
			files[name] = strings.Replace(files[name], p[0], p[1], 1)
		}
	}
	return files, nil
}

// write writes the files, and which of them are in the place of which.
func write(dir, top string, files map[string]string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var overlay struct{ Replace map[string]string }
	overlay.Replace = make(map[string]string)
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
		overlay.Replace[filepath.Join(top, directory, name)] = path
	}
	text, err := json.MarshalIndent(overlay, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "overlay.json"), text, 0o644)
}
