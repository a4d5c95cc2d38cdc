package judge

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/soak/record"
)

// Run is one protected program. It runs while its process exists, a stopped
// process included: it has not ended, and goes on when it is continued.
type Run struct {
	Resource, Member, Token string
	Hop, Fence              uint64
	PID                     int
	Deadline                clock.Instant
	// Sure is when it certainly ran: from its first act to the last one that is
	// known of it.
	Sure Span
	// Whole is when it ran at most: from the birth of its process, as the system has it,
	// or the begin of its grant, until the observer saw that it was gone.
	Whole Span
	// Ended reports whether it ended by itself.
	Ended bool
}

// Span is a time from one instant to another one.
type Span struct{ From, To clock.Instant }

// Length is zero for a span that ends before it begins.
func (s Span) Length() time.Duration { return max(0, s.To.Sub(s.From)) }

// and is the part that both spans have.
func (s Span) and(o Span) Span { return Span{max(s.From, o.From), min(s.To, o.To)} }

// ErrLog is a log that contradicts itself.
var ErrLog = errors.New("the log contradicts itself")

// process names a program's process: the system gives out ids again.
type process struct {
	pid  int
	born clock.Instant
}

// Runs are the programs of a log, in the order of their beginning. A program
// that is not gone yet runs at least until its last record, and at most until
// the time given.
func Runs(log []record.Record, until clock.Instant) ([]Run, error) {
	all := make(map[process]*Run)
	var order []process
	for _, r := range log {
		p := process{r.PID, r.Born}
		run := all[p]
		if run == nil {
			run = &Run{
				Resource: r.Resource, Member: r.Member, Token: r.Token, Hop: r.Hop, Fence: r.Fence, PID: r.PID, Deadline: r.Deadline,
				Whole: Span{r.Born, until},
			}
			all[p] = run
			order = append(order, p)
		}
		if run.Member != r.Member || run.Resource != r.Resource || run.Token != r.Token || run.Hop != r.Hop {
			return nil, fmt.Errorf("%w: two programs in process %d", ErrLog, r.PID)
		}
		run.take(r)
	}
	list := make([]Run, 0, len(order))
	for _, p := range order {
		run := all[p]
		if run.Sure == (Span{}) { // it was killed before it could write
			run.Sure = Span{run.Whole.To, run.Whole.To}
		}
		list = append(list, *run)
	}
	slices.SortStableFunc(list, func(a, b Run) int { return cmp.Compare(a.Sure.From, b.Sure.From) })
	return list, nil
}

func (run *Run) take(r record.Record) {
	switch r.Kind {
	case record.Start:
		run.Sure = Span{r.At, max(r.At, run.Sure.To)}
	case record.Alive, record.End:
		run.Sure.To = max(run.Sure.To, r.At)
		run.Ended = run.Ended || r.Kind == record.End
	case record.Gone:
		run.Whole.To = r.At
	}
}

// reading is more than lies between the two clocks by which a program knows its deadline.
const reading = 10 * time.Millisecond

// granted lets no program begin sooner than a grant of the longest length may that ends
// at the program's deadline. A wander run makes the process while it waits, and the
// program keeps the birth of that process.
func granted(runs []Run, longest map[string]time.Duration) []Run {
	list := slices.Clone(runs)
	for i := range list {
		r := &list[i]
		if hold := longest[r.Resource]; hold > 0 {
			r.Whole.From = max(r.Whole.From, min(r.Deadline.Add(-hold-reading), r.Sure.From))
		}
	}
	return list
}

// before leaves out what came at or after an instant.
func before(runs []Run, end clock.Instant) []Run {
	var list []Run
	for _, r := range runs {
		if r.Whole.From >= end {
			continue
		}
		r.Whole.To, r.Sure.To = min(r.Whole.To, end), min(r.Sure.To, end)
		list = append(list, r)
	}
	return list
}

func sure(r Run) Span  { return r.Sure }
func whole(r Run) Span { return r.Whole }

// atOnce is for how long more than so many of the spans lasted at the same time.
func atOnce(spans []Span, more int) (sum time.Duration) {
	sweep(spans, func(from, to clock.Instant, n int) {
		if n > more {
			sum += to.Sub(from)
		}
	})
	return sum
}

// sweep tells for each part of the time how many of the spans cover it.
func sweep(spans []Span, tell func(from, to clock.Instant, n int)) {
	type edge struct {
		at clock.Instant
		by int
	}
	edges := make([]edge, 0, 2*len(spans))
	for _, s := range spans {
		if s.To > s.From {
			edges = append(edges, edge{s.From, 1}, edge{s.To, -1})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	n := 0
	for i, e := range edges {
		n += e.by
		if i+1 < len(edges) && edges[i+1].at > e.at {
			tell(e.at, edges[i+1].at, n)
		}
	}
}

// spansOf are the spans of the runs under a resource.
func spansOf(runs []Run, resource string, span func(Run) Span) (list []Span) {
	for _, r := range runs {
		if r.Resource == resource {
			list = append(list, span(r))
		}
	}
	return list
}

// Overlap is for how long more than so many programs ran at the same time under
// a resource: certainly, and at most.
func Overlap(runs []Run, resource string, more int) (least, most time.Duration) {
	return atOnce(spansOf(runs, resource, sure), more), atOnce(spansOf(runs, resource, whole), more)
}

// together names the programs that certainly ran at the same time under a resource. Runs are
// in the order of their beginning.
func together(runs []Run, resource string) (list []string) {
	var last Run // the one that ran longest
	for _, r := range runs {
		if r.Resource != resource {
			continue
		}
		if both := r.Sure.and(last.Sure).Length(); both > 0 {
			list = append(list, fmt.Sprintf("%s and %s for %v, from %v before the deadline of the first one on", last.Member, r.Member, both, last.Deadline.Sub(r.Sure.From)))
		}
		if r.Sure.To >= last.Sure.To {
			last = r
		}
	}
	return list
}
