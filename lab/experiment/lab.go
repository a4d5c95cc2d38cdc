package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wandertoken/wander/lab/figure"
)

// Lab is where one experiment runs, and what it hands its results in to. Its
// methods are for the goroutine of Experiment.Run; what AtOnce does and Gather's
// jobs run at once.
type Lab struct {
	ctx      context.Context
	seeds    []uint64
	slots    chan struct{} // a run has one while it goes; all experiments share them
	progress func(done, total int)
	spent    *spent                // by all jobs
	instead  map[*constant]float64 // what a sweep sets
	result   *Result
	faults   []error

	split *splitting // where experiments are run in parts; nil: not
	// unit names what is gathered here, and gathered counts how often that was: together they name the runs, whatever goes
	// at once.
	unit     string
	gathered int
}

// spent is how long jobs took.
type spent struct {
	counting sync.Mutex
	all      time.Duration
}

func (s *spent) add(d time.Duration) {
	s.counting.Lock()
	defer s.counting.Unlock()
	s.all += d
}

// Result is what an experiment has handed in.
type Result struct {
	Experiment
	Seeds int
	First uint64 // of the seeds, which follow each other
	// Took is how long the runs of one seed took together, on average, by the
	// clock. It is in no file.
	Took        time.Duration
	Rows        []Row
	Tables      []Table
	Figures     []Figure
	NotMeasured []NotMeasured
}

// Table is a CSV file.
type Table struct {
	Name   string // without extension
	Header []string
	Rows   [][]string
}

// Figure is a figure in two files.
type Figure struct {
	Name string // without extension
	Plot figure.Plot
}

// NotMeasured is a claim that cannot be measured here.
type NotMeasured struct {
	Source string `json:"source"`
	Says   string `json:"says"`
	Why    string `json:"why"`
}

// Context ends when the user interrupts. Jobs that take more than a second
// look at it.
func (l *Lab) Context() context.Context { return l.ctx }

// Seeds are the seeds to run with, one run each.
func (l *Lab) Seeds() []uint64 { return slices.Clone(l.seeds) }

// Row hands in a measured claim: one sample a seed, or one alone where nothing
// is random.
func (l *Lab) Row(c Claim, samples []float64) {
	if lack := c.missing(); lack != "" {
		l.fault(ErrIncomplete, "%q has not %s", c.ID, lack)
		return
	}
	if n := len(samples); n != 1 && n != len(l.seeds) {
		l.fault(ErrSamples, "%s has %d for %d seeds", c.ID, n, len(l.seeds))
		return
	}
	row := newRow(c, samples)
	if l.result.Goals {
		for i := range row.Tolerance {
			row.Tolerance[i].Verdict = row.Tolerance[i].Verdict.ofGoal()
		}
		row.Verdict = row.Verdict.ofGoal()
	}
	l.result.Rows = append(l.result.Rows, row)
}

// Table hands in a CSV file.
func (l *Lab) Table(name string, header []string, rows [][]string) {
	l.result.Tables = append(l.result.Tables, Table{name, header, rows})
}

// Plot hands in a figure, written as SVG and PNG.
func (l *Lab) Plot(name string, p figure.Plot) {
	l.result.Figures = append(l.result.Figures, Figure{name, p})
}

// NotMeasured lists a claim that no row can check, and why.
func (l *Lab) NotMeasured(source, says, why string) {
	l.result.NotMeasured = append(l.result.NotMeasured, NotMeasured{source, says, why})
}

func (l *Lab) fault(err error, format string, args ...any) {
	l.faults = append(l.faults, fmt.Errorf("%w: %s", err, fmt.Sprintf(format, args...)))
}

// Gather runs the job once for each seed, on as many cores as are permitted,
// and returns the results in the order of the seeds. Jobs share nothing, and
// depend on their seed alone: not on what other seeds gave, since these may run
// on another machine. The error is that of the first seed that failed, or the
// context's; ErrKept for a type that cannot go from one machine to another.
func Gather[T any](l *Lab, job func(seed uint64) (T, error)) ([]T, error) {
	if err := keepable(reflect.TypeFor[T]()); err != nil {
		return nil, err
	}
	unit := l.nextUnit()
	results := make([]T, len(l.seeds))
	err := l.each(func(i int) (err error) {
		results[i], err = run(l, unit, l.seeds[i], job)
		return err
	})
	return results, err
}

// nextUnit names the runs that are gathered next.
func (l *Lab) nextUnit() string {
	l.gathered++
	return fmt.Sprintf("%s#%d", l.unit, l.gathered)
}

// each calls the job for the index of each seed.
func (l *Lab) each(job func(i int) error) error {
	ctx, cancel := context.WithCancel(l.ctx)
	defer cancel()
	todo := make(chan int)
	go func() {
		defer close(todo)
		for i := range l.seeds {
			select {
			case todo <- i:
			case <-ctx.Done():
				return
			}
		}
	}()
	errs := make([]error, len(l.seeds))
	var done sync.Mutex
	finished := 0
	var workers sync.WaitGroup
	for range min(cap(l.slots), len(l.seeds)) {
		workers.Go(func() {
			for i := range todo {
				if errs[i] = job(i); errs[i] != nil {
					cancel()
				}
				done.Lock()
				finished++
				l.progress(finished, len(l.seeds))
				done.Unlock()
			}
		})
	}
	workers.Wait()
	return l.first(errs)
}

// timed runs a job when it may go, and counts its time.
func timed[T any](l *Lab, job func() (T, error)) (T, time.Duration, error) {
	l.slots <- struct{}{}
	defer func() { <-l.slots }()
	began := time.Now()
	value, err := job()
	took := time.Since(began)
	l.spent.add(took)
	return value, took, err
}

// AtOnce does something that gathers runs for each index below n, with a Lab
// that does nothing else. Where there are fewer seeds than runs may go at once,
// it does so for several at once. None begins after an error. The error is the
// first in the order of the indices.
func AtOnce(l *Lab, n int, do func(l *Lab, i int) error) error {
	var failed atomic.Bool
	errs := make([]error, n)
	unit := l.nextUnit()
	together(n, max(1, cap(l.slots)/len(l.seeds)), func(i int) {
		if failed.Load() {
			return
		}
		mine := *l
		mine.unit, mine.gathered = fmt.Sprintf("%s/%d", unit, i), 0
		if errs[i] = do(&mine, i); errs[i] != nil {
			failed.Store(true)
		}
	})
	return cmp.Or(errs...)
}

// first is the error of the first seed that has one, or the context's.
func (l *Lab) first(errs []error) error {
	if l.ctx.Err() != nil {
		return context.Cause(l.ctx)
	}
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("seed %d: %w", l.seeds[i], err)
		}
	}
	return nil
}

// finish ends the experiment, and reports what it did wrong.
func (l *Lab) finish() error {
	l.result.Took = l.spent.all / time.Duration(len(l.seeds))
	return errors.Join(l.faults...)
}
