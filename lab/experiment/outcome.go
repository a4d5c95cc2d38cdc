package experiment

import (
	"cmp"
	"fmt"
	"strings"
)

// highlight is a result in one sentence. Each %s of the text stands for the measured
// value of the row of that ID, in this order.
type highlight struct {
	text string
	ids  []string
}

// reproductionHighlights are the most important results about the papers.
var reproductionHighlights = []highlight{
	{"Journal, 300 members at full load: the resource idles %s times as long as without coordination, and has more than two operations at once %s times as long.",
		[]string{"journal-favourable-idle", "journal-favourable-more"}},
	{"Journal, losses: the group recovers from %s of them, with at most %s spurious tokens at a time (published: 2).",
		[]string{"journal-recovers", "journal-spurious"}},
	{"Slides, overbooked by a fifth: exactly one operation runs %s of the time (published: 80 %%), three or more %s (published: 1 %%).",
		[]string{"slides-one", "slides-three"}},
	{"Report, stable: two or more operations at once %s of the time with 150 members (published: below 0.5 %%), %s with 300 (published: 10 %%).",
		[]string{"report-overlap-nominal", "report-overlap-overload"}},
	{"Many tokens, 191 members: the mean interval is %s (published: 1.71 s), its peak is at %s (published: 0.88 s), and there are %s tokens (published: about 50).",
		[]string{"multitoken-mean", "multitoken-peak", "multitoken-tokens"}},
	{"Rings, corrected, all schedules of 2 to 6 processors: Q needs %s of its bound of n messages a request; D's service traffic is %s of its bound.",
		[]string{"ring-q-messages", "ring-d-traffic"}},
	{"This project's updates: 99 %% of the members know of a joining after %s in a group of 191, after %s in one of 10,000.",
		[]string{"updates-191-most", "updates-10000-most"}},
}

// beyondHighlights are the most important results about the goals.
var beyondHighlights = []highlight{
	{"Full load, 300 members: the resource idles %s of the time under *light* and %s under *fair* (journal paper's preset: %s).",
		[]string{"beyond-idle-light-300", "beyond-idle-fair-300", "beyond-idle-paper-300"}},
	{"Two operations at once: *light* %s, *fair* %s (journal paper's preset: %s).",
		[]string{"beyond-two-light-300", "beyond-two-fair-300", "beyond-two-paper-300"}},
	{"Longest waits, 99th percentile over a perfect round robin: *fair* %s with 300 members, %s with 10,000 (journal paper's preset: %s with 300).",
		[]string{"beyond-p99-fair-300", "beyond-p99-fair-10000", "beyond-p99-paper-300"}},
	{"A lost token: an operation begins after %s under *light*, %s under *fair* (journal paper's preset: %s).",
		[]string{"beyond-gap-light-300", "beyond-gap-fair-300", "beyond-gap-paper-300"}},
	{"The price: %s small messages an operation under *light*, %s under *fair*; the papers' presets send none.",
		[]string{"beyond-messages-light-300", "beyond-messages-fair-300"}},
	{"All stresses at once, *fair*: idle %s with 300 members, %s with 10,000.",
		[]string{"beyond-idle-fair-all", "beyond-idle-fair-all-10000"}},
	{"30 %% of 300 members down: idle %s under *light*, %s under *fair*.",
		[]string{"beyond-down-idle-light-300-30", "beyond-down-idle-fair-300-30"}},
	{"Liars: 15 of 300 that always claim to be starved get %s times an honest member's share under *fair*.",
		[]string{"beyond-share-fair-starved-15"}},
	{"Many tokens, 10,000 members: the mean interval is off its target by %s under *split*, with %s tokens above the least.",
		[]string{"beyond-many-split-10000-interval", "beyond-many-split-10000-tokens"}},
}

// cause is a reason in one sentence, for rows whose own reason is longer, or that have
// one in common.
type cause struct {
	text string
	ids  []string
}

var causes = []cause{
	{"the 5 % are read from a figure of one run; the busier the members, the longer a spurious token lives.",
		[]string{"journal-two", "journal-concurrent-360", "slides-two"}},
	{"a token resets the timeouts of the members that it visits, so not all members' delays run at the same time.",
		[]string{"journal-generation", "slides-timeouts"}},
	{"members that need not operate keep the token for 0.1 s, in which nobody operates. So the token returns sooner, and any member that both tokens have visited removes the spurious one.",
		[]string{"journal-idle-cause", "journal-return-time", "journal-removal-latency"}},
	{"the paper's other numbers contradict these: the formula gives 600 for 100 members only, random access overlaps by the binomial law, and 300 operations of 4 s take 1200 s.",
		[]string{"report-delta-min", "report-random-overload", "report-within-1800"}},
	{"these depend on how timeouts grow and how far apart losses are, which the text does not say; other readings lie on both sides, and two of them reproduce the 3 %.",
		[]string{"report-longer-3000", "report-recovery-overlap-nominal", "report-recovery-more-than-5", "report-recovery-long-overload"}},
	{"members that generated a token in vain wait half as long again before the next attempt; timeouts stay spread only if losses follow each other closely.",
		[]string{"report-adaptation-150", "report-adaptation-p90-150", "report-adaptation-300", "report-adaptation-p90-300"}},
	{"the paper simplifies: its own figures are 3 % against less than 0.5 %, and 3 % against 10 %.",
		[]string{"report-recovery-comparable-150", "report-recovery-like-overload"}},
	{"the proof overlooks messages still in transit: there are (5n − 4)/2 messages a request, and 3n − 2 of service traffic.",
		[]string{"ring-d-messages", "ring-d-dearest", "ring-d-longest"}},
	{"a member that becomes due while the holder asks others has to wait for the answers.",
		[]string{"beyond-idle-fair-spare", "beyond-down-late-fair-spare-75-0", "beyond-down-late-fair-spare-75-5", "beyond-down-late-fair-spare-75-10",
			"beyond-down-late-fair-spare-75-20", "beyond-down-late-fair-spare-75-30"}},
	{"each living member has to find out by itself which members are down, and waits for each of them twice.",
		[]string{"beyond-down-p99-fair-unstated-300-10", "beyond-down-p999-fair-unstated-300-10", "beyond-down-idle-fair-unstated-300-20",
			"beyond-down-p99-fair-unstated-300-20", "beyond-down-p999-fair-unstated-300-20", "beyond-down-idle-fair-unstated-300-30",
			"beyond-down-p99-fair-unstated-300-30", "beyond-down-p999-fair-unstated-300-30"}},
}

