package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/node/explain"
	"github.com/wandertoken/wander/protocol/clock"
)

const (
	// answerSlack is how long after the end of a wait the daemon's answer may
	// come; a daemon that is stuck must not make --wait longer.
	answerSlack = 2 * time.Second

	// releaseFor and releaseAtMost are how long a release is tried: until the
	// deadline, but at least and at most so long. A daemon that is restarted is
	// back by then; after one that was stopped, a script must not hang, and
	// the grant ends at its deadline anyway.
	releaseFor    = 2 * time.Second
	releaseAtMost = 10 * time.Second

	// noteAfter is how long a person at a terminal waits before being told
	// what for.
	noteAfter = time.Second

	// noteEvery is how often that is looked at anew: as often as anybody reads it.
	noteEvery = 2 * time.Second
)

// Causes for which a wait ends.
var (
	errSignal = errors.New("a signal ended the wait")
	errLate   = fmt.Errorf("%w: the daemon does not answer", api.ErrNotGranted)
)

// acquire waits for the grant, through restarts of the daemon. A signal ends it
// with errSignal.
func (r *runner) acquire() (*api.Held, error) {
	end := clock.Never
	if !r.waitFor.forever {
		end = r.started.Add(r.waitFor.Duration)
	}
	ctx, stop := r.until(end.Add(answerSlack), errLate)
	r.say("asking the daemon at %s for %s", r.socket, r.resource)
	quiet := r.noteWaiting()
	held, err := r.client.AcquireThroughRestarts(ctx, r.request(), end)
	quiet()
	signal := stop()
	if signal == nil {
		return held, err
	}
	if held != nil {
		r.release(held.Grant(), clock.Instant(0), api.ReleaseRequest{Grant: held.Grant().ID})
		held.Close()
	}
	r.interrupted = signal
	return nil, errSignal
}

func (r *runner) request() api.AcquireRequest {
	return api.AcquireRequest{
		Resource: r.resource, MaxHoldMS: api.Millis(r.maxHold.Duration), MinHoldMS: api.Millis(r.minHold.Duration),
		OncePerMS: api.Millis(r.oncePer.Duration),
		Label:     label(r.command), PID: os.Getpid(), Held: r.held.grants,
		AcrossReboot: r.acrossReboot,
	}
}

// label shows people who waits: the command, as far as there is room.
func label(command []string) string {
	s := cli.OneLine(strings.ToValidUTF8(strings.Join(command, " "), "?"))
	if len(s) > api.MaxLabel {
		s = strings.ToValidUTF8(s[:api.MaxLabel], "")
	}
	return s
}

// noteWaiting tells a person at a terminal in one line what this is waiting for, unless it comes soon, and how that goes
// on. The function it returns ends that.
func (r *runner) noteWaiting() (stop func()) {
	show, clear := cli.ProgressLine(r.env.Err)
	file, ok := r.env.Err.(*os.File)
	if r.quiet || !ok || !term.IsTerminal(int(file.Fd())) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		pause := time.NewTimer(noteAfter)
		defer pause.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-pause.C:
			}
			line := cli.OneLine("waiting for " + r.resource + r.whyWaiting(ctx))
			if width, _, err := term.GetSize(int(file.Fd())); err == nil {
				line = fitting(line, width)
			}
			show("%s", line)
			pause.Reset(noteEvery)
		}
	}()
	return func() {
		cancel()
		<-ended
		clear()
	}
}

// fitting is a line cut to the width of a terminal: one that wraps could not be replaced. A width of 1 has no room for
// anything; 0 is not known.
func fitting(line string, width int) string {
	if r := []rune(line); width > 1 && len(r) >= width {
		return string(r[:width-2]) + "…"
	}
	return line
}

// whyWaiting is the daemon's sentence about the resource, or nothing if it does not answer.
func (r *runner) whyWaiting(ctx context.Context) string {
	st, err := r.client.Status(ctx)
	if err != nil {
		return ""
	}
	return sentenceOf(&st, r.resource)
}

// sentenceOf is why a program waits for a resource: the member's sentence, if it keeps the program from it.
func sentenceOf(st *api.Status, resource string) string {
	if why, known := explain.OfProgram(st, resource); known {
		return ": " + why.Sentence
	}
	return ""
}

