package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wandertoken/wander/soak/judge"
	"github.com/wandertoken/wander/soak/liar/report"
)

// row is one line of the table.
type row struct {
	kind    badKind
	preset  string
	members int
	control figures // of the group without the bad members
	figures
	reports []report.Report // of the bad members
	guests  []report.Report // of the newcomers
	audit   verdicts
}

// verdicts are what an audit of the honest members' journals says.
type verdicts struct {
	proofs, suspicions int
	names              []string // of the members that proofs accuse and suspicions are about
	failed             string   // why there is no audit
}

// verdictsOf counts the findings. Names are in the order of how often they are named.
func verdictsOf(a judge.Audit) (v verdicts) {
	times := make(map[string]int)
	for _, f := range a.Findings {
		n, about := 1+f.Again, f.Who
		if f.Class == "proof" {
			v.proofs += n
			about = []string{f.Accused}
		} else {
			v.suspicions += n
		}
		for _, name := range about {
			if times[name] == 0 {
				v.names = append(v.names, name)
			}
			times[name] += n
		}
	}
	slices.SortStableFunc(v.names, func(a, b string) int { return times[b] - times[a] })
	for i, name := range v.names {
		v.names[i] = fmt.Sprintf("%s %d", name, times[name])
	}
	return v
}

func (v verdicts) String() string {
	switch {
	case v.failed != "":
		return v.failed
	case v.proofs+v.suspicions == 0:
		return "clean"
	}
	return fmt.Sprintf("%d proofs, %d suspicions: %s", v.proofs, v.suspicions, strings.Join(v.names, ", "))
}

var heads = []string{
	"kind", "preset", "honest", "operations a second without", "first minute", "after it", "overlap", "at once, at most",
	"nobody runs, longest", "longest wait", "taken of made", "run under them", "audit", "besides",
}

// ratio compares a rate with that of the run without bad members.
func ratio(of, without float64) string {
	if without == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f %%", 100*of/without)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// beside shows a time, and that of the run without bad members.
func beside(d, without time.Duration) string {
	return fmt.Sprintf("%s (%s)", seconds(d), seconds(without))
}

func (r row) String() string {
	cells := []string{
		fmt.Sprintf("`%s`", r.kind.name), fmt.Sprintf("`%s`", r.preset), fmt.Sprint(r.members), fmt.Sprintf("%.2f", r.control.first),
		ratio(r.first, r.control.first), ratio(r.after, r.control.after), beside(r.overlap, r.control.overlap), fmt.Sprint(r.atOnce),
		beside(r.idle, r.control.idle), beside(r.wait, r.control.wait),
		fmt.Sprintf("%d of %d", r.sum(func(x report.Report) int { return x.Receipts }), r.made()),
		fmt.Sprint(r.lying), r.audit.String(), r.besides(),
	}
	return "| " + strings.Join(cells, " | ") + " |"
}

func (r row) sum(of func(report.Report) int) (n int) {
	for _, x := range r.reports {
		n += of(x)
	}
	return n
}

// made is how many tokens the bad members offered or sent.
func (r row) made() int {
	return r.sum(func(x report.Report) int { return max(x.Offered, x.Sent) })
}

// besides is what only some kinds have.
func (r row) besides() string {
	var list []string
	for _, x := range []struct {
		what string
		n    int
	}{
		{"refused", r.sum(func(x report.Report) int { return x.Refused })},
		{"declined", r.sum(func(x report.Report) int { return x.Voids })},
		{"unknown", r.sum(func(x report.Report) int { return x.Unknowns })},
		{"tokens it got", r.sum(func(x report.Report) int { return x.Kept })},
		{"passed to friends", r.sum(func(x report.Report) int { return x.Passed })},
		{"answers to keepers", r.sum(func(x report.Report) int { return x.Questions })},
		{"lives", r.sum(func(x report.Report) int { return x.Restarts })},
		{"half-open handshakes", r.sum(func(x report.Report) int { return x.Handshakes })},
	} {
		if x.n > 0 {
			list = append(list, fmt.Sprintf("%s %d", x.what, x.n))
		}
	}
	if len(r.guests) > 0 {
		list = append(list, letIn(r.guests))
	}
	for _, x := range r.reports {
		if x.Error != "" {
			list = append(list, "ended: "+x.Error)
		}
	}
	return strings.Join(list, ", ")
}

// letIn says at which try newcomers were let in.
func letIn(guests []report.Report) string {
	var tries []string
	slowest := 0
	for _, g := range guests {
		if !g.LetIn {
			tries = append(tries, fmt.Sprintf("none of %d", g.Tries))
			continue
		}
		tries = append(tries, fmt.Sprint(g.Tries))
		slowest = max(slowest, g.Within)
	}
	return fmt.Sprintf("newcomers let in at try %s, within %d ms", strings.Join(tries, " "), slowest)
}
