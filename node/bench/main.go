// Command bench measures what a handoff costs, side by side with a straw man
// that does the unavoidable work and nothing else:
//
//	go run ./node/bench throughput
//	go run ./node/bench latency
//	go run ./node/bench regression
//
// and what it costs in a whole group, with what policies say to each other:
//
//	go run ./node/bench walk
//
// and what a member costs while nobody wants anything:
//
//	go run ./node/bench idle
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

const usage = `usage: go run ./node/bench throughput|regression|latency|walk|idle [flags]

throughput  handoffs a second and processor time for each, of two processes
regression  the processor time at 64 tokens against the straw man's; fails above a limit
latency     time from release to enabled through a relay that delays
walk        messages, connections and processor time for each operation among many members
idle        wake-ups and processor time of each member of a group that wants nothing

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
		f.Func("tokens", "how many tokens (default 1,8,64)", p.tokens.parse(1, maxTokens))
		f.BoolVar(&p.apart, "apart", false, "give each token a resource of its own, instead of a slot of one resource")
		f.Func("only", "which subjects, as "+strings.Join(subjectNames(), ",")+" (default all)", p.only)
		if err := f.Parse(args[1:]); err != nil {
			return err
		}
		return p.run(out)
	case "regression":
		g := regression{progress: io.Discard}
		f.StringVar(&g.subject, "subject", "volatile", "what is compared with the straw man: "+strings.Join(subjectNames(), ", "))
		f.IntVar(&g.tokens, "tokens", 64, "how many tokens")
		f.IntVar(&g.rounds, "rounds", regressionRounds, "how many turns each has at most")
		f.DurationVar(&g.window, "window", regressionWindow, "how long one turn is measured")
		f.Float64Var(&g.limit, "limit", regressionLimit, "fail when the ratio of processor times is above it")
		f.BoolFunc("v", "show each round", func(string) error { g.progress = progress; return nil })
		if err := f.Parse(args[1:]); err != nil {
			return err
		}
		return g.run(out)
	case "latency":
		l := latencies{progress: progress}
		f.IntVar(&l.rounds, "rounds", 5, "how often each thing is measured")
		f.IntVar(&l.handoffs, "handoffs", 20, "how many handoffs in a round")
		f.StringVar(&l.preset, "preset", wandering.Paper, "preset of the policy wandering")
		if err := f.Parse(args[1:]); err != nil {
			return err
		}
		return l.run(out)
	case "walk":
		w := walk{progress: progress}
		f.Func("members", "how many (default 25,100)", w.members.parse(2, maxCrew))
		f.Func("preset", "which presets of the policy wandering, or "+quiet+" (default "+strings.Join(usual, ",")+")", w.only)
		f.DurationVar(&w.operation, "operation", time.Second, "how long an operation takes")
		f.DurationVar(&w.window, "for", time.Minute, "how long each group is measured")
		f.DurationVar(&w.warmUp, "warm-up", 0, "how long it runs before (default a round and a half of operations, 40 s at least)")
		f.DurationVar(&w.delay, "delay", 0, "delay of the network one way, by a relay before each member")
		f.BoolVar(&w.volatile, "volatile", false, "do not sync the journals")
		f.StringVar(&w.dir, "dir", "", "folder for the journals, on the disk to be measured (default: a temporary one)")
		f.StringVar(&w.profiles, "profiles", "", "folder to write CPU profiles to")
		if err := f.Parse(args[1:]); err != nil {
			return err
		}
		return w.run(out)
	case "idle":
		i := idleness{progress: progress}
		f.Func("members", "how many processes (default 5,50)", i.members.parse(2, maxCrew))
		f.StringVar(&i.preset, "preset", wandering.Fair, "preset of the policy wandering")
		f.DurationVar(&i.settle, "settle", time.Minute, "how long a group runs before it is measured")
		f.DurationVar(&i.window, "for", time.Minute, "how long each group is measured")
		f.StringVar(&i.dir, "dir", "", "folder for the journals (default: a temporary one)")
		f.StringVar(&i.profiles, "profiles", "", "folder to write CPU profiles to; they cost wake-ups themselves")
		if err := f.Parse(args[1:]); err != nil {
			return err
		}
		if f.NArg() > 0 {
			return fmt.Errorf("unexpected argument %q", f.Arg(0))
		}
		return i.run(out)
	}
	return fmt.Errorf("no measurement is called %q\n%s", args[0], usage)
}

// counts are numbers of tokens or members.
type counts []int

// parse reads a list of numbers, each within bounds.
func (c *counts) parse(least, most int) func(string) error {
	return func(list string) error {
		for _, s := range strings.Split(list, ",") {
			n, err := strconv.Atoi(s)
			if err != nil || n < least || n > most {
				return fmt.Errorf("%q is no number from %d to %d", s, least, most)
			}
			*c = append(*c, n)
		}
		return nil
	}
}
