package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/wandertoken/wander/soak/liar/report"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 64
)

// options are the command line.
type options struct {
	kind       string
	dir        string // with member.crt, member.key and group.crt
	accomplice string // the same of another bad member
	listen     string
	peers      []string // where honest members listen
	bad        []string // names of all bad members, the first one's first
	resource   string
	rate       float64       // acts in a second
	shift      time.Duration // of the genesis times
	fresh      bool          // a new incarnation for each genesis
	variant    string
	span       time.Duration // for which it says that its program runs
	report     string        // file
}

const usage = `Usage: liar -kind KIND -dir FOLDER -listen ADDRESS -peers ADDRESS,… -resource NAME [flags]

Join a group as a bad member, for a test of the group. The hostile runs start it.

Flags:
`

func parse(args []string, out io.Writer) (o options, err error) {
	f := flag.NewFlagSet("liar", flag.ContinueOnError)
	f.SetOutput(io.Discard) // errors are told by the caller
	list := func(name, meaning string, of *[]string) {
		f.Func(name, meaning, func(text string) error {
			*of = strings.Split(text, ",")
			return nil
		})
	}
	names := make([]string, 0, len(kinds))
	for name := range kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	f.StringVar(&o.kind, "kind", "", "of "+strings.Join(append(names, kindFlood), ", "))
	f.StringVar(&o.dir, "dir", "", "folder with member.crt, member.key and group.crt")
	f.StringVar(&o.accomplice, "accomplice", "", "the same folder of another bad member, whose key this one has, too")
	f.StringVar(&o.listen, "listen", "", "address to listen at, and to dial from")
	list("peers", "addresses of honest members", &o.peers)
	list("bad", "names of all bad members, in the order of their ring", &o.bad)
	f.StringVar(&o.resource, "resource", "", "resource that it attacks")
	f.Float64Var(&o.rate, "rate", 1, "acts in a second")
	f.DurationVar(&o.shift, "shift", 0, "how far the genesis times are from the clock, ahead if positive")
	f.BoolVar(&o.fresh, "fresh", false, "minter: a new incarnation for each genesis")
	f.StringVar(&o.variant, "variant", "", "dropper: mute, half or dead; forger: 1970 or 2100; flood: mute")
	f.DurationVar(&o.span, "span", 0, "how long its program takes, as it says")
	f.StringVar(&o.report, "report", "", "file for what it has done")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			f.SetOutput(out)
			fmt.Fprint(out, usage)
			f.PrintDefaults()
		}
		return o, err
	}
	_, known := kinds[o.kind]
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case !known && o.kind != kindFlood:
		return o, fmt.Errorf("-kind %q: must be one of %s", o.kind, strings.Join(append(names, kindFlood), ", "))
	case o.rate <= 0 || o.rate > maxRate:
		return o, fmt.Errorf("-rate %v: must be greater than 0, at most %d", o.rate, maxRate)
	case o.listen == "" || len(o.peers) == 0:
		return o, errors.New("-listen and -peers must be given")
	case o.dir == "" && o.kind != kindFlood:
		return o, errors.New("-dir must be given")
	}
	return o, nil
}

// maxRate bounds the acts in a second: a bad member must not take the whole processor that
// honest ones are measured on.
const maxRate = 1000

func main() {
	o, err := parse(os.Args[1:], os.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(exitOK)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		fmt.Fprintln(os.Stderr, "hint: liar -help lists the flags")
		os.Exit(exitUsage)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	var r report.Report
	if o.kind == kindFlood {
		err = flood(ctx, o, &r)
	} else {
		err = live(ctx, o, &r)
	}
	if err != nil {
		r.Error = err.Error()
		fmt.Fprintln(os.Stderr, "error:", err)
	}
	if o.report != "" {
		err = errors.Join(err, r.Write(o.report))
	}
	if err != nil {
		os.Exit(exitFailure)
	}
}
