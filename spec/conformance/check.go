package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/quic-go/quic-go"

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
	Requirements []string // identifiers of the specification that it looks at
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
	lost     bool        // a connection that is not among sessions
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

// maxTries is how often a check is made that fails as it loses a connection. On a busy
// machine that happens now and then; a member that always lets connections fade fails.
const maxTries = 3

// try makes one check, each time within its time.
func (r *run) try(ctx context.Context, c Check) (result Result) {
	began := time.Now()
	for range maxTries {
		var lost bool
		if result, lost = r.once(ctx, c); result.Verdict != Fail || !lost {
			break
		}
	}
	result.Took = time.Since(began)
	return result
}

// once makes one check within its time, and reports whether it has lost a connection.
func (r *run) once(ctx context.Context, c Check) (result Result, lost bool) {
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	t := &trial{run: r, ctx: ctx}
	result = Result{Name: c.Name, Requirements: c.Requirements, Verdict: Pass}
	defer func() {
		if o := outcomeOf(recover()); o != nil {
			result.Verdict, result.Detail = o.verdict, o.detail
		}
		lost = t.hasLost()
		t.close()
		if r.drawn > 0 {
			r.settled = r.drawn + 1 // nothing of this check goes on
		}
	}()
	c.script(t)
	return result, false
}

// hasLost reports whether a connection of the check was lost.
func (t *trial) hasLost() bool {
	return t.lost || slices.ContainsFunc(t.sessions, func(s *session) bool { return isLoss(context.Cause(s.quic.Context())) })
}

// isLoss reports whether a connection ended so that the member's last words may be
// missing: a stateless reset overtakes what waits to be read, so that the code that the
// member has closed the connection with remains unknown, and after an idle timeout nobody
// knows what was in progress.
func isLoss(err error) bool {
	var reset *quic.StatelessResetError
	var idle *quic.IdleTimeoutError
	return errors.As(err, &reset) || errors.As(err, &idle)
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
