// Command bench measures what a handoff costs, side by side with a straw man
// that does the unavoidable work and nothing else:
//
//	go run ./node/bench throughput
//	go run ./node/bench latency
//
// docs/benchmarks.md says what is measured, how to read it, and what came out.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/wandertoken/wander/protocol/policy/wandering"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

const usage = `usage: go run ./node/bench throughput|latency [flags]

throughput  handoffs a second and processor time for each, of two processes
latency     time from release to enabled through a relay that delays

`

func run(args []string, out, progress io.Writer) error {
	if len(args) == 0 {
		return fmt.Errorf("no measurement named\n%s", usage)
	}
	f := flag.NewFlagSet(args[0], flag.ContinueOnError)
	f.Usage = func() { fmt.Fprint(f.Output(), usage); f.PrintDefaults() }
	switch args[0] {
	case childCommand:
		return runChild(args[1:], os.Stdin, out)
	case "throughput":
		p := plan{progress: progress}
		f.IntVar(&p.rounds, "rounds", 7, "how often each thing is measured; the medians count")
		f.DurationVar(&p.window, "window", 2*time.Second, "how long one measurement lasts")
		f.DurationVar(&p.warmUp, "warm-up", time.Second, "how long it runs before")
		f.StringVar(&p.dir, "dir", "", "folder for the journals, on the disk to be measured (default: a temporary one)")
		f.StringVar(&p.profiles, "profiles", "", "folder to write CPU profiles to")
		f.Func("tokens", "how many tokens (default 1,8,64)", p.tokens.parse)
		f.Func("only", "which subjects, as "+strings.Join(subjectNames(), ",")+" (default all)", p.only)
		if err := f.Parse(args[1:]); err != nil {
			return err
		}
		return p.run(out)
	case "latency":
		l := latencies{progress: progress}
		f.IntVar(&l.rounds, "rounds", 5, "how often each thing is measured")
		f.IntVar(&l.handoffs, "handoffs", 20, "how many handoffs in a round")
		f.StringVar(&l.preset, "preset", wandering.Paper, "preset of the policy wandering")
		if err := f.Parse(args[1:]); err != nil {
			return err
		}
		return l.run(out)
	}
	return fmt.Errorf("no measurement is called %q\n%s", args[0], usage)
}

// counts are numbers of tokens.
type counts []int

func (c *counts) parse(list string) error {
	for _, s := range strings.Split(list, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > maxTokens {
			return fmt.Errorf("%q is no number from 1 to %d", s, maxTokens)
		}
		*c = append(*c, n)
	}
	return nil
}
