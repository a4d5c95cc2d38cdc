package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/duration"
	"github.com/wandertoken/wander/protocol/group"
)

// countdown is how often a person sees how much time is left.
const countdown = time.Second

// reminders are how long before its end a grant reminds the person at a shell, who sees no countdown.
var reminders = []time.Duration{5 * time.Minute, time.Minute, 10 * time.Second}

const holdLong = `Hold a token of the resource while you work by hand, at most until the grant's deadline. On a
terminal, a line shows the time left. Enter, Ctrl-D or the end of the input gives the token
back, and so does a signal. An Enter that you type while you wait gives the token back as soon as it is here.

With --shell, hold it for as long as a shell runs ($SHELL, or ` + shellPath + `): the shell sees the
variables of wander run, and is stopped as a command of it is, with all that it has started,
at the deadline or if the grant is lost. A reminder comes 5 minutes, a minute and 10 seconds
before the deadline.

Without --shell nothing is stopped: you are told, and stop by yourself.

Exit code: 0 if you ended it, the shell's own with --shell, 128+n after signal n, 76 if the
deadline came or the grant was lost, and otherwise as wander run.`

func newHoldCommand(env *environment) *cobra.Command {
	o := newRunOptions()
	shell := false
	cmd := &cobra.Command{
		Use:     "hold RESOURCE",
		Short:   "Hold a token while you work by hand",
		Long:    holdLong,
		Example: "  wander hold tape\n  wander hold tape --shell --wait 10m --max-hold 30m",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.resource = args[0]
			if err := group.CheckName(o.resource); err != nil {
				return &cli.Error{Code: cli.ExitUsage, Err: err, Hint: "wander status shows the resources of the group"}
			}
			if shell {
				o.command, o.remind = []string{cmp.Or(env.Getenv("SHELL"), shellPath)}, true
			} else {
				o.command = []string{"wander", "hold"} // the label
			}
			if err := o.check(cmd.Flags()); err != nil {
				return err
			}
			var err error
			if o.socket, err = socketPath(env, o.socket); err != nil {
				return err
			}
			r := newRunner(env, o)
			if shell {
				return r.run()
			}
			return r.hold()
		},
	}
	cmd.Flags().BoolVar(&shell, "shell", false, "hold it for as long as a shell runs")
	o.registerHold(cmd.Flags())
	return cmd
}

// registerHold adds the flags of `wander run` that make sense without a command.
func (o *runOptions) registerHold(f *pflag.FlagSet) {
	f.Var(&o.waitFor, "wait", "maximum time to wait for a grant, or \"forever\"")
	f.BoolVarP(&o.nonblock, "nonblock", "n", false, "do not wait for a grant")
	f.Var(&o.maxHold, "max-hold", "request a shorter grant than the resource's max_hold (default max_hold)")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show no time left, and suppress warnings")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "say on the standard error what happens")
	f.StringVar(&o.reportTo, "report", "", "write a JSON report to this `FILE`, to fd:N, or to - (the standard output)")
	addSocketFlag(f, &o.socket)
}

// hold holds a grant until a person ends it.
func (r *runner) hold() (err error) {
	if r.out, err = openReport(r.reportTo); err != nil {
		return reportError(err)
	}
	if r.held, err = readHeld(r.env.Getenv); err != nil {
		return err
	}
	var stop func()
	r.signals, stop = catchSignals()
	defer stop()
	defer r.writeReport()
	held, err := r.acquire()
	r.report.WaitedS = boottime.Now().Sub(r.started).Seconds()
	if err != nil {
		return r.notGranted(err)
	}
	defer held.Close()
	grant, begin := held.Grant(), boottime.Now()
	deadline := grant.DeadlineHere()
	r.tookGrant(grant)
	end := r.untilEnded(held, deadline)
	r.report.HeldS = boottime.Now().Sub(begin).Seconds()
	r.writeReport()
	r.release(grant, deadline, api.ReleaseRequest{Grant: grant.ID, Operated: true, SeenFrom: begin, SeenTo: boottime.Now()})
	return end
}

// untilEnded shows the time left until the person, a signal, the deadline or the loss of the grant ends the hold.
func (r *runner) untilEnded(held *api.Held, deadline clock.Instant) error {
	show, clear := r.countdown()
	defer clear()
	alarm := boottime.NewAlarm(deadline)
	defer alarm.Stop()
	tick := time.NewTicker(countdown)
	defer tick.Stop()
	entered, lost := enter(r.env.In), held.Lost()
	r.report.Outcome = outcomeCompleted
	for {
		if left := deadline.Sub(boottime.Now()); left > 0 {
			show("holding %s: %s left, until %s; Enter or Ctrl-D gives it back", r.resource,
				duration.Format(left.Round(time.Second)), held.Grant().Deadline.Local().Format(time.TimeOnly))
		}
		select {
		case <-tick.C:
		case <-entered:
			return nil
		case s := <-r.signals:
			r.report.Outcome = outcomeInterrupted
			return silent(cli.ExitSignal + signalNumber(s))
		case <-alarm.C:
			clear()
			r.report.Outcome = outcomeDeadline
			return r.told(cli.ExitLost, errors.New("the grant expired: another member may use "+r.resource+" now"), r.longerHint())
		case reason, ok := <-lost:
			if !ok { // the daemon has gone, and the grant stands
				lost = nil
				continue
			}
			clear()
			r.report.Outcome = outcomeLost
			return r.told(cli.ExitLost, fmt.Errorf("the grant was lost (%s): stop using %s now", reason, r.resource), "")
		}
	}
}

// countdown shows a line that replaces the one before, on a terminal.
func (r *runner) countdown() (show func(format string, args ...any), clear func()) {
	file, ok := r.env.Err.(*os.File)
	if r.quiet || !ok {
		return func(string, ...any) {}, func() {}
	}
	print, clear := cli.ProgressLine(file)
	return func(format string, args ...any) {
		line := fmt.Sprintf(format, args...)
		if width, _, err := term.GetSize(int(file.Fd())); err == nil {
			line = fitting(line, width)
		}
		print("%s", line)
	}, clear
}

// enter is closed when a line, or the end of the input, has come.
func enter(in io.Reader) <-chan struct{} {
	came := make(chan struct{})
	go func() {
		defer close(came)
		_, _ = bufio.NewReader(in).ReadString('\n')
	}()
	return came
}

// remindOf says how long a person may work in a shell, and reminds of the end until stop is called.
func (r *runner) remindOf(deadline clock.Instant) (stop func()) {
	if !r.remind || r.quiet {
		return func() {}
	}
	left := deadline.Sub(boottime.Now())
	fmt.Fprintf(r.env.Err, "wander: holding %s for %s, until %s; the end of this shell gives it back\n", r.resource,
		duration.Format(left.Round(time.Second)), time.Now().Add(left).Format(time.TimeOnly))
	var timers []*time.Timer
	for _, before := range reminders {
		if wait := left - before; wait > 0 {
			timers = append(timers, time.AfterFunc(wait, func() {
				fmt.Fprintf(r.env.Err, "\r\nwander: %s left of the grant of %s; then this shell is stopped\r\n", duration.Format(before), r.resource)
			}))
		}
	}
	return func() {
		for _, t := range timers {
			t.Stop()
		}
	}
}