// notGranted ends the run for the reason why there is no grant.
func (r *runner) notGranted(err error) error {
	if e := new(api.Error); errors.As(err, &e) {
		r.report.Gate = e.Gate
	}
	switch {
	case errors.Is(err, errSignal):
		r.report.Outcome = outcomeInterrupted
		return silent(cli.ExitSignal + signalNumber(r.interrupted))
	case errors.Is(err, api.ErrNotDue):
		return r.conflict(outcomeNotDue, err)
	case errors.Is(err, api.ErrNotGranted):
		return r.conflict(outcomeNotGranted, err)
	case errors.Is(err, api.ErrIsolated):
		return r.fail(outcomeIsolated, cli.ExitUnavailable, err)
	case errors.Is(err, api.ErrUnavailable):
		return r.fail(outcomeUnavailable, cli.ExitUnavailable, err)
	case errors.Is(err, api.ErrRevoked):
		return r.fail(outcomeRevoked, cli.ExitNoPermission, err)
	case errors.Is(err, api.ErrRefused):
		return r.fail(outcomeRefused, cli.ExitNoPermission, err)
	case errors.Is(err, api.ErrHeld):
		return r.fail(outcomeHeld, cli.ExitUsage, err)
	}
	return r.fail(outcomeError, cli.ExitBug, err)
}

// conflict does what --else says.
func (r *runner) conflict(why outcome, err error) error {
	r.report.Outcome = why
	err = fmt.Errorf("%s: %w", r.resource, err)
	switch r.otherwise.value {
	case elseSkip:
		return nil
	case elseRun:
		r.warn(err.Error() + "; running without a grant")
		return r.withoutGrant()
	}
	return r.told(r.conflictCode, err, "")
}

// fail is an end that neither --else nor -q has a say in.
func (r *runner) fail(why outcome, code int, err error) error {
	r.report.Outcome = why
	hint := ""
	var e *api.Error
	if errors.As(err, &e) {
		hint = e.Hint
	}
	switch {
	case errors.Is(err, api.ErrNoDaemon):
		hint = unansweredHint(r.socket, err)
		if name, is := isGate(r.env); is {
			hint = fmt.Sprintf("this machine is gate %s, which has no grants to give: run wander gate here, and wander run on a member", name)
		}
	case why == outcomeHeld:
		hint = "run the command without `wander run`: it already runs under a grant"
	case why == outcomeIsolated && hint == "":
		hint = "check the network between the members: wander members shows their addresses"
	case why == outcomeRefused && hint == "":
		ctx, cancel := patiently(context.Background())
		st, _ := r.client.Status(ctx)
		cancel()
		hint = resourceHint(st, r.resource)
	}
	return hintAtLastWord(r.env, r.socket, &cli.Error{Code: code, Err: fmt.Errorf("%s: %w", r.resource, err), Hint: hint})
}

func signalNumber(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return int(n)
	}
	return 0
}

// release tells the daemon that the resource is free, so that the token goes on
// before the deadline. A daemon that is being restarted hears it when it is
// back.
func (r *runner) release(g api.Grant, deadline clock.Instant, request api.ReleaseRequest) {
	now := boottime.Now()
	last := min(max(deadline, now.Add(releaseFor)), now.Add(releaseAtMost))
	ctx, stop := r.until(last, api.ErrUnavailable)
	defer stop()
	switch err := r.client.ReleaseThroughRestarts(ctx, request); {
	case err == nil:
	case !errors.Is(err, api.ErrUnavailable):
		r.warn("the daemon rejected the release: " + err.Error())
	default:
		text := "could not release the grant at the daemon"
		if boottime.Now().Before(deadline) {
			text += "; the grant is held until " + g.Deadline.Format(time.RFC3339)
		}
		r.warn(text)
	}
}

// until returns a context that ends at an instant, for the cause given, or with
// a signal. The function that it returns ends it too and tells the signal, if
// there was one.
func (r *runner) until(at clock.Instant, cause error) (context.Context, func() os.Signal) {
	ctx, cancel := context.WithCancelCause(context.Background())
	alarm := boottime.NewAlarm(at)
	caught := make(chan os.Signal, 1)
	go func() {
		defer alarm.Stop()
		var s os.Signal
		select {
		case <-alarm.C:
			cancel(cause)
		case s = <-r.signals:
			cancel(errSignal)
		case <-ctx.Done():
		}
		caught <- s
	}()
	return ctx, func() os.Signal {
		cancel(context.Canceled)
		return <-caught
	}
}
