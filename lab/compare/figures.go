package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// The kinds of figures.
const (
	takeAgain    = "take, same machine again"
	takeOther    = "take, another machine before"
	handFirst    = "hand-over, to the first that waits"
	handNext     = "hand-over, in a queue"
	killClient   = "kill -9 of the holder"
	killRun      = "kill -9 of the holder's program under wander run"
	killMachine  = "kill -9 of the holder and its daemon"
	idleCPU      = "processor, ms/s"
	idleSwitches = "context switches/s"
	idleBytes    = "bytes/s between machines"
	idleMemory   = "resident, MB"
)

type key struct {
	kind, subject string
	delay         time.Duration
}

// figures are all that was measured. The zero value has none.
type figures struct {
	times map[key][]time.Duration
	rates map[key]float64
}

func (f *figures) add(kind, subject string, delay, took time.Duration) {
	if f.times == nil {
		f.times = make(map[key][]time.Duration)
	}
	k := key{kind, subject, delay}
	f.times[k] = append(f.times[k], took)
}

func (f *figures) rate(kind, subject string, value float64) {
	if f.rates == nil {
		f.rates = make(map[key]float64)
	}
	f.rates[key{kind, subject, 0}] = value
}

// csv are the single values, in milliseconds.
func (f *figures) csv() string {
	var b strings.Builder
	for k, values := range f.times {
		for _, v := range values {
			fmt.Fprintf(&b, "%s;%s;%v;%.3f\n", k.kind, k.subject, k.delay, float64(v)/1e6)
		}
	}
	return b.String()
}

// tables are all figures in Markdown.
func (f *figures) tables(p *plan) string {
	var b strings.Builder
	load, _ := os.ReadFile("/proc/loadavg")
	fmt.Fprintf(&b, "Measured on %s; load average at the end %s\n\n", time.Now().UTC().Format("2006-01-02"), strings.Join(strings.Fields(string(load))[:3], " "))
	for _, c := range p.clusters {
		if c.version != nil {
			fmt.Fprintf(&b, "- %s: %s\n", c.name, c.version())
		}
	}
	for _, kind := range []string{takeAgain, takeOther, handFirst, handNext} {
		head := []string{kind}
		for _, d := range p.delays {
			head = append(head, fmt.Sprintf("%v one way", d))
		}
		f.table(&b, p, head, func(name string) (row []string) {
			for _, d := range p.delays {
				row = append(row, spread(f.times[key{kind, name, d}]))
			}
			return row
		})
	}
	kills := []string{killClient, killRun, killMachine}
	f.table(&b, p, append([]string{"until the next one has it"}, kills...), func(name string) (row []string) {
		for _, kind := range kills {
			row = append(row, spread(f.times[key{kind, name, 0}]))
		}
		return row
	})
	rates := []string{idleCPU, idleSwitches, idleBytes, idleMemory}
	if len(f.rates) > 0 {
		f.table(&b, p, append([]string{"idle, all servers and two clients"}, rates...), func(name string) (row []string) {
			for _, kind := range rates {
				row = append(row, fmt.Sprintf("%.1f", f.rates[key{kind, name, 0}]))
			}
			return row
		})
	}
	return b.String()
}

func (f *figures) table(b *strings.Builder, p *plan, head []string, row func(name string) []string) {
	fmt.Fprintf(b, "\n| %s |\n| ---%s |\n", strings.Join(head, " | "), strings.Repeat(" | ---:", len(head)-1))
	for _, c := range p.clusters {
		cells := row(c.name)
		if strings.Trim(strings.Join(cells, ""), "–") != "" {
			fmt.Fprintf(b, "| %s | %s |\n", c.name, strings.Join(cells, " | "))
		}
	}
}

// spread is the median of values, and the tenths at both ends.
func spread(values []time.Duration) string {
	if len(values) == 0 {
		return "–"
	}
	v := slices.Sorted(slices.Values(values))
	at := func(share float64) time.Duration { return v[min(len(v)-1, int(share*float64(len(v))))] }
	return fmt.Sprintf("%s (%s to %s)", short(at(0.5)), short(at(0.1)), short(at(0.9)))
}

// short is a time with three digits.
func short(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%.0f µs", float64(d)/1e3)
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.2f ms", float64(d)/1e6)
	case d < time.Second:
		return fmt.Sprintf("%.0f ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}