// inShort is the likely reason of a row that fails, in one sentence.
func inShort(r SavedRow) string {
	for _, c := range causes {
		for _, id := range c.ids {
			if id == r.ID {
				return c.text
			}
		}
	}
	first, _, more := strings.Cut(r.Why, ". ")
	if more {
		first += "."
	}
	return first
}

// group are rows with something in common.
type group struct {
	by   string
	rows []SavedRow
}

// groupsOf are the rows that are in, grouped by what key says, in the order of the
// first of each.
func groupsOf(rows []SavedRow, in func(SavedRow) bool, key func(SavedRow) string) (groups []group) {
	at := map[string]int{}
	for _, r := range rows {
		if !in(r) {
			continue
		}
		k := key(r)
		i, known := at[k]
		if !known {
			i = len(groups)
			at[k] = i
			groups = append(groups, group{by: k})
		}
		groups[i].rows = append(groups[i].rows, r)
	}
	return groups
}

// Value is the median with its confidence interval, without the percentiles.
func (r *SavedRow) Value() string {
	value, rest, _ := strings.Cut(r.Measured, " [")
	if _, runs, some := strings.Cut(rest, "] "); some {
		value += " " + runs
	}
	return value
}

// outcome is what holds, what does not, and what is open, of the plain readings.
func (d *document) outcome(results []Saved, highlights []highlight) {
	home := map[string]string{}
	var plain []SavedRow
	var figures []string
	for _, r := range results {
		for _, row := range r.Rows {
			if row.Plain() {
				plain = append(plain, row)
			}
			home[row.ID] = anchor(r.Name)
		}
		if len(d.rows.shown(r)) > 0 {
			figures = append(figures, fmt.Sprintf("[%s](#%s)", r.Name, anchor(r.Name)))
		}
	}
	d.line("**What holds**, in the most important rows:")
	for _, h := range highlights {
		if text, holds := h.fill(d.rows); holds {
			d.line("- %s ([%s](#%s))", text, home[h.ids[0]], home[h.ids[0]])
		}
	}
	if failing := groupsOf(plain, func(r SavedRow) bool { return r.Verdict.Fails() }, inShort); len(failing) > 0 {
		d.line("")
		d.table("**What does not hold**: the claim, its limit, what is measured", "likely reason")
		for _, g := range failing {
			d.row(named(g.rows, home), sentence(g.by))
		}
	}
	if open := groupsOf(plain, func(r SavedRow) bool { return r.Verdict == Open }, func(r SavedRow) string { return r.ID }); len(open) > 0 {
		d.line("\n**What is open**, because the limit is within the confidence interval:")
		for _, g := range open {
			d.line("- %s", named(g.rows, home))
		}
	}
	d.line("\n**Figures**: %s.\n", cmp.Or(strings.Join(figures, ", "), "none"))
}

// named says what rows are about and what was measured, each statement once.
func named(rows []SavedRow, home map[string]string) string {
	var claims []string
	for _, g := range groupsOf(rows, func(SavedRow) bool { return true }, func(r SavedRow) string {
		limit, _, _ := strings.Cut(r.Limit, " (")
		return fmt.Sprintf("*%s* (%s): ", r.Says, limit)
	}) {
		var values []string
		for _, r := range g.rows {
			values = append(values, fmt.Sprintf("[%s](#%s) **%s**", r.ID, home[r.ID], r.Value()))
		}
		claims = append(claims, g.by+strings.Join(values, "; "))
	}
	return strings.Join(claims, "<br>")
}

// fill puts the values into the sentence. It holds if every row is there, and none
// fails or is open.
func (h highlight) fill(rows rowIndex) (text string, holds bool) {
	var values []any
	for _, id := range h.ids {
		r, known := rows[id]
		if !known || r.Verdict.Fails() || r.Verdict == Open {
			return "", false
		}
		values = append(values, "**"+r.Value()+"**")
	}
	return fmt.Sprintf(h.text, values...), true
}
