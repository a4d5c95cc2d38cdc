package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy"
)

// subjects are what is measured.
var subjects = map[string]func(role) (player, error){
	"straw":      playStraw(projectKeys, 0),
	"straw-rest": playStraw(projectKeys, policy.MinDuration),
	"straw-go":   playStraw(standardKeys, 0),
	"volatile":   playMember(store.Volatile),
	"durable":    playMember(store.Durable),
}

// subjectNames are the subjects in the order of measurement.
func subjectNames() []string {
	return []string{"straw", "volatile", "straw-rest", "durable", "straw-go"}
}

// yardstick is the subject that the others are compared with.
const yardstick = "straw"

// plan is a measurement of throughput: for each number of tokens, round after
// round, one subject after the other, so that what else happens on the machine
// meets all of them alike.
type plan struct {
	progress       io.Writer
	rounds         int
	window, warmUp time.Duration
	dir, profiles  string
	tokens         counts
	apart          bool // each token is of a resource of its own
	subjects       []string
}

// reading is one measurement.
type reading struct {
	rate  float64       // handoffs a second
	cpu   time.Duration // of both processes, for each handoff
	syncs float64       // batches written, for each handoff
}

type subjectTokens struct {
	subject string
	tokens  int
}

func (p *plan) only(list string) error {
	for _, s := range strings.Split(list, ",") {
		if subjects[s] == nil {
			return fmt.Errorf("no subject %q", s)
		}
		p.subjects = append(p.subjects, s)
	}
	return nil
}

// flags are the settings on the command line.
func (p *plan) flags(f *flag.FlagSet) {
	f.IntVar(&p.rounds, "rounds", 7, "how often each thing is measured; the medians count")
	f.DurationVar(&p.window, "window", 2*time.Second, "how long one measurement lasts")
	f.DurationVar(&p.warmUp, "warm-up", time.Second, "how long it runs before")
	f.StringVar(&p.dir, "dir", "", "folder for the journals, on the disk to be measured (default: a temporary one)")
	f.StringVar(&p.profiles, "profiles", "", "folder to write CPU profiles to")
	f.Func("tokens", "how many tokens (default 1,8,64)", p.tokens.parse(1, maxTokens))
	f.BoolVar(&p.apart, "apart", false, "give each token a resource of its own, instead of a slot of one resource")
	f.Func("only", "which subjects, as "+strings.Join(subjectNames(), ",")+" (default all)", p.only)
}

func (p *plan) run(out io.Writer) error {
	if p.rounds < 1 || p.window <= 0 {
		return errors.New("nothing to measure")
	}
	if len(p.tokens) == 0 {
		p.tokens = counts{1, 8, 64}
	}
	if len(p.subjects) == 0 {
		p.subjects = subjectNames()
	}
	readings := make(map[subjectTokens][]reading)
	for round := range p.rounds {
		for _, n := range p.tokens {
			for _, s := range p.subjects {
				r, err := p.measure(s, n)
				if err != nil {
					return fmt.Errorf("%s with %d tokens: %w", s, n, err)
				}
				fmt.Fprintf(p.progress, "round %d/%d  %-10s %2d tokens  %6.0f/s  %4d µs\n",
					round+1, p.rounds, s, n, r.rate, r.cpu.Microseconds())
				readings[subjectTokens{s, n}] = append(readings[subjectTokens{s, n}], r)
			}
		}
	}
	return p.report(out, readings)
}

// resources are what a number of tokens are for.
func (p *plan) resources(tokens int) []group.Resource {
	if !p.apart {
		return []group.Resource{fastest(tokens)}
	}
	list := make([]group.Resource, tokens)
	for i := range list {
		list[i] = fastest(1)
		list[i].Name = fmt.Sprintf("%s-%04d", resource, i)
	}
	return list
}

// measure runs two processes and reads what they did in the window.
func (p *plan) measure(subject string, tokens int) (reading, error) {
	dir, err := os.MkdirTemp(p.dir, "wander-bench-")
	if err != nil {
		return reading{}, err
	}
	defer os.RemoveAll(dir)
	if err := makeGroup(dir, names[:], p.resources(tokens)...); err != nil {
		return reading{}, err
	}
	procs, err := startPair(p.role(subject, names[1], dir, tokens), p.role(subject, names[0], dir, tokens))
	if err != nil {
		return reading{}, err
	}
	defer procs.stop()
	time.Sleep(p.warmUp)
	before, err := procs.sample()
	if err != nil {
		return reading{}, err
	}
	time.Sleep(p.window)
	after, err := procs.sample()
	if err != nil {
		return reading{}, err
	}
	return difference(before, after)
}

func (p *plan) role(subject, name, dir string, tokens int) role {
	r := role{Subject: subject, Name: name, Dir: filepath.Join(dir, name), Tokens: tokens}
	if p.profiles != "" {
		r.Profile = filepath.Join(p.profiles, fmt.Sprintf("%s-%d-%s.pprof", subject, tokens, name))
	}
	return r
}

// errNoHandoff says that nothing moved while it was measured.
var errNoHandoff = errors.New("no handoff in the whole window")

func difference(before, after sample) (reading, error) {
	handoffs := after.Handoffs - before.Handoffs
	if handoffs == 0 {
		return reading{}, errNoHandoff
	}
	return reading{
		rate:  float64(handoffs) / after.At.Sub(before.At).Seconds(),
		cpu:   (after.CPU - before.CPU) / time.Duration(handoffs),
		syncs: float64(after.Syncs-before.Syncs) / float64(handoffs),
	}, nil
}

// report writes a table of medians. The ratio is the median of the rounds'
// own ratios.
func (p *plan) report(out io.Writer, readings map[subjectTokens][]reading) error {
	fmt.Fprintln(out, "| tokens | subject | handoffs/s | CPU per handoff | against straw | writes per handoff |")
	fmt.Fprintln(out, "| ---: | --- | ---: | ---: | ---: | ---: |")
	for _, n := range p.tokens {
		base := readings[subjectTokens{yardstick, n}]
		for _, s := range p.subjects {
			list := readings[subjectTokens{s, n}]
			ratio := "–"
			if len(base) == len(list) {
				ratios := make([]float64, len(list))
				for i := range list {
					ratios[i] = float64(list[i].cpu) / float64(base[i].cpu)
				}
				ratio = fmt.Sprintf("%.2f", median(ratios))
			}
			_, err := fmt.Fprintf(out, "| %d | %s | %.0f | %.0f µs | %s | %.2f |\n", n, s,
				median(each(list, func(r reading) float64 { return r.rate })),
				median(each(list, func(r reading) float64 { return float64(r.cpu) / 1000 })), ratio,
				median(each(list, func(r reading) float64 { return r.syncs })))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func each(list []reading, value func(reading) float64) []float64 {
	values := make([]float64, len(list))
	for i, r := range list {
		values[i] = value(r)
	}
	return values
}

// median is the middle value, or the lower of the two middle ones.
func median(values []float64) float64 { return quantile(values, 0.5) }

// quantile is the value below or at which a share of all are.
func quantile(values []float64, share float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[int(share*float64(len(sorted)-1))]
}
