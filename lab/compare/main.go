package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() {
	run := measure
	if len(os.Args) > 1 && os.Args[1] == clientCommand {
		run = func(_ []string, out, _ io.Writer) error { return runClient(os.Args[2:], os.Stdin, out) }
	}
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// plan is what to measure.
type plan struct {
	wander    string
	only      string
	delays    []time.Duration
	rounds    int // of takes and hand-overs
	crashes   int // of clients, and of machines
	idle      time.Duration
	logs      string
	progress  io.Writer
	net       network
	clusters  []*cluster
	collected figures
}

func measure(args []string, out, progress io.Writer) error {
	p := &plan{progress: progress, delays: []time.Duration{0, 5 * time.Millisecond, 50 * time.Millisecond}}
	f := flag.NewFlagSet("compare", flag.ContinueOnError)
	f.StringVar(&p.wander, "wander", "", "the program wander, built before (required)")
	f.StringVar(&p.only, "only", "", "subjects, separated by commas (default: all that are installed)")
	f.Func("delays", "delays of the network one way, separated by commas (default 0s,5ms,50ms)", func(s string) error {
		p.delays = nil
		for _, part := range strings.Split(s, ",") {
			d, err := time.ParseDuration(part)
			if err != nil || d < 0 || d > time.Second {
				return fmt.Errorf("%q is no delay from 0 to 1s", part)
			}
			p.delays = append(p.delays, d)
		}
		return nil
	})
	f.IntVar(&p.rounds, "rounds", 10, "how many takes and hand-overs at each delay")
	f.IntVar(&p.crashes, "crashes", 4, "how many holders are killed")
	f.DurationVar(&p.idle, "idle", 30*time.Second, "how long the idle cost is measured; 0: not")
	f.StringVar(&p.logs, "dir", "", "folder for logs and single values, which stays (default: a temporary one)")
	if err := f.Parse(args); err != nil {
		return err
	}
	if p.wander == "" || f.NArg() > 0 || p.rounds < 0 || p.crashes < 0 || p.idle < 0 {
		return errors.New("write it as: compare -wander PROGRAM [flags], with no number below 0")
	}
	for name := range strings.SplitSeq(p.only, ",") {
		if _, err := find(name); p.only != "" && err != nil {
			return err
		}
	}
	if err := p.run(); err != nil {
		return err
	}
	_, err := io.WriteString(out, p.collected.tables(p))
	return err
}

func (p *plan) run() (err error) {
	if p.wander, err = filepath.Abs(p.wander); err != nil {
		return err
	}
	if _, err := os.Stat(p.wander); err != nil {
		return err
	}
	if p.logs == "" {
		if p.logs, err = os.MkdirTemp("", "compare"); err != nil {
			return err
		}
		defer os.RemoveAll(p.logs)
	}
	defer func() {
		_ = os.WriteFile(filepath.Join(p.logs, "values.csv"), []byte(p.collected.csv()), 0o600)
	}()
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ended
		p.net.close() // processes end with this one
		os.Exit(1)
	}()
	defer p.net.close()
	defer func() {
		for _, c := range p.clusters {
			c.stop()
		}
	}()
	if err := p.startAll(); err != nil {
		return err
	}
	if err := p.takesAndHandovers(); err != nil {
		return err
	}
	p.net.delay.Store(0)
	if err := p.kills(); err != nil {
		return err
	}
	if p.idle > 0 {
		return p.idles()
	}
	return nil
}

// startAll starts the servers of each subject that is wanted and installed. All machines are made first: a thread that has been in a
// namespace ends, and processes that it has started would end with it (endsWithUs).
func (p *plan) startAll() error {
	for i, s := range subjects {
		if p.only != "" && !strings.Contains(","+p.only+",", ","+s.name+",") {
			continue
		}
		if name := s.missing(); name != "" {
			p.say("%s is left out: %s is not installed", s.name, name)
			continue
		}
		c := &cluster{subject: s, dir: filepath.Join(p.logs, s.name), wander: p.wander}
		p.clusters = append(p.clusters, c)
		if err := os.MkdirAll(c.dir, 0o700); err != nil {
			return err
		}
		for k := range places {
			m, err := p.net.add(netip.AddrFrom4([4]byte{10, 98, byte(i + 1), byte(k + 1)}))
			if err != nil {
				return err
			}
			c.machines = append(c.machines, m)
		}
	}
	for _, c := range p.clusters {
		if err := c.start(c); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	p.say("servers started; they get %v to settle", settleTime)
	time.Sleep(settleTime)
	return nil
}

// settleTime is for elections, and for members to meet.
const settleTime = 20 * time.Second

func (p *plan) say(format string, args ...any) { fmt.Fprintf(p.progress, format+"\n", args...) }
