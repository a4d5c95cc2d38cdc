package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
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
	exitMissed      = 70 // a goal was missed, with -check
)

// options are the command line.
type options struct {
	Cases    []string
	Presets  []string
	Modes    []string
	OnSilent []string
	Silence  time.Duration
	Hold     time.Duration
	Members  int
	Runs     int
	Wander   string // program; empty: it is built
	Verbose  bool
	Check    bool
	Keep     string // where the files of the run stay; empty: they are removed
	Dir      string // of the run within the namespaces
}

const usage = `Usage: loss [flags]

Lose a member in each of several ways, and measure how soon another one runs. It needs
Linux, /dev/net/tun, and root or user namespaces.

Flags:
`

func parse(args []string, out io.Writer) (o options, err error) {
	f := flag.NewFlagSet("loss", flag.ContinueOnError)
	f.SetOutput(io.Discard) // errors are told by the caller
	o = options{Cases: namesOf(cases), Presets: []string{"fair", "light", "split", "ring"}, Modes: []string{"durable", "volatile"}, OnSilent: []string{"wait"}}
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
	list("cases", "what happens", &o.Cases, o.Cases)
	list("presets", "the resource's rules", &o.Presets, o.Presets)
	list("modes", "of the members", &o.Modes, o.Modes)
	list("on-silent-holder", "the resource's setting", &o.OnSilent, []string{"wait", "replace"})
	f.DurationVar(&o.Silence, "silence", group.DefaultSilence, "silence of the group")
	f.DurationVar(&o.Hold, "max-hold", 8*time.Second, "max_hold of the resource, 2s at least")
	f.IntVar(&o.Members, "members", 5, "how many members, 4 to 32")
	f.IntVar(&o.Runs, "runs", 5, "how often each")
	f.StringVar(&o.Wander, "wander", "", "the wander program to run (default it is built)")
	f.StringVar(&o.Keep, "keep", "", "an empty folder for the members' files and logs, which stay (default they are removed)")
	f.BoolVar(&o.Verbose, "v", false, "tell of each run")
	f.BoolVar(&o.Check, "check", false, "fail if a median is above its goal")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			f.SetOutput(out)
			fmt.Fprint(out, usage)
			f.PrintDefaults()
			fmt.Fprint(out, "\nCases:\n")
			for _, c := range cases {
				fmt.Fprintf(out, "  %-10s %s\n", c.name, c.says)
			}
		}
		return o, err
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.Members < 4 || o.Members > 32:
		return o, fmt.Errorf("-members %d: permitted are 4 to 32", o.Members)
	case o.Runs < 1:
		return o, fmt.Errorf("-runs %d: must be greater than 0", o.Runs)
	case o.Hold < 2*time.Second:
		return o, fmt.Errorf("-max-hold %v: must be at least 2s", o.Hold)
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
		fmt.Fprintln(os.Stderr, "hint: loss -help lists the flags")
		os.Exit(exitUsage)
	}
	code, err := outer(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
	}
	os.Exit(code)
}
