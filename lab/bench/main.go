package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

const usage = `usage: go run ./lab/bench throughput|regression|latency|walk|idle [flags]

throughput  handoffs a second and processor time for each, of two processes
regression  the processor time at 64 tokens against the straw man's; fails above a limit
latency     time from release to enabled through a relay that delays
walk        messages, connections and processor time for each operation among many members
idle        wake-ups and processor time of each member of a group that wants nothing

`

// measurement is what one command measures, with its settings.
type measurement interface {
	flags(f *flag.FlagSet)
	run(out io.Writer) error
}

// measurements makes them, by the names of their commands; progress is for people.
var measurements = map[string]func(progress io.Writer) measurement{
	"throughput": func(progress io.Writer) measurement { return &plan{progress: progress} },
	"regression": func(progress io.Writer) measurement { return &regression{people: progress, progress: io.Discard} },
	"latency":    func(progress io.Writer) measurement { return &latencies{progress: progress} },
	"walk":       func(progress io.Writer) measurement { return &walk{progress: progress} },
	"idle":       func(progress io.Writer) measurement { return &idleness{progress: progress} },
}

func run(args []string, out, progress io.Writer) error {
	if len(args) == 0 {
		return fmt.Errorf("no measurement named\n%s", usage)
	}
	if args[0] == childCommand {
		return runChild(args[1:], os.Stdin, out)
	}
	create, known := measurements[args[0]]
	if !known {
		return fmt.Errorf("no measurement is called %q\n%s", args[0], usage)
	}
	m, f := create(progress), flag.NewFlagSet(args[0], flag.ContinueOnError)
	f.Usage = func() { fmt.Fprint(f.Output(), usage); f.PrintDefaults() }
	m.flags(f)
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	return m.run(out)
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
