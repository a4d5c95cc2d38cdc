package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/wandertoken/wander/protocol/audit"
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
	audit   verdicts

	crash              crash
	newcomers, returns []visit
	initials           float64 // packets of a flood in a second that begin a handshake
}

// verdicts are what an audit of the honest members' journals says.
type verdicts struct {
	proofs, suspicions int
	names              []string // of the members that proofs accuse and suspicions are about
	complaints         []string // the members that others complain about, and how many others do
	failed             string   // why there is no audit
}

// verdictsOf counts the findings. Names are in the order of how often they are named.
func verdictsOf(a judge.Audit) (v verdicts) {
	times := make(map[string]int)
	for _, f := range a.Findings {
		n, about := 1+f.Again, f.Who
		switch {
		case f.Class == "proof":
			v.proofs += n
			about = []string{f.Accused}
		case f.Kind == string(audit.Struck): // by the others that are named
			v.suspicions += n
			about = about[:1]
		default:
			v.suspicions += n
		}
		for _, name := range about {
			if times[name] == 0 {
				v.names = append(v.names, name)
			}
			times[name] += n
		}
	}
	for _, c := range a.Complaints {
		v.complaints = append(v.complaints, fmt.Sprintf("%s %d by %d", c.About, c.Count, len(c.By)))
	}
	slices.SortStableFunc(v.names, func(a, b string) int { return times[b] - times[a] })
	for i, name := range v.names {
		v.names[i] = fmt.Sprintf("%s %d", name, times[name])
	}
	return v
}

func (v verdicts) String() string {
	said := "clean"
	switch {
	case v.failed != "":
		return v.failed
	case v.proofs+v.suspicions > 0:
		said = fmt.Sprintf("%d proofs, %d suspicions: %s", v.proofs, v.suspicions, strings.Join(v.names, ", "))
	}
	if len(v.complaints) > 0 {
		said += "; complaints: " + strings.Join(v.complaints, ", ")
	}
	return said
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
		{"passed on", r.sum(func(x report.Report) int { return x.Passed })},
		{"answers to keepers", r.sum(func(x report.Report) int { return x.Questions })},
		{"withheld", r.sum(func(x report.Report) int { return x.Withheld })},
		{"lives", r.sum(func(x report.Report) int { return x.Restarts })},
		{"half-open handshakes", r.sum(func(x report.Report) int { return x.Handshakes })},
	} {
		if x.n > 0 {
			list = append(list, fmt.Sprintf("%s %d", x.what, x.n))
		}
	}
	if r.initials > 0 {
		list = append(list, fmt.Sprintf("Initial packets a second %.0f", r.initials))
	}
	if c := r.crash; c.member != "" {
		back := "did not run again"
		if c.back > 0 {
			back = "ran again after " + seconds(c.back)
		}
		list = append(list, fmt.Sprintf("%s was killed and %s, nobody ran since then for at most %s", c.member, back, seconds(c.idle)))
	}
	list = append(list, letIn("newcomers", r.newcomers)...)
	list = append(list, letIn("returns", r.returns)...)
	for _, x := range r.reports {
		if x.Error != "" {
			list = append(list, "ended: "+x.Error)
		}
	}
	return strings.Join(list, ", ")
}

// letIn says how many were let in, with how many dials, and how long that took.
func letIn(who string, visits []visit) (list []string) {
	if len(visits) == 0 {
		return nil
	}
	var took []time.Duration
	times := make(map[int]int) // by dials: visits
	out := 0                   // dials of those that were not let in
	for _, v := range visits {
		if v.err != "" {
			list = append(list, fmt.Sprintf("one of the %s: %s", who, v.err))
		}
		if v.in {
			times[v.dials]++
			took = append(took, v.within)
		} else {
			out += v.dials
		}
	}
	var by []string
	for _, dials := range slices.Sorted(maps.Keys(times)) {
		by = append(by, fmt.Sprintf("%d with %d", times[dials], dials))
	}
	if n := len(visits) - len(took); n > 0 {
		by = append(by, fmt.Sprintf("%d not with %d together", n, out))
	}
	text := fmt.Sprintf("%s let in %d of %d (dials: %s", who, len(took), len(visits), strings.Join(by, ", "))
	if len(took) > 0 {
		slices.Sort(took)
		text += fmt.Sprintf("; median %d ms, at most %d ms", took[len(took)/2].Milliseconds(), took[len(took)-1].Milliseconds())
	}
	return append(list, text+")")
}
