package experiment

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Document is the complete table with all figures, as Markdown. It depends on
// the results, the sweep and nothing else.
func Document(results []Saved, sweep Sweep) []byte {
	d := document{sweep: sweep}
	d.opening(results)
	d.overview(results)
	for _, p := range papers {
		if mine := p.of(results); len(mine) > 0 {
			d.chapter(p, mine)
		}
	}
	d.constants(results, "all")
	return d.buf.Bytes()
}

// of are the results of the paper's experiments.
func (p paper) of(results []Saved) []Saved {
	mine := map[string]bool{}
	for _, e := range p.experiments() {
		mine[e.Name] = true
	}
	var found []Saved
	for _, r := range results {
		if mine[r.Name] {
			found = append(found, r)
		}
	}
	return found
}

type document struct {
	buf   bytes.Buffer
	sweep Sweep
}

func (d *document) line(format string, args ...any) { fmt.Fprintf(&d.buf, format+"\n", args...) }

func (d *document) row(cells ...string) { d.line("%s", tableLine(cells...)) }

// tableLine is a line of a table; bars within cells are escaped.
func tableLine(cells ...string) string {
	var b strings.Builder
	for _, c := range cells {
		b.WriteString("| " + strings.ReplaceAll(c, "|", `\|`) + " ")
	}
	return b.String() + "|"
}

// commands are the commands that made the results, each once.
func (d *document) commands(results []Saved) {
	d.line("This page is made by\n\n```sh")
	for i, r := range results {
		if !slices.ContainsFunc(results[:i], func(o Saved) bool { return o.Command == r.Command }) {
			d.line("%s", r.Command)
		}
	}
	d.line("```\n")
}

func (d *document) opening(results []Saved) {
	d.line("# What the papers say, and what is measured\n")
	d.commands(results)
	d.line("with the very policies that run over the network, in virtual time. The same commands")
	d.line("write the same bytes again. The figures are also there as PNG, and all samples of all")
	d.line("rows in [%s](%s).\n", dataDir, dataDir)
	d.line("Each quantity is measured in %s runs that differ in nothing but their seed, unless its", seedsText(results))
	d.line("row has one number without a range: then nothing in it is random. *Measured* is the")
	d.line("median over the runs; in parentheses its confidence interval, and in brackets the 5th and the")
	d.line("95th percentile of the runs. The interval contains the median of all runs that there could be")
	d.line("with a probability of at least 95 %%, whatever their distribution is: it goes from the r-th smallest")
	d.line("run to the r-th largest, where r is the largest number for which at most r − 1 of n tosses of a coin")
	d.line("show heads with a probability of at most 2.5 %%. Of 40 runs these are the %dth and the %dth.\n", medianRank(40), 41-medianRank(40))
	d.line("The verdict follows from the interval and from what is written under *holds if*:\n")
	d.line("- *reproduced*: the whole interval satisfies it;")
	d.line("- *not reproduced*: no part of the interval does;")
	d.line("- *open*: a limit is within the interval, so that these runs do not decide;")
	d.line("- *measured*: the paper gives no number to hold against.\n")
	d.line("Beside the verdict is the number of runs that satisfy *holds if* each for itself, which may be few where")
	d.line("it has two ends. *Changes with* names the other verdicts that a row has while a number that this project has")
	d.line("chosen has another value; [the last chapter](#numbers-that-no-paper-gives) has all of these numbers. *Not measurable* are claims about")
	d.line("something else than these systems, as money; each is listed with the reason. Where a text leaves open what it means, the row with a plain name has the")
	d.line("reading that the notes explain, and rows with a slash in their name have the others.\n")
	d.line("The letters are the papers': Δop is how long an operation takes, Δmin how long a member waits")
	d.line("at least before its next one, Δskip how long it keeps a token that it does not use, Δmax and")
	d.line("Δgen after what silence it makes a new token, γ the mean of the random part of that time, N")
	d.line("the number of members and Nmax that which saturates the resource. A time unit is a second. A")
	d.line("member is what the papers call an agent, subscriber, component, node or processor.\n")
}

// tally counts the verdicts of rows.
type tally map[Verdict]int

func (t tally) cells() []string {
	return []string{fmt.Sprint(t[Reproduced]), fmt.Sprint(t[Open]), fmt.Sprint(t[NotReproduced])}
}

// overview counts the verdicts of the plain readings, by what they are about and
// by paper, and lists what does not reproduce or is open.
func (d *document) overview(results []Saved) {
	byKind := map[Kind]tally{}
	for _, k := range kinds {
		byKind[k.Kind] = tally{}
	}
	for _, r := range results {
		for _, row := range r.Rows {
			if row.Plain() {
				byKind[row.Kind][row.Verdict]++
			}
		}
	}
	d.line("Claims in their plain reading, by what can be held against a measurement. Only the first three kinds hold the")
	d.line("simulation against what a paper has measured; the first says most.\n")
	d.row("kind", "what it is", "reproduced", "open", "not reproduced", "only measured")
	d.row("---", "---", "---:", "---:", "---:", "---:")
	for _, k := range kinds {
		n := byKind[k.Kind]
		d.row(append(append([]string{string(k.Kind), k.text}, n.cells()...), fmt.Sprint(n[Measured]))...)
	}
	d.line("\nThe same claims by paper:\n")
	d.row("paper", "claims", "of them two-sided", "reproduced", "open", "not reproduced", "only measured", "rows of other readings", "not measurable")
	d.row("---", "---:", "---:", "---:", "---:", "---:", "---:", "---:", "---:")
	for _, p := range papers {
		if mine := p.of(results); len(mine) > 0 {
			d.paperLine(p, mine)
		}
	}
	d.line("")
	d.list(results, "Not reproduced in the plain reading; the reasons are below the tables:", NotReproduced)
	d.list(results, "Open in the plain reading, as a limit is within the confidence interval of the median:", Open)
}

