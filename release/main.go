package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

const usage = `usage: go -C release run . [flags] FOLDER

Make a release of the commit that is checked out, into an empty folder.

`

// exitUsage is for a wrong command line, as in wander itself.
const exitUsage = 64

var errUsage = errors.New("wrong command line")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(exitUsage)
	case err != nil:
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, messages io.Writer) error {
	o := options{source: "..", maintainer: defaultMaintainer}
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.SetOutput(messages)
	flags.Usage = func() { fmt.Fprint(messages, usage); flags.PrintDefaults() }
	flags.StringVar(&o.source, "source", o.source, "folder of the repository")
	flags.StringVar(&o.version, "version", "", "version of the release (default the tag vVERSION of the commit, or one made of its date and id)")
	flags.StringVar(&o.maintainer, "maintainer", o.maintainer, "who answers for the packages, `\"NAME <ADDRESS>\"`")
	only := flags.String("only", "", "systems and processors, such as linux/amd64,windows/amd64 (default all)")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return err
	} else if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if flags.NArg() != 1 {
		return fmt.Errorf("%w: name one folder; -help shows the flags", errUsage)
	}
	o.out = flags.Arg(0)
	var err error
	if o.targets, err = parseTargets(*only); err != nil {
		return err
	}
	r, err := o.open(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	if err := r.make(ctx); err != nil {
		return err
	}
	fmt.Fprintf(out, "wander %s (commit %s): %s\n", r.version, r.commit, strings.Join(r.made, ", "))
	return nil
}
