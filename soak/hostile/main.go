package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wandertoken/wander/protocol/group"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 64
	exitUnsupported = 69 // this machine cannot run it: nothing was tried
)

// Bounds of the command line.
const (
	// minMembers is with how many honest members a majority of them is more than one bad
	// one, and maxMembers with how many a machine of 2 processors still does their work.
	minMembers, maxMembers = 2, 20
	// minFor is above the time in which a loss is noticed, and above that before the first
	// newcomer. maxFor bounds one group's run.
	minFor, maxFor = 10 * time.Second, 30 * time.Minute
	// minOperation is above what starting a program takes on a busy machine.
	minOperation = 50 * time.Millisecond
	// usualNewcomers are as many as TestHalfOpen of package transport has. Each has a machine:
	// maxNewcomers leaves enough for the others.
	usualNewcomers, maxNewcomers = 20, 100
)

// options are the command line.
type options struct {
	Kinds     []string
	Presets   []string
	Sizes     []int
	For       time.Duration
	Operation time.Duration // how long a program takes
	Hold      time.Duration
	Silence   time.Duration
	Allowance time.Duration
	Rate      float64 // of the bad member; 0: the kind's own
	Newcomers int     // that want to be let in during a flood
	Kill      bool    // an honest member is killed halfway, and comes back
	First     bool    // the bad member is the slot's first keeper
	Wander    string  // programs; empty: they are built
	Liar      string
	Verbose   bool
	Keep      string // where the files of the run stay; empty: they are removed
	Dir       string // of the run within the namespaces
}

const usage = `Usage: hostile [flags]

Measure what bad members do to a group of real processes. It needs Linux,
/dev/net/tun, and root or user namespaces.

Flags:
`

func parse(args []string, out io.Writer) (o options, err error) {
	f := flag.NewFlagSet("hostile", flag.ContinueOnError)
	f.SetOutput(io.Discard) // errors are told by the caller
	o = options{Kinds: usualKinds(), Presets: []string{"fair", "light", "ring"}, Sizes: []int{3, 5}}
	list := func(name, meaning string, of *[]string, known []string) {
		f.Func(name, fmt.Sprintf("%s: of %s (default %s)", meaning, strings.Join(known, ", "), strings.Join(*of, ",")), func(text string) error {
			*of = strings.Split(text, ",")
			for _, x := range *of {
				if !slices.Contains(known, x) {
					return fmt.Errorf("%q: must be one of %s", x, strings.Join(known, ", "))
				}
			}
			return nil
		})
	}
	list("kinds", "what the bad members do", &o.Kinds, allKinds())
	list("presets", "the resource's rules", &o.Presets, []string{"fair", "light", "ring", "split"})
	f.Func("n", fmt.Sprintf("how many honest members, %d to %d, one or more numbers (default 3,5)", minMembers, maxMembers), func(text string) error {
		o.Sizes = nil
		for part := range strings.SplitSeq(text, ",") {
			n, err := strconv.Atoi(part)
			if err != nil || n < minMembers || n > maxMembers {
				return fmt.Errorf("%q: must be %d to %d", part, minMembers, maxMembers)
			}
			o.Sizes = append(o.Sizes, n)
		}
		return nil
	})
	f.DurationVar(&o.For, "for", 150*time.Second, "how long each group is attacked")
	f.DurationVar(&o.Operation, "operation", 300*time.Millisecond, "how long each program takes")
	f.DurationVar(&o.Hold, "max-hold", 4*time.Second, "max_hold of the resource")
	f.DurationVar(&o.Silence, "silence", group.DefaultSilence, "silence of the group")
	f.DurationVar(&o.Allowance, "clock-allowance", time.Minute, "clock_allowance of the group")
	f.Float64Var(&o.Rate, "rate", 0, "acts of a bad member in a second (default that of the kind)")
	f.IntVar(&o.Newcomers, "newcomers", usualNewcomers, fmt.Sprintf("how many newcomers want to be let in during a flood, 1 to %d", maxNewcomers))
	f.BoolVar(&o.Kill, "kill", false, "kill -9 the daemon of the honest member that runs when half the time is over, and start it again after 10 s")
	f.BoolVar(&o.First, "first-keeper", false, "have the bad member be the slot's first keeper, and not the last one")
	f.StringVar(&o.Wander, "wander", "", "the wander program to run (default it is built)")
	f.StringVar(&o.Liar, "liar", "", "the liar program to run (default it is built)")
	f.StringVar(&o.Keep, "keep", "", "an empty folder for the members' files and logs, which stay (default they are removed)")
	f.BoolVar(&o.Verbose, "v", false, "tell more of each run")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			f.SetOutput(out)
			fmt.Fprint(out, usage)
			f.PrintDefaults()
			fmt.Fprint(out, "\nKinds:\n")
			for _, k := range badKinds {
				fmt.Fprintf(out, "  %-15s %s\n", k.name, k.says)
			}
		}
		return o, err
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.For < minFor || o.For > maxFor:
		return o, fmt.Errorf("-for %v: must be %v to %v", o.For, minFor, maxFor)
	case o.Operation < minOperation || o.Operation > o.Hold:
		return o, fmt.Errorf("-operation %v: must be %v to -max-hold", o.Operation, minOperation)
	case o.Newcomers < 1 || o.Newcomers > maxNewcomers:
		return o, fmt.Errorf("-newcomers %d: must be 1 to %d", o.Newcomers, maxNewcomers)
	case o.Rate < 0:
		return o, fmt.Errorf("-rate %v: must not be negative", o.Rate)
	}
	return o, nil
}

func main() {
	runInner() // does not return in a process that is not the first one
	o, err := parse(os.Args[1:], os.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(exitOK)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		fmt.Fprintln(os.Stderr, "hint: hostile -help lists the flags")
		os.Exit(exitUsage)
	}
	code, err := outer(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
	}
	os.Exit(code)
}
