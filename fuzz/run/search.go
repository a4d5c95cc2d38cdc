package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// portion is how many executions a target gets before it is the next one's
// turn: so a search that is stopped has been fair, and has lost little.
const portion = 1_000_000

// search is one call of the command.
type search struct {
	*options
	out      io.Writer
	scratch  string // folder for what is built
	targets  []target
	binaries map[string]string // by import path
	commit   string
	done     map[string]int64 // executions by target, of earlier calls too
	failed   map[string]bool
	runs     []record // of this call
}

// run searches with every target until all have had their share.
func (s *search) run(ctx context.Context) (clean bool, err error) {
	if err := s.prepare(ctx); err != nil {
		return false, err
	}
	for more := s.time > 0 || s.execs > 0; more && ctx.Err() == nil; {
		if more, err = s.round(ctx); err != nil {
			return false, err
		}
	}
	if len(s.runs) > 0 {
		fmt.Fprintln(s.out)
		table(s.out, sums(s.runs))
	}
	if s.cover && ctx.Err() == nil {
		err = s.coverage(ctx)
	}
	return len(s.failed) == 0, err
}

func (s *search) prepare(ctx context.Context) error {
	s.done, s.failed, s.binaries = make(map[string]int64), make(map[string]bool), make(map[string]string)
	if err := s.resume(); err != nil {
		return err
	}
	s.commit = commitOf(ctx)
	if s.cache == "" {
		dir, err := goCommand(ctx, "", "env", "GOCACHE")
		if err != nil {
			return err
		}
		s.cache = filepath.Join(strings.TrimSpace(string(dir)), "fuzz")
	}
	cache, err := filepath.Abs(s.cache)
	s.cache = cache
	return err
}

// resume counts the executions that the file has already.
func (s *search) resume() error {
	if s.options.out == "" {
		return nil
	}
	records, err := load(s.options.out)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, r := range records {
		s.done[r.Target] += r.Executions
	}
	return err
}

// round gives every target its portion. more says that some need another one.
func (s *search) round(ctx context.Context) (more bool, err error) {
	for _, t := range s.targets {
		name := t.String()
		if ctx.Err() != nil {
			return false, nil
		}
		if s.failed[name] || s.execs > 0 && s.done[name] >= s.execs {
			continue
		}
		r, err := s.once(ctx, t)
		if err != nil {
			return false, err
		}
		if s.execs > 0 && r.Executions == 0 && r.Failure == "" && ctx.Err() == nil {
			return false, fmt.Errorf("%w: %s", errIdle, name) // or the search would never end
		}
		s.done[name] += r.Executions
		if r.Failure != "" {
			s.failed[name] = true
		}
		more = more || r.Failure == "" && s.done[name] < s.execs
	}
	return more, nil
}

// once runs a target for its time, or for one portion, and books it.
func (s *search) once(ctx context.Context, t target) (record, error) {
	binary, err := s.binary(ctx, t.pkg)
	if err != nil {
		return record{}, err
	}
	amount := s.time.String()
	if s.execs > 0 {
		amount = fmt.Sprintf("%dx", min(portion, s.execs-s.done[t.String()]))
	}
	r := record{Target: t.String(), Commit: s.commit, Begun: time.Now().UTC().Truncate(time.Second), Workers: s.parallel}
	e := execution{
		binary: binary, dir: t.pkg.Dir, name: t.name, amount: amount, parallel: s.parallel,
		cache: filepath.Join(s.cache, filepath.FromSlash(t.pkg.ImportPath)),
	}
	e.run(ctx, &r)
	s.runs = append(s.runs, r)
	fmt.Fprintln(s.out, r)
	if s.options.out == "" {
		return r, nil
	}
	return r, r.appendTo(s.options.out)
}

// binary builds the test binary of a package, once.
func (s *search) binary(ctx context.Context, p pack) (string, error) {
	if name, ok := s.binaries[p.ImportPath]; ok {
		return name, nil
	}
	name := filepath.Join(s.scratch, strings.ReplaceAll(p.path(), "/", "-")+".test")
	_, err := goCommand(ctx, p.Dir, "test", "-c", "-gcflags="+p.Module.Path+"/...=-d=libfuzzer", "-o", name, ".")
	s.binaries[p.ImportPath] = name
	return name, err
}
