package conformance

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
)

// Verdict is what became of a check.
type Verdict string

// The verdicts. Skipped means that the check could not be made, and its detail
// says what it would need.
const (
	Pass    Verdict = "pass"
	Fail    Verdict = "fail"
	Skipped Verdict = "skipped"
)

// Check is one script.
type Check struct {
	Name         string
	Requirements []string // identifiers of spec/protocol.md that it looks at
	Does         string   // one sentence: what is done, and what has to follow
	script       func(*trial)
}

// Result is what one check has shown.
type Result struct {
	Name         string        `json:"name"`
	Requirements []string      `json:"requirements"`
	Verdict      Verdict       `json:"verdict"`
	Detail       string        `json:"detail"` // empty on a pass
	Took         time.Duration `json:"-"`
}

// Checks are all checks, in the order in which they run. The ones that leave
// something behind come last.
func Checks() []Check {
	return slices.Concat(
		handshakeChecks, streamChecks, connectionChecks, messageChecks, directoryChecks, newsChecks,
		rateChecks, offerChecks, transferChecks, senderChecks, liarChecks, newerChecks,
	)
}

// trial is one run of one check. Its methods end the check by a panic with an
// outcome, which try turns into the result.
type trial struct {
	*run
	ctx      context.Context
	sessions []*session
	open     ident.Token // whose TRANSFERs are left without answer, but by the check
}

// outcome is how a check ended before its end.
type outcome struct {
	verdict Verdict
	detail  string
}

func (t *trial) fail(format string, args ...any) {
	panic(outcome{Fail, fmt.Sprintf(format, args...)})
}

func (t *trial) skip(format string, args ...any) {
	panic(outcome{Skipped, fmt.Sprintf(format, args...)})
}

// check fails the trial unless ok.
func (t *trial) check(ok bool, format string, args ...any) {
	if !ok {
		t.fail(format, args...)
	}
}

// try makes one check within its time.
func (r *run) try(ctx context.Context, c Check) (result Result) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	t := &trial{run: r, ctx: ctx}
	result = Result{Name: c.Name, Requirements: c.Requirements, Verdict: Pass}
	defer func() {
		if o := outcomeOf(recover()); o != nil {
			result.Verdict, result.Detail = o.verdict, o.detail
		}
		t.close()
		if r.drawn > 0 {
			r.settled = r.drawn + 1 // nothing of this check goes on
		}
		result.Took = time.Since(began)
	}()
	c.script(t)
	return result
}

// outcomeOf is the outcome that was thrown, nil if there was none. Anything else
// is a bug here, and goes on.
func outcomeOf(thrown any) *outcome {
	if thrown == nil {
		return nil
	}
	o, ok := thrown.(outcome)
	if !ok {
		panic(thrown)
	}
	return &o
}

// close ends the connections of the check in order.
func (t *trial) close() {
	for _, s := range t.sessions {
		s.close()
	}
}

// wait pauses the check.
func (t *trial) wait(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.ctx.Done():
		t.fail("the time is over")
	}
}

// needsTime skips the check unless so much of its time is left.
func (t *trial) needsTime(d time.Duration, why string) {
	if deadline, ok := t.ctx.Deadline(); ok && time.Until(deadline) < d {
		t.skip("%s: needs a timeout above %v", why, d.Round(time.Second/10))
	}
}
