package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/cmd/wander/internal/supervise"
	"github.com/wandertoken/wander/protocol/duration"
	"github.com/wandertoken/wander/protocol/group"
)

// shellPath runs the string of -c: the same one for everybody, whatever shell
// the user prefers.
const shellPath = "/bin/sh"

// runOptions are the command line of `wander run`.
type runOptions struct {
	resource     string
	command      []string
	waitFor      waitValue
	nonblock     bool
	conflictCode int
	otherwise    choice[elseAction]
	maxHold      cli.Span
	minHold      cli.Span
	oncePer      cli.Span
	onLost       choice[supervise.OnLost]
	grace        cli.Span
	shellCommand string
	quiet        bool
	verbose      bool
	dryRun       bool
	acrossReboot bool
	remind       bool // of the deadline
	reportTo     string
	socket       string
}

// elseAction is what to do without a grant.
type elseAction int

const (
	elseFail elseAction = iota
	elseSkip
	elseRun
)

func newRunOptions() *runOptions {
	return &runOptions{
		waitFor: waitValue{forever: true}, conflictCode: cli.ExitNotGranted,
		otherwise: choice[elseAction]{names: []string{"fail", "skip", "run"}},
		onLost:    choice[supervise.OnLost]{names: []string{"term", "kill", "warn"}},
	}
}

func (o *runOptions) register(f *pflag.FlagSet) {
	f.SetInterspersed(false) // the flags behind CMD are CMD's
	f.Var(&o.waitFor, "wait", "maximum time to wait for a grant, or \"forever\"")
	f.BoolVarP(&o.nonblock, "nonblock", "n", false, "do not wait for a grant")
	f.IntVarP(&o.conflictCode, "conflict-exit-code", "E", cli.ExitNotGranted, "exit with this code if not granted in time")
	f.Var(&o.otherwise, "else", "if not granted in time: fail, skip (exit 0) or run (without a grant)")
	f.Var(&o.maxHold, "max-hold", "request a shorter grant than the resource's max_hold (default max_hold)")
	f.Var(&o.minHold, "min-hold", "keep the token at least this long, even if CMD ends sooner, but not beyond the grant's deadline")
	f.Var(&o.oncePer, "once-per", "do not run if the group ran the operation more recently than this")
	f.Var(&o.onLost, "on-lost", "if the grant is lost: term, kill or warn")
	f.Var(&o.grace, "grace", "time between SIGTERM and SIGKILL, at most half of the grant (default a tenth, at most 5s)")
	f.StringVarP(&o.shellCommand, "command", "c", "", "run this string with "+shellPath+" instead of CMD")
	f.BoolVar(&o.acrossReboot, "across-reboot", false, "hold across a restart of the machine that CMD brings about, until wander release or the deadline")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "suppress warnings, and the message when not granted or stopped")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "say on the standard error what happens: asked, granted, ended")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would run and what the resource waits for, and run nothing")
	f.StringVar(&o.reportTo, "report", "", "write a JSON report to this `FILE`, to fd:N, or to - (the standard output)")
	addSocketFlag(f, &o.socket)
}

// parse reads what stands behind the flags before RESOURCE, and reports whether
// help is wanted. The error is an *exitError, or a mistake in the flags.
func (o *runOptions) parse(f *pflag.FlagSet, args []string) (help bool, err error) {
	if len(args) == 0 || f.ArgsLenAtDash() == 0 {
		return false, o.usage("no resource specified")
	}
	if o.resource = args[0]; o.resource == "" { // a script's variable that is not set
		return false, o.usage("the resource name is empty")
	}
	if err := group.CheckName(o.resource); err != nil {
		return false, &cli.Error{Code: cli.ExitUsage, Err: err, Hint: "wander status shows the resources of the group"}
	}
	if err := f.Parse(args[1:]); err != nil {
		return false, err
	}
	o.command = f.Args()
	if help, err = f.GetBool("help"); err == nil && help {
		return true, nil
	}
	return false, o.check(f)
}

func (o *runOptions) usage(format string, args ...any) error {
	return &cli.Error{
		Code: cli.ExitUsage, Err: fmt.Errorf(format, args...),
		Hint: "write it as: wander run RESOURCE [flags] -- CMD...",
	}
}

// check finds what contradicts itself.
func (o *runOptions) check(f *pflag.FlagSet) error {
	switch {
	case f.Changed("command") && len(o.command) > 0:
		return o.usage("-c and CMD cannot be combined")
	case f.Changed("command"):
		o.command = []string{shellPath, "-c", o.shellCommand}
	case len(o.command) == 0:
		return o.usage("no command specified to run under %s", o.resource)
	}
	if o.nonblock {
		if f.Changed("wait") && (o.waitFor.forever || o.waitFor.Duration > 0) {
			return o.usage("--nonblock and --wait cannot be combined")
		}
		o.waitFor = waitValue{}
	}
	if o.quiet && o.verbose {
		return o.usage("--quiet and --verbose cannot be combined")
	}
	if o.conflictCode < 0 || o.conflictCode > 255 {
		return o.usage("--conflict-exit-code %d: must be 0 to 255", o.conflictCode)
	}
	for _, d := range []struct {
		name string
		cli.Span
	}{{"max-hold", o.maxHold}, {"min-hold", o.minHold}, {"once-per", o.oncePer}, {"grace", o.grace}} {
		if d.Duration < 0 {
			return o.usage("--%s %v: must not be negative", d.name, d.Span)
		}
	}
	if o.acrossReboot && o.otherwise.value == elseRun {
		return o.usage("--across-reboot and --else run cannot be combined: the machine would restart without a grant")
	}
	if o.maxHold.Duration > 0 && o.minHold.Duration > o.maxHold.Duration {
		return o.usage("--min-hold %v is longer than --max-hold %v", o.minHold, o.maxHold)
	}
	return nil
}

// waitValue is the value of --wait.
type waitValue struct {
	time.Duration
	forever bool
}

func (w *waitValue) Type() string { return "DUR|forever" }

func (w *waitValue) String() string {
	if w.forever {
		return "forever"
	}
	return duration.Format(w.Duration)
}

func (w *waitValue) Set(s string) error {
	if s == "forever" {
		*w = waitValue{forever: true}
		return nil
	}
	d, err := duration.Parse(s)
	if err != nil || d < 0 {
		return fmt.Errorf("must be a duration such as 90s, or \"forever\"")
	}
	*w = waitValue{Duration: d}
	return nil
}

// choice is a flag whose value is one of a few names, which stand for 0, 1, 2…
type choice[T ~int] struct {
	names []string
	value T
}

func (c *choice[T]) Type() string { return strings.Join(c.names, "|") }

func (c *choice[T]) String() string {
	if len(c.names) == 0 {
		return ""
	}
	return c.names[c.value]
}

func (c *choice[T]) Set(s string) error {
	i := slices.Index(c.names, s)
	if i < 0 {
		return fmt.Errorf("must be one of %s", strings.Join(c.names, ", "))
	}
	c.value = T(i)
	return nil
}
