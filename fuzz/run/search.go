package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// portion is how many executions a target gets before it is the next one's
// turn: so a search that is stopped has been fair, and has lost little.
const portion = 1_000_000

// search is one call of the command. Its targets run at the same time, as many as
// there are to be workers.
type search struct {
	*options
	out     io.Writer
	targets []target
	builder *builder
	commit  string
	workers int // of one target

	mu    sync.Mutex
	queue []target         // those that wait for their turn
	done  map[string]int64 // executions by target, of earlier calls too
	runs  []record         // of this call
	err   error            // why the search cannot go on
}

// run searches with every target until all have had their share.
func (s *search) run(ctx context.Context) (clean bool, err error) {
	if err := s.prepare(ctx); err != nil {
		return false, err
	}
	if s.time > 0 || s.execs > 0 {
		s.queue = slices.Clone(s.targets)
	}
	atOnce := min(s.parallel, len(s.targets))
	s.workers = s.parallel / atOnce
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() { s.turns(ctx) })
	}
	all.Wait()
	if len(s.runs) > 0 {
		fmt.Fprintln(s.out)
		table(s.out, sums(s.runs))
	}
	if s.cover && ctx.Err() == nil && s.err == nil {
		s.err = s.coverage(ctx)
	}
	return !slices.ContainsFunc(s.runs, func(r record) bool { return r.Failure != "" }), s.err
}

func (s *search) prepare(ctx context.Context) error {
	s.done = make(map[string]int64)
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
	records, torn, err := load(s.options.out)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case torn > 0: // the next line must not become part of it
		if err := cut(s.options.out, int64(torn)); err != nil {
			return err
		}
	}
	for _, r := range records {
		s.done[r.Target] += r.Executions
	}
	return nil
}

// cut takes some bytes from the end of a file.
func cut(name string, bytes int64) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	return os.Truncate(name, info.Size()-bytes)
}

// turns gives one target after the other its portion, until none waits.
func (s *search) turns(ctx context.Context) {
	for ctx.Err() == nil {
		t, amount, ok := s.next()
		if !ok {
			return
		}
		r, err := s.once(ctx, t, amount)
		if s.booked(t, r, err, ctx.Err() != nil); err != nil {
			return
		}
	}
}

// next takes the first target that still has something to do from the queue, with
// how much that is in the words of go test.
func (s *search) next() (t target, amount string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) > 0 && s.err == nil {
		t, s.queue = s.queue[0], s.queue[1:]
		if s.time > 0 {
			return t, s.time.String(), true
		}
		if rest := s.execs - s.done[t.String()]; rest > 0 {
			return t, fmt.Sprintf("%dx", min(portion, rest)), true
		}
	}
	return t, "", false
}

// booked enters what a turn came to, and lines its target up again when it is to
// have another one.
func (s *search) booked(t target, r record, err error, stopped bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := t.String()
	if err == nil && s.execs > 0 && r.Executions == 0 && r.Failure == "" && !stopped {
		err = fmt.Errorf("%w: %s", errIdle, name) // or the search would never end
	}
	if err == nil && s.options.out != "" {
		err = r.appendTo(s.options.out)
	}
	if err != nil {
		s.err = errors.Join(s.err, err)
		return
	}
	s.runs = append(s.runs, r)
	fmt.Fprintln(s.out, r)
	s.done[name] += r.Executions
	if s.execs > 0 && r.Failure == "" {
		s.queue = append(s.queue, t)
	}
}

// once runs a target for some time, or for some executions.
func (s *search) once(ctx context.Context, t target, amount string) (record, error) {
	of := t.of
	if !s.long() {
		of = nil
	}
	binary, err := s.builder.binary(ctx, t.pkg, of)
	if err != nil {
		return record{}, err
	}
	r := record{Target: t.String(), Commit: s.commit, Begun: time.Now().UTC().Truncate(time.Second), Workers: s.workers}
	e := execution{
		binary: binary, dir: t.pkg.Dir, name: t.name, amount: amount, parallel: s.workers,
		cache:     filepath.Join(s.cache, filepath.FromSlash(t.pkg.ImportPath)),
		remembers: !slices.ContainsFunc(t.of, computes),
	}
	e.run(ctx, &r)
	return r, nil
}

// computes reports whether a folder has package signature in it, all of which is to
// be seen at work. Targets of others get the verdicts that their keys remember.
func computes(folder string) bool {
	above, all := strings.CutSuffix(folder, "...")
	return folder == "crypto/signature" || all && strings.HasPrefix("crypto/signature/", above)
}

// A search is long when building a test binary for every group of targets, some ten
// seconds each, costs less than counting only what a target is of saves.
const (
	longExecutions = 100_000
	longTime       = 20 * time.Second
)

func (s *search) long() bool { return s.execs >= longExecutions || s.time >= longTime }
