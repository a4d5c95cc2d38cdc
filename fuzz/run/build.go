package main

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// builder builds test binaries, each once.
type builder struct {
	scratch string // folder for what is built

	mu    sync.Mutex // one at a time: each takes all processors
	built map[string]string
}

// binary is the test binary of a package that counts what is reached in the
// packages of some folders, in the whole module when none is given.
func (b *builder) binary(ctx context.Context, p pack, of []string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := strings.Join(append([]string{p.path()}, of...), " ")
	if name, ok := b.built[key]; ok {
		return name, nil
	}
	name := filepath.Join(b.scratch, strings.ReplaceAll(p.path(), "/", "-")+"-"+strconv.Itoa(len(b.built))+".test")
	args := []string{"test", "-c", "-o", name}
	if len(of) == 0 {
		of = []string{"..."}
	}
	for _, folder := range of {
		args = append(args, "-gcflags="+p.Module.Path+"/"+folder+"=-d=libfuzzer")
	}
	if _, err := goCommand(ctx, p.Dir, append(args, ".")...); err != nil {
		return "", err
	}
	b.built[key] = name
	return name, nil
}
