package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/wire"
)

// churnResult is what a run with churn has shown.
type churnResult struct {
	Options  churnOptions
	Virtual  time.Duration
	Problems []string
	Findings []audit.Finding
	Fates    map[audit.Fate]int
	Tokens   int

	counts  counts
	meter   *meter
	members int // at the end
}

func (m *meter) result(problems []string) *churnResult {
	report := audit.Check(m.c.group.ID(), m.c.journals(), audit.Options{})
	for _, v := range m.c.violations {
		problems = append(problems, v.String())
	}
	r := &churnResult{
		Options: m.o, Virtual: m.c.now, Problems: problems, Findings: report.Findings,
		Fates: make(map[audit.Fate]int), Tokens: len(report.Tokens), counts: m.c.count, meter: m, members: len(m.c.nodes),
	}
	for _, t := range report.Tokens {
		r.Fates[t.Fate]++
	}
	return r
}

// Err is nil when every rule held, else it matches ErrBroken.
func (r *churnResult) Err() error {
	list := slices.Clone(r.Problems)
	for _, f := range r.Findings {
		list = append(list, f.String())
	}
	for fate, n := range r.Fates {
		if fate.Lost() {
			list = append(list, fmt.Sprintf("%d tokens of durable members %v", n, fate))
		}
	}
	if len(list) == 0 {
		return nil
	}
	return fmt.Errorf("%w:\n  %s", ErrBroken, strings.Join(list, "\n  "))
}

// Longest is the longest time without a handoff of any token of a resource.
func (r *churnResult) Longest(resource string) time.Duration {
	return percentile(r.meter.gaps[resource], 1)
}

// String is the table.
func (r *churnResult) String() string {
	var b strings.Builder
	row := func(name, format string, values ...any) {
		fmt.Fprintf(&b, "%-36s%s\n", name, fmt.Sprintf(format, values...))
	}
	n := r.counts
	row("virtual time", "%v", r.Virtual)
	row("members at the end", "%d", r.members)
	row("joins", "%d", n.joins)
	row("crashes", "%d, for ever %d", n.crashes, n.kills)
	row("leaves, revocations, renewals", "%d, %d, %d", n.leaves, n.revocations, n.renewals)
	row("cuts through the network", "%d", n.cuts)
	row("messages", "%d, lost %d", n.messages, n.lost)
	row("tokens, custody of one twice", "%d, %d", r.Tokens, r.overlaps())
	row("all agreed after the faults", "within %v", r.meter.settled)
	for _, slot := range slices.Sorted(maps.Keys(r.meter.gaps)) {
		gaps := r.meter.gaps[slot]
		row("token "+slot+": handoffs", "%d; longest gap %v, of a thousand gaps one %v", r.meter.hops[slot], round(percentile(gaps, 1)), round(percentile(gaps, 0.999)))
	}
	row("joiners knew 99 % of the others", "%s (median, 90 %%, 99 %%, most); all of them: %s", quantiles(r.meter.learned.most), quantiles(r.meter.learned.all))
	r.spreads(&b, "whole network", r.meter.spread)
	r.spreads(&b, "cut in halves", r.meter.parted)
	r.quarters(&b)
	r.traffic(&b)
	return b.String()
}

func (r *churnResult) overlaps() (n int) {
	for _, f := range r.Findings {
		if f.Kind == audit.Overlap {
			n++
		}
	}
	return n
}

// spreads is how long changes took to be known.
func (r *churnResult) spreads(b *strings.Builder, title string, list [changes]spread) {
	fmt.Fprintf(b, "\n%-24s%8s%44s%44s\n", title, "number", "99 % knew: median, 90 %, 99 %, most", "all knew: median, 90 %, 99 %, most")
	for k := range changes {
		s := list[k]
		if len(s.all) > 0 {
			fmt.Fprintf(b, "%-24s%8d%44s%44s\n", k, len(s.all), quantiles(s.most), quantiles(s.all))
		}
	}
}

func quantiles(list []time.Duration) string {
	var parts []string
	for _, p := range []float64{0.5, 0.9, 0.99, 1} {
		parts = append(parts, round(percentile(list, p)).String())
	}
	return strings.Join(parts, ", ")
}

// quarter is the worst of a quarter of the run.
type quarter struct {
	Members          int     // that took part, at the most
	Knowing, Lowest  float64 // share of the living whom a member knows: mean, and the lowest of all
	Dead             float64 // thought to live, mean
	Entries, Bytes   int     // in the memory of one member, at the most
	Rate             float64 // bytes a second and member, mean
	whole, inQuarter int
}

// Quarters are those of the run. Shares are those of a network that is whole.
func (r *churnResult) Quarters() [4]quarter {
	var list [4]quarter
	samples := r.meter.samples
	for i, s := range samples {
		q := &list[i*len(list)/len(samples)]
		q.inQuarter++
		q.Members = max(q.Members, s.members)
		q.Entries = max(q.Entries, s.heaviest.Entries)
		q.Bytes = max(q.Bytes, s.heaviest.Bytes)
		q.Rate += s.rate
		if s.cut {
			continue
		}
		if q.whole++; q.whole == 1 {
			q.Lowest = 1
		}
		q.Knowing += s.knowing
		q.Dead += s.dead
		q.Lowest = min(q.Lowest, s.ignorant)
	}
	for i := range list {
		q := &list[i]
		q.Knowing, q.Dead = q.Knowing/float64(max(1, q.whole)), q.Dead/float64(max(1, q.whole))
		q.Rate /= float64(max(1, q.inQuarter))
	}
	return list
}

func (r *churnResult) quarters(b *strings.Builder) {
	fmt.Fprintf(b, "\n%-14s%9s%10s%10s%12s%10s%10s%14s\n", "quarter", "members", "known", "lowest", "dead alive", "entries", "kB", "bytes/s each")
	for i, q := range r.Quarters() {
		fmt.Fprintf(b, "%-14d%9d%9.2f%%%9.2f%%%12.2f%10d%10d%14.0f\n", i+1, q.Members, 100*q.Knowing, 100*q.Lowest, q.Dead, q.Entries, q.Bytes>>10, q.Rate)
	}
	if len(r.meter.samples) == 0 {
		return
	}
	parts := r.meter.samples[len(r.meter.samples)-1].heaviest.Parts
	names := slices.SortedFunc(maps.Keys(parts), func(x, y string) int { return cmp.Or(parts[y]-parts[x], strings.Compare(x, y)) })
	for _, name := range names[:min(12, len(names))] {
		fmt.Fprintf(b, "  %-50s%10d\n", name, parts[name])
	}
}

// traffic is what was sent, by type.
func (r *churnResult) traffic(b *strings.Builder) {
	all := 0
	for _, n := range r.counts.bytes {
		all += n
	}
	fmt.Fprintf(b, "\n%-16s%12s%14s%8s\n", "message", "number", "bytes", "share")
	types := slices.SortedFunc(maps.Keys(r.counts.bytes), func(x, y wire.Type) int { return r.counts.bytes[y] - r.counts.bytes[x] })
	for _, t := range types {
		fmt.Fprintf(b, "%-16s%12d%14d%7.1f%%\n", t, r.counts.sent[t], r.counts.bytes[t], 100*float64(r.counts.bytes[t])/float64(all))
	}
	fmt.Fprintf(b, "one connection, at the most         %d bytes in a minute\n", r.meter.busiest)
}

// percentile of a list, sorted or not.
func percentile(list []time.Duration, p float64) time.Duration {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))]
}

func round(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }
