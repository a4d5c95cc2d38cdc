package experiment

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// document is a page in the making, as Markdown.
type document struct {
	buf   bytes.Buffer
	rows  rowIndex // of all results of the page
	sweep Sweep
}

func (d *document) line(format string, args ...any) { fmt.Fprintf(&d.buf, format+"\n", args...) }

func (d *document) row(cells ...string) { d.line("%s", tableLine(cells...)) }

// table begins a table. A heading that ends with ":" is that of a column of numbers.
func (d *document) table(headings ...string) {
	rules := make([]string, len(headings))
	for i, h := range headings {
		headings[i], rules[i] = strings.TrimSuffix(h, ":"), "---"
		if headings[i] != h {
			rules[i] = "---:"
		}
	}
	d.row(headings...)
	d.row(rules...)
}

// tableLine is a line of a table; bars within cells are escaped.
func tableLine(cells ...string) string {
	var b strings.Builder
	for _, c := range cells {
		b.WriteString("| " + strings.ReplaceAll(c, "|", `\|`) + " ")
	}
	return b.String() + "|"
}

// anchor is what a heading is called in links.
func anchor(heading string) string {
	return strings.ReplaceAll(strings.ToLower(heading), " ", "-")
}

// sentence begins with a capital letter.
func sentence(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// commands are the commands that made the results, each once.
func (d *document) commands(results []Saved) {
	d.line("```sh")
	for i, r := range results {
		if !slices.ContainsFunc(results[:i], func(o Saved) bool { return o.Command == r.Command }) {
			d.line("%s", r.Command)
		}
	}
	d.line("```\n")
}

// seedsText is in how many runs each of the results was measured.
func seedsText(results []Saved) string {
	if len(results) == 0 {
		return "no"
	}
	fewer := func(a, b Saved) int { return a.Seeds - b.Seeds }
	least, most := slices.MinFunc(results, fewer).Seeds, slices.MaxFunc(results, fewer).Seeds
	if least == most {
		return fmt.Sprint(most)
	}
	return fmt.Sprintf("%d to %d", least, most)
}

// of are the results of the paper's experiments.
func (p paper) of(results []Saved) (found []Saved) {
	for _, e := range p.experiments() {
		for _, r := range results {
			if r.Name == e.Name {
				found = append(found, r)
			}
		}
	}
	return found
}

// chapters writes the chapter of each paper of which there are results, and within it
// the section of each experiment.
func (d *document) chapters(papers []paper, results []Saved, section func(Experiment, Saved)) {
	for _, p := range papers {
		mine := p.of(results)
		if len(mine) == 0 {
			continue
		}
		d.line("## %s\n\n%s.\n\n%s\n", p.title, sentence(p.cites), p.finding)
		for _, r := range mine {
			e, _ := Find(r.Name)
			section(e, r)
		}
	}
}

// figures shows the figures of a result.
func (d *document) figures(r Saved) {
	for _, f := range d.rows.shown(r) {
		d.figure(f)
	}
}

func (d *document) figure(f SavedFigure) { d.line("![%s](%s/%s.svg)\n", f.Title, figuresDir, f.Name) }

// beside says where the rest of an experiment is, and how much that is.
func (d *document) beside(r Saved, counts ...string) {
	also := ""
	if some := slices.DeleteFunc(counts, func(c string) bool { return c == "" }); len(some) > 0 {
		also = "Also " + strings.Join(some, " and ") + ". "
	}
	d.line("%s[Conditions and readings](%s#%s), [all rows with their samples](%s/%s-claims.csv).\n",
		also, RegisterName, anchor(r.Name), dataDir, r.Name)
}

// countedRows is a number of things, and nothing for none.
func countedRows(n int, one, many string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 " + one
	}
	return fmt.Sprint(n) + " " + many
}

// bold marks what is against a claim or a goal.
func bold(text string, is bool) string {
	if is {
		return "**" + text + "**"
	}
	return text
}

// sensitive marks a verdict that changes with a number that this project has chosen.
const sensitive = " †"

// verdictCell is the verdict as a table of a page shows it.
func (r *SavedRow) verdictCell(sweep Sweep) string {
	text := bold(r.VerdictText, r.Verdict.Fails())
	if len(sweep.changes(*r)) > 0 {
		text += sensitive
	}
	return text
}

// constantsHeading is the chapter of both pages that other pages link to.
const constantsHeading = "Numbers that no paper gives"

// constants is the chapter about the numbers that no paper gives. The names are
// those of the experiments on the command line of the sweep.
func (d *document) constants(results []Saved, names string) {
	rows, changing := 0, 0
	for _, r := range results {
		for _, row := range r.Rows {
			if row.Verdict != Measured {
				rows++
			}
			if len(d.sweep.changes(row)) > 0 {
				changing++
			}
		}
	}
	numbers := 0
	for _, c := range constants {
		if c.isUsedIn(results) {
			numbers++
		}
	}
	d.line("## %s\n", constantsHeading)
	d.line("The experiments need %d numbers that no paper gives. [%s](%s) has each with its value, its reason, the other", numbers, constantsName, dataDir+"/"+constantsName)
	d.line("values that were tried, and the rows that change. A sweep changes one number at a time, in %s runs with each value,", sweptSeeds(d.sweep, results))
	d.line("the fewest that give the median a confidence interval:\n")
	d.line("```sh\ngo run ./cmd/wander-lab sweep %s --out docs\n```\n", names)
	d.line("Every sweep is in [sweep.csv](%s/sweep.csv). Limits that this project has chosen, and the *tolerance* of two-sided", dataDir)
	d.line("limits, were also halved and doubled for the saved samples. Of %d rows with a limit, %d have another verdict with some", rows, changing)
	d.line("other number (%s); their column *changes* in [%s](%s) says which.", strings.TrimSpace(sensitive), claimsName, dataDir+"/"+claimsName)
}

// sweptSeeds is in how many runs the sweep of these results was made.
func sweptSeeds(sweep Sweep, results []Saved) string {
	for _, w := range sweep {
		if slices.ContainsFunc(results, func(r Saved) bool { return r.Name == w.Experiment }) {
			return fmt.Sprint(w.Seeds)
		}
	}
	return "no"
}
