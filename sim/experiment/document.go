package experiment

import (
	"bytes"
	"fmt"
	"strings"
)

// Document is the complete table with all figures, as Markdown. It depends on
// the results and on nothing else.
func Document(command string, results []Result) []byte {
	var d document
	d.opening(command, results)
	d.overview(results)
	for _, p := range papers {
		if mine := p.of(results); len(mine) > 0 {
			d.chapter(p, mine)
		}
	}
	return d.buf.Bytes()
}

// of are the results of the paper's experiments.
func (p paper) of(results []Result) []Result {
	mine := map[string]bool{}
	for _, e := range p.experiments() {
		mine[e.Name] = true
	}
	var found []Result
	for _, r := range results {
		if mine[r.Name] {
			found = append(found, r)
		}
	}
	return found
}

type document struct{ buf bytes.Buffer }

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

func (d *document) opening(command string, results []Result) {
	d.line("# What the papers say, and what is measured\n")
	d.line("This page is made by\n")
	d.line("```sh\n%s\n```\n", command)
	d.line("with the very policies that run over the network, in virtual time. The same command")
	d.line("writes the same bytes again. The figures are also there as PNG, and all samples of all")
	d.line("rows in [%s](%s).\n", dataDir, dataDir)
	seeds := 0
	for _, r := range results {
		seeds = max(seeds, r.Seeds)
	}
	d.line("Each quantity is measured in %d runs that differ in nothing but their seed, unless its", seeds)
	d.line("row has one number without a range: then nothing in it is random. *Measured* is the")
	d.line("median over the runs, and in brackets the 5th and the 95th percentile. The verdict is the")
	d.line("median's: *reproduced* when it satisfies what stands under *holds if*, with the number of")
	d.line("runs that satisfy it each for itself, which may be few where *holds if* has two ends;")
	d.line("*measured* when the paper gives no number to hold against. *Not measurable* are claims about")
	d.line("something else than these systems, as money; each is listed with the reason. Where a text leaves open what it means, the row with a plain name has the")
	d.line("reading that the notes explain, and rows with a slash in their name have the others.\n")
	d.line("The letters are the papers': Δop is how long an operation takes, Δmin how long a member waits")
	d.line("at least before its next one, Δskip how long it keeps a token that it does not use, Δmax and")
	d.line("Δgen after what silence it makes a new token, γ the mean of the random part of that time, N")
	d.line("the number of members and Nmax that which saturates the resource. A time unit is a second. A")
	d.line("member is what the papers call an agent, subscriber, component, node or processor.\n")
}

// overview counts the verdicts of the plain readings, and lists what does not
// reproduce.
func (d *document) overview(results []Result) {
	d.row("paper", "claims", "reproduced", "not reproduced", "only measured", "rows of other readings", "not measurable")
	d.row("---", "---:", "---:", "---:", "---:", "---:", "---:")
	for _, p := range papers {
		if mine := p.of(results); len(mine) > 0 {
			n := map[Verdict]int{}
			plain, others, missing := 0, 0, 0
			for _, r := range mine {
				missing += len(r.NotMeasured)
				for _, row := range r.Rows {
					if !row.Plain() {
						others++
						continue
					}
					plain++
					n[row.Verdict]++
				}
			}
			d.row(fmt.Sprintf("[%s](#%s)", p.title, anchor(p.title)), fmt.Sprint(plain),
				fmt.Sprint(n[Reproduced]), fmt.Sprint(n[NotReproduced]), fmt.Sprint(n[Measured]),
				fmt.Sprint(others), fmt.Sprint(missing))
		}
	}
	d.line("")
	d.failures(results)
}

func (d *document) failures(results []Result) {
	first := true
	for _, r := range results {
		for _, row := range r.Rows {
			if !row.Verdict.Fails() || !row.Plain() {
				continue
			}
			if first {
				d.line("Not reproduced in the plain reading; the reasons are below the tables:\n")
				first = false
			}
			d.line("- [%s](#%s): %s; measured %s", row.ID, anchor(r.Name), row.Says, row.MeasuredText())
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

func (d *document) chapter(p paper, results []Result) {
	d.line("## %s\n", p.title)
	d.line("%s.\n", sentence(p.cites))
	d.line("%s\n", p.finding)
	for _, r := range results {
		d.section(r)
	}
	d.notMeasured(results)
}

// sentence begins with a capital letter.
func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func (d *document) section(r Result) {
	d.line("### %s\n", r.Name)
	d.line("%s (%s).\n", r.Title, r.Source)
	if notes := strings.TrimSpace(r.Notes); notes != "" {
		d.line("%s\n", notes)
	}
	for _, f := range r.Figures {
		d.line("![%s](%s/%s.svg)\n", f.Plot.Title, figuresDir, f.Name)
	}
	if len(r.Rows) == 0 {
		return
	}
	d.row("row", "where", "the paper says", "quantity", "measured", "holds if", "verdict")
	d.row("---", "---", "---", "---", "---", "---", "---")
	for _, row := range r.Rows {
		d.line("%s", row.Line())
	}
	d.line("")
	d.reasons(r.Rows)
}

// reasons says each reason once, for all rows that have it.
func (d *document) reasons(rows []Row) {
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
func (r *Row) Plain() bool { return !strings.Contains(r.ID, "/") }

// Line is the row's line in the document's table.
func (r *Row) Line() string {
	quantity, verdict := r.Quantity, r.VerdictText()
	if r.Reading != "" {
		quantity += "; *" + r.Reading + "*"
	}
	if r.Verdict.Fails() {
		verdict = "**" + verdict + "**"
	}
	return tableLine(r.ID, r.Source, r.Says, quantity, r.MeasuredText(), r.Holds.Text(r.Unit), verdict)
}

func (d *document) notMeasured(results []Result) {
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
