package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/wandertoken/wander/soak/plan"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 64
	exitUnsupported = 69 // this machine cannot run it: nothing was tried
	exitBroken      = 70 // a verdict is broken
	exitInterrupted = 130
)

// options are the command line.
type options struct {
	Plan    string
	For     time.Duration
	Members int
	Seed    uint64
	Silence time.Duration // of the group
	Out     string        // folder; empty: a temporary one
	Keep    bool
	Timing  bool
	Wander  string // program; empty: it is built
	Show    bool   // the plan only
	Again   string // folder of a run that is to be judged again
}

const usage = `Usage: soak [flags]

Run a group of real members on machines of their own, each a network namespace,
hurt them as a plan says, and judge what happened. It needs Linux, /dev/net/tun,
and root or user namespaces.

Flags:
`

const exitCodes = `
Exit codes: 0 all verdicts hold; 64 the command line; 69 this machine cannot run
it, and nothing was tried; 70 a verdict is broken; 130 interrupted; 1 anything else.
`

func parse(args []string, out io.Writer) (o options, err error) {
	f := flag.NewFlagSet("soak", flag.ContinueOnError)
	f.SetOutput(io.Discard) // errors are told by the caller
	f.StringVar(&o.Plan, "plan", "mixed", "what happens: "+strings.Join(plan.Names(), ", "))
	f.DurationVar(&o.For, "for", 2*time.Minute, "how long, from the moment when all members are up")
	f.IntVar(&o.Members, "members", 8, "how many members")
	f.Uint64Var(&o.Seed, "seed", 1, "one seed gives one plan")
	f.DurationVar(&o.Silence, "silence", plan.DefaultSilence, "silence of the group")
	f.StringVar(&o.Out, "out", "", "new or empty folder for journals, logs and the report; it is kept (default a temporary one)")
	f.BoolVar(&o.Keep, "keep", false, "keep the temporary folder even if all verdicts hold")
	f.BoolVar(&o.Timing, "timing", false, "fail also for verdicts that depend on the speed of the machine")
	f.StringVar(&o.Wander, "wander", "", "the wander program to run (default it is built)")
	f.StringVar(&o.Again, "judge", "", "judge the run in this kept folder again, with new audits of its journals")
	f.BoolVar(&o.Show, "show", false, "print the plan, and do nothing")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			f.SetOutput(out)
			fmt.Fprint(out, usage)
			f.PrintDefaults()
			fmt.Fprint(out, exitCodes)
		}
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	return o, nil
}

func (o options) makePlan() (plan.Plan, error) {
	return plan.Make(o.Plan, plan.Options{Seed: o.Seed, Members: o.Members, For: o.For, Silence: o.Silence})
}

func main() {
	runInner() // does not return in a process that is not the first one
	o, err := parse(os.Args[1:], os.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(exitOK)
	}
	var p plan.Plan
	if err == nil && o.Again == "" {
		p, err = o.makePlan()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		fmt.Fprintln(os.Stderr, "hint: soak -help lists the flags")
		os.Exit(exitUsage)
	}
	if o.Show {
		show(os.Stdout, p)
		return
	}
	work := outer
	if o.Again != "" {
		work = judgeAgain
	}
	code, err := work(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
	}
	os.Exit(code)
}

// show prints a plan for people.
func show(w io.Writer, p plan.Plan) {
	fmt.Fprintf(w, "plan %s, seed %d: %d members for %v, the last %v without faults\n", p.Name, p.Seed, len(p.Members), p.For, p.Calm)
	for _, s := range p.Steps {
		fmt.Fprintln(w, " ", s)
	}
}
