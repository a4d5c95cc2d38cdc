package experiment

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/wandertoken/wander/lab/shard"
)

// Errors about the runs of the parts, beside those of package shard. Program and arguments being the same, both
// are bugs of an experiment: its jobs are to depend on their seed alone.
var (
	ErrNotRun = errors.New("experiment: no shard made this run")
	ErrUnused = errors.New("experiment: the shards made other runs")
)

// splitting says that experiments are run in parts, or merged. A job has as many runs as it has experiments, or values of a
// sweep, times seeds; they are counted from 0, all seeds of the first one first.
type splitting struct {
	part  shard.Part // to make; none in a merge
	parts *shard.Set // to merge

	using   sync.Mutex // of what follows, and of parts
	records []shard.Record
}

// of are the seeds of the part, of the experiment or value with this index.
func (s *splitting) of(index int, seeds []uint64) (mine []uint64) {
	if s == nil || s.parts != nil {
		return seeds
	}
	for i, seed := range seeds {
		if s.part.Has(index*len(seeds) + i) {
			mine = append(mine, seed)
		}
	}
	return mine
}

// making reports whether these are the runs of a part: what the experiments make of them is worth nothing.
func (s *splitting) making() bool { return s != nil && s.parts == nil }

// merging reports whether no run is made.
func (s *splitting) merging() bool { return s != nil && s.parts != nil }

// run makes a run and keeps what it gave, or takes what a part has kept.
func run[T any](l *Lab, unit string, seed uint64, job func(seed uint64) (T, error)) (T, error) {
	s := l.split
	if s.merging() {
		s.using.Lock()
		r, there := s.parts.Take(unit, seed)
		s.using.Unlock()
		l.spent.add(r.Took)
		var none T
		switch {
		case !there:
			return none, fmt.Errorf("%w: %s", ErrNotRun, unit)
		case r.Failure != "":
			return none, errors.New(r.Failure)
		}
		return keptValue[T](r.Value)
	}
	value, took, err := timed(l, func() (T, error) { return job(seed) })
	if !s.making() {
		return value, err
	}
	r := shard.Record{Unit: unit, Seed: seed, Took: took}
	if err != nil {
		r.Failure = err.Error()
	} else if r.Value, err = keep(value); err != nil {
		return value, err
	}
	s.using.Lock()
	defer s.using.Unlock()
	s.records = append(s.records, r)
	return value, err
}

// RunPart makes the runs of one part, and returns what they gave; a run that fails gives that. Errors: ErrNoSeeds; the context's
// cause.
func RunPart(ctx context.Context, experiments []Experiment, o Options, part shard.Part) ([]shard.Record, error) {
	return inPart(ctx, &o, part, func() error {
		_, err := Run(ctx, experiments, o)
		return err
	})
}

// RunSweepPart is RunPart of RunSweep.
func RunSweepPart(ctx context.Context, experiments []Experiment, o Options, part shard.Part) ([]shard.Record, error) {
	return inPart(ctx, &o, part, func() error {
		_, err := RunSweep(ctx, experiments, o)
		return err
	})
}

func inPart(ctx context.Context, o *Options, part shard.Part, do func() error) ([]shard.Record, error) {
	s := &splitting{part: part}
	o.split = s
	err := do()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return s.records, err
}

// Merge is Run with the runs of all parts in the place of its own.
func Merge(ctx context.Context, experiments []Experiment, o Options, parts *shard.Set) ([]Result, error) {
	o.split = &splitting{parts: parts}
	results, err := Run(ctx, experiments, o)
	if err == nil && parts.Unused() > 0 {
		return nil, fmt.Errorf("%w: %d", ErrUnused, parts.Unused())
	}
	return results, err
}

// MergeSweep is Merge of RunSweep.
func MergeSweep(ctx context.Context, experiments []Experiment, o Options, parts *shard.Set) (Sweep, error) {
	o.split = &splitting{parts: parts}
	sweep, err := RunSweep(ctx, experiments, o)
	if err == nil && parts.Unused() > 0 {
		return nil, fmt.Errorf("%w: %d", ErrUnused, parts.Unused())
	}
	return sweep, err
}
