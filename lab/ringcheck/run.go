package ringcheck

import (
	"fmt"

	"github.com/wandertoken/wander/protocol/policy/ring"
)

// Run is a ring on which steps are made, and what they cost.
type Run struct {
	*Ring
	Requests  int // made so far
	Sent      int // messages, requests and token
	Delivered int
	Served    int // requests that got their token
	// WorstSent and WorstDelivered are the largest service traffic seen: the
	// messages between a request and its token, by the two ways of counting.
	WorstSent, WorstDelivered int
	// SumSent is the service traffic of all that were served, in messages sent.
	SumSent int
	// MostInside is the most processors that were inside at once.
	MostInside int

	since []since // of each processor: when it asked
}

// since is what had been exchanged before a request.
type since struct{ sent, delivered int }

// newRun begins with a quiet ring, as NewRing. Error: ErrProcessors.
func newRun(alg ring.Algorithm, n int) (*Run, error) {
	r, err := newRing(alg, n)
	if err != nil {
		return nil, err
	}
	return &Run{Ring: r, since: make([]since, n)}, nil
}

// Play makes the steps of a schedule. Errors: ErrProcessors; ErrImpossible,
// with the run up to that step.
func Play(alg ring.Algorithm, n int, schedule Schedule) (*Run, error) {
	r, err := newRun(alg, n)
	if err != nil {
		return nil, err
	}
	for i, s := range schedule {
		if err := r.step(s); err != nil {
			return r, fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return r, nil
}

// step makes a step. Error: ErrImpossible.
func (r *Run) step(s Step) error {
	if !r.Enabled(s) {
		return fmt.Errorf("%w: %v", ErrImpossible, s)
	}
	before := since{r.Sent, r.Delivered}
	e := r.do(s)
	if e.Sent {
		r.Sent++
	}
	if e.Delivered {
		r.Delivered++
	}
	if e.Asked {
		r.Requests++
		r.since[s.Processor] = before
	}
	if e.Entered {
		r.served(e.Processor)
	}
	return nil
}

func (r *Run) served(p int) {
	r.Served++
	sent, delivered := r.Sent-r.since[p].sent, r.Delivered-r.since[p].delivered
	r.SumSent += sent
	r.WorstSent = max(r.WorstSent, sent)
	r.WorstDelivered = max(r.WorstDelivered, delivered)
	r.MostInside = max(r.MostInside, r.inside())
}

// PerRequest is the messages sent for each request so far.
func (r *Run) PerRequest() float64 { return float64(r.Sent) / float64(r.Requests) }

// Stuck reports whether somebody waits and nothing can happen any more but
// further requests.
func (r *Run) Stuck() bool { return r.waits() && !r.progresses() }
