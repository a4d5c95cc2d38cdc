package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"syscall"
	"time"
)

const (
	exitOK = iota
	exitFound
	exitUsage
)

// options are the flags of the command.
type options struct {
	time     time.Duration  // for each target; 0: not given
	execs    int64          // for each target; 0: not given
	targets  *regexp.Regexp // which ones
	parallel int            // workers of all targets
	out      string         // file that runs are appended to
	total    string         // file whose sums are asked for
	cache    string         // directory of inputs that were found interesting
	cover    bool
	list     bool
}

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program: it returns the exit code.
func run(args []string, out, errOut io.Writer) int {
	o, err := parse(args, errOut)
	if err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintf(errOut, "error: %v\n", err)
		}
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	clean, err := o.do(ctx, out)
	switch {
	case err != nil:
		fmt.Fprintf(errOut, "error: %v\n", err)
		return exitFound
	case !clean:
		return exitFound
	}
	return exitOK
}

func parse(args []string, errOut io.Writer) (options, error) {
	var o options
	var pattern string
	f := flag.NewFlagSet("fuzz/run", flag.ContinueOnError)
	f.SetOutput(errOut)
	f.DurationVar(&o.time, "time", 0, "how long each target runs, 60s for example")
	f.Int64Var(&o.execs, "execs", 0, "how many executions each target gets, with those that the file of -out has already")
	f.StringVar(&pattern, "targets", ".", "a regular expression: only targets whose package/name it matches")
	f.IntVar(&o.parallel, "parallel", runtime.NumCPU(), "workers at the same time, of one target each as long as there are targets enough")
	f.StringVar(&o.out, "out", "", "file to which each run appends a line of JSON; with -cover, a profile stands beside it")
	f.StringVar(&o.total, "total", "", "print the sums of this file by target, and run nothing")
	f.StringVar(&o.cache, "cache", "", "directory of inputs found interesting; default: the one of go test")
	f.BoolVar(&o.cover, "cover", false, "at the end, measure which statements the inputs reach, by package")
	f.BoolVar(&o.list, "list", false, "print the targets, and run nothing")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	var err error
	if o.targets, err = regexp.Compile(pattern); err != nil {
		return o, err
	}
	return o, o.check(f.Args())
}

var (
	errArguments = errors.New("all is said with flags; -help shows them")
	errHowLong   = errors.New("one of -time and -execs has to say how long; -help shows all flags")
	errParallel  = errors.New("-parallel: at least one worker")
	errNoTarget  = errors.New("no target matches -targets; -list shows them")
	errIdle      = errors.New("a target ran without a single execution")
)

func (o *options) check(rest []string) error {
	switch {
	case len(rest) > 0:
		return errArguments
	case o.parallel < 1:
		return errParallel
	case o.list || o.total != "" || o.cover && o.time == 0 && o.execs == 0:
		return nil
	case o.time < 0 || o.execs < 0 || (o.time == 0) == (o.execs == 0):
		return errHowLong
	}
	return nil
}

// do performs what the flags ask for. clean says that nothing was found.
func (o *options) do(ctx context.Context, out io.Writer) (clean bool, err error) {
	if o.total != "" {
		return printTotals(out, o.total)
	}
	targets, err := discover(ctx, o.targets)
	if err != nil {
		return false, err
	}
	if len(targets) == 0 {
		return false, errNoTarget
	}
	if o.list {
		for _, t := range targets {
			fmt.Fprintln(out, t)
		}
		return true, nil
	}
	scratch, err := os.MkdirTemp("", "wander-fuzz-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(scratch)
	b := &builder{scratch: scratch, built: make(map[string]string)}
	s := &search{options: o, out: out, builder: b, targets: targets}
	return s.run(ctx)
}
