package experiment

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// Options say how experiments are run.
type Options struct {
	Seeds []uint64 // one after the other, as Seeds makes them
	// Parallel is how many runs go at once; 0 is one a core.
	Parallel int
	// Progress, if not nil, is told after each run, never twice at once.
	Progress func(Progress)

	instead map[*constant]float64 // in the place of the constants' own values
	split   *splitting            // nil: all runs are made
	index   int                   // of the first experiment among those that are split
	unit    string                // names the runs, before the experiment
}

// Progress is how far a Run is.
type Progress struct {
	Experiment  string
	Index, Of   int // this experiment, counted from 1, among all
	Done, Total int // runs of the simulation at hand; an experiment may have several
}

const (
	// MaxSeeds bounds the seeds of one Run, whose samples are all kept.
	MaxSeeds = 10_000

	// MaxFirst bounds the first seed, so that no multiple of a seed that an
	// experiment makes overflows.
	MaxFirst = 1_000_000_000
)

// Seeds are n seeds from the first one on.
func Seeds(first uint64, n int) []uint64 {
	seeds := make([]uint64, n)
	for i := range seeds {
		seeds[i] = first + uint64(i)
	}
	return seeds
}

// Run runs the experiments, and returns their results in the same order. Where
// there are fewer seeds than runs may go at once, several experiments go at
// once. Errors: that of an experiment, with its name; ErrNoSeeds; the context's
// cause.
func Run(ctx context.Context, experiments []Experiment, o Options) ([]Result, error) {
	if len(o.Seeds) == 0 {
		return nil, ErrNoSeeds
	}
	if o.Parallel <= 0 {
		o.Parallel = runtime.GOMAXPROCS(0)
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var labs []*Lab
	slots := make(chan struct{}, o.Parallel)
	var telling sync.Mutex
	for i, e := range experiments {
		seeds := o.split.of(o.index+i, o.Seeds)
		if len(seeds) == 0 {
			continue // other parts have them
		}
		mine := o
		mine.Seeds = seeds
		l := newLab(ctx, e, mine)
		l.slots = slots
		labs = append(labs, l)
		if o.Progress != nil {
			l.progress = func(done, total int) {
				telling.Lock()
				defer telling.Unlock()
				o.Progress(Progress{e.Name, i + 1, len(experiments), done, total})
			}
		}
	}
	together(len(labs), atOnce(labs, o), func(i int) {
		if ctx.Err() != nil {
			return
		}
		err := labs[i].result.Run(labs[i])
		if err != nil && !o.split.making() { // of a part the merge tells
			fail(fmt.Errorf("%s: %w", labs[i].result.Name, err))
		}
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if o.split.making() {
		return nil, nil
	}
	return finished(labs)
}

// atOnce is how many experiments go at once. Merged, they go one after the other: which of two that fail comes first does not
// depend on chance.
func atOnce(labs []*Lab, o Options) int {
	if o.split.merging() {
		return 1
	}
	most := 1
	for _, l := range labs {
		most = max(most, len(l.seeds))
	}
	return max(1, o.Parallel/most)
}

// together does something for each index below n, in their order, with so many at once.
func together(n, most int, do func(i int)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(most, n) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				do(int(i))
			}
		})
	}
	workers.Wait()
}

// finished are the results of experiments that have ended. Errors: what an
// experiment did wrong, with its name.
func finished(labs []*Lab) ([]Result, error) {
	names := names{}
	var results []Result
	for _, l := range labs {
		names.check(l)
		if err := l.finish(); err != nil {
			return nil, fmt.Errorf("%s: %w", l.result.Name, err)
		}
		results = append(results, *l.result)
	}
	return results, nil
}

func newLab(ctx context.Context, e Experiment, o Options) *Lab {
	return &Lab{
		ctx: ctx, seeds: o.Seeds, slots: make(chan struct{}, o.Parallel), progress: func(int, int) {}, instead: o.instead, spent: &spent{},
		result: &Result{Experiment: e, Seeds: len(o.Seeds), First: o.Seeds[0]}, split: o.split, unit: o.unit + e.Name,
	}
}

// names are all names handed in so far, with their kind.
type names map[string]bool

// check reports what an experiment names again.
func (n names) check(l *Lab) {
	add := func(kind, name string) {
		if n[kind+name] {
			l.fault(ErrDuplicate, "%s %s", kind, name)
		}
		n[kind+name] = true
	}
	for _, r := range l.result.Rows {
		add("row ", r.ID)
	}
	for _, t := range l.result.Tables {
		add("table ", t.Name)
	}
	for _, f := range l.result.Figures {
		add("figure ", f.Name)
	}
}