func (d *document) paperLine(p paper, mine []Saved) {
	n := tally{}
	plain, two, others, missing := 0, 0, 0, 0
	for _, r := range mine {
		missing += len(r.NotMeasured)
		for _, row := range r.Rows {
			if !row.Plain() {
				others++
				continue
			}
			plain++
			n[row.Verdict]++
			if row.Kind == TwoSided && row.Verdict != Measured {
				two++
			}
		}
	}
	cells := append([]string{fmt.Sprintf("[%s](#%s)", p.title, anchor(p.title)), fmt.Sprint(plain), fmt.Sprint(two)}, n.cells()...)
	d.row(append(cells, fmt.Sprint(n[Measured]), fmt.Sprint(others), fmt.Sprint(missing))...)
}

// list names the rows of a verdict, under a heading.
func (d *document) list(results []Saved, heading string, verdict Verdict) {
	first := true
	for _, r := range results {
		for _, row := range r.Rows {
			if row.Verdict != verdict || !row.Plain() {
				continue
			}
			if first {
				d.line("%s\n", heading)
				first = false
			}
			d.line("- [%s](#%s): %s; measured %s, holds if %s", row.ID, anchor(r.Name), row.Says, row.Measured, row.Limit)
		}
	}
	if !first {
		d.line("")
	}
}

// anchor is what a heading is called in links.
func anchor(heading string) string {
	return strings.ReplaceAll(strings.ToLower(heading), " ", "-")
}

func (d *document) chapter(p paper, results []Saved) {
	d.line("## %s\n", p.title)
	d.line("%s.\n", sentence(p.cites))
	d.line("%s\n", p.finding)
	for _, e := range p.experiments() {
		for _, r := range results {
			if r.Name == e.Name {
				d.section(e, r)
			}
		}
	}
	d.notMeasured(results)
}

// sentence begins with a capital letter.
func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func (d *document) section(e Experiment, r Saved) {
	d.line("### %s\n", r.Name)
	d.line("%s (%s).\n", e.Title, e.Source)
	if notes := strings.TrimSpace(e.Notes); notes != "" {
		d.line("%s\n", notes)
	}
	for _, f := range r.Figures {
		d.line("![%s](%s/%s.svg)\n", f.Title, figuresDir, f.Name)
	}
	if len(r.Rows) == 0 {
		return
	}
	d.row("row", "where", "the paper says", "quantity", "measured", "holds if", "kind", "verdict")
	d.row("---", "---", "---", "---", "---", "---", "---", "---")
	for _, row := range r.Rows {
		d.line("%s", row.Line(d.sweep))
	}
	d.line("")
	d.reasons(r.Rows)
}

// reasons says each reason once, for all rows that have it.
func (d *document) reasons(rows []SavedRow) {
	var whys []string
	names := map[string][]string{}
	for _, row := range rows {
		if !row.Verdict.Fails() {
			continue
		}
		if names[row.Why] == nil {
			whys = append(whys, row.Why)
		}
		names[row.Why] = append(names[row.Why], "**"+row.ID+"**")
	}
	for _, why := range whys {
		does := "does"
		if len(names[why]) > 1 {
			does = "do"
		}
		d.line("- %s %s not reproduce: %s", strings.Join(names[why], ", "), does, why)
	}
	if len(whys) > 0 {
		d.line("")
	}
}

// Plain reports whether the row is about the reading that the notes explain,
// and not about another one.
func (r *SavedRow) Plain() bool { return !strings.Contains(r.ID, "/") }

// Line is the row's line in the document's table, with the verdicts that it has
// under other values of what this project has chosen.
func (r *SavedRow) Line(sweep Sweep) string {
	quantity := r.Quantity
	if r.Reading != "" {
		quantity += "; *" + r.Reading + "*"
	}
	return tableLine(r.ID, r.Source, r.Says, quantity, r.Measured, r.Limit, string(r.Kind), r.verdictCell(sweep))
}

// verdictCell is the verdict as a table shows it.
func (r *SavedRow) verdictCell(sweep Sweep) string {
	verdict := r.VerdictText
	if r.Verdict.Fails() {
		verdict = "**" + verdict + "**"
	}
	var changes []string
	for _, c := range sweep.changes(*r) {
		changes = append(changes, c.Text())
	}
	if len(changes) > 0 {
		verdict += "; *changes with* " + strings.Join(changes, ", ")
	}
	return verdict
}

func (d *document) notMeasured(results []Saved) {
	first := true
	for _, r := range results {
		for _, n := range r.NotMeasured {
			if first {
				d.line("Not measured, and why:\n")
				d.row("where", "the paper says", "why not")
				d.row("---", "---", "---")
				first = false
			}
			d.row(n.Source, n.Says, n.Why)
		}
	}
	if !first {
		d.line("")
	}
}
