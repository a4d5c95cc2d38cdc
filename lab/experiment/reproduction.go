package experiment

import (
	"fmt"
	"strings"
)

// Reproduction is the page about the papers, as Markdown: one screen with what holds,
// what does not and what is open, and the tables of claims. It depends on the results,
// the sweep and nothing else.
func Reproduction(results []Saved, sweep Sweep) []byte {
	d := document{rows: indexOf(results), sweep: sweep}
	d.line("# What the papers say, and what is measured\n")
	d.line("The papers' claims, compared with %s simulated runs of the policies that members also run over the network. A number in", seedsText(results))
	d.line("**bold** is the median of the runs; its 95 %% confidence interval follows in parentheses. [How to read this page](#how-to-read-this-page)")
	d.line("explains kinds and verdicts, with a figure of all published numbers; see also the [register](%s) and the [data](%s/README.md).\n", RegisterName, dataDir)
	d.headline(results)
	d.outcome(results, reproductionHighlights)
	d.reading(results)
	d.chapters(papers, results, d.claims)
	d.constants(results, "all")
	return d.buf.Bytes()
}

// tally counts the verdicts of rows.
type tally map[Verdict]int

func (t tally) cells() []string {
	return []string{fmt.Sprint(t[Reproduced]), fmt.Sprint(t[Open]), fmt.Sprint(t[NotReproduced]), fmt.Sprint(t[Measured])}
}

// plainByKind counts the verdicts of the plain readings, by what they are about.
func plainByKind(results []Saved) map[Kind]tally {
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
	return byKind
}

// headline counts the verdicts of each kind apart.
func (d *document) headline(results []Saved) {
	byKind := plainByKind(results)
	counts := map[Verdict][]string{Reproduced: {"hold"}, Open: {"open"}, NotReproduced: {"do not hold"}}
	headings := []string{"claims"}
	for _, k := range kinds {
		n := byKind[k.Kind]
		if n[Reproduced]+n[Open]+n[NotReproduced] == 0 {
			continue
		}
		headings = append(headings, string(k.Kind)+":")
		for v := range counts {
			counts[v] = append(counts[v], fmt.Sprint(n[v]))
		}
	}
	d.table(headings...)
	for _, v := range []Verdict{Reproduced, Open, NotReproduced} {
		d.row(counts[v]...)
	}
	d.line("")
}

// reading explains the page, and counts the claims by kind and by paper.
func (d *document) reading(results []Saved) {
	d.line("## How to read this page\n")
	d.line("These commands made the rows; they write the same bytes again:\n")
	d.commands(results)
	d.line("The runs of a row differ only in their seed. A row with one number and no range is not random. *Measured* is the median")
	d.line("of the runs, then in parentheses its confidence interval, then in brackets the 5th and the 95th percentile of the runs.")
	d.line("The interval contains the median of all possible runs with a probability of at least 95 %%, whatever their distribution")
	d.line("is: it reaches from the r-th smallest run to the r-th largest, where r is the largest number for which at most r − 1 of")
	d.line("n tosses of a coin show heads with a probability of at most 2.5 %%. Of 40 runs these are the %dth and the %dth. The", medianRank(40), 41-medianRank(40))
	d.line("verdict compares the interval with the limit under *holds if*:\n")
	d.line("- *reproduced*: the whole interval is within the limit;")
	d.line("- *not reproduced*: no part of the interval is within it;")
	d.line("- *open*: the limit is within the interval, so these runs do not decide;")
	d.line("- *measured*: the paper gives no number. These rows are in [%s](%s) only.\n", claimsName, dataDir+"/"+claimsName)
	d.line("The number in parentheses after a verdict says how many single runs are within the limit.%s marks a verdict that", sensitive)
	d.line("changes with [a number that this project has chosen](#%s). Where a paper is ambiguous, the tables here", anchor(constantsHeading))
	d.line("use the plain reading; the [register](%s) explains it, and the other readings are in %s.\n", RegisterName, claimsName)
	d.line("A band in a figure reaches from the 5th to the 95th percentile of the runs, or shows the confidence interval of a row. A line")
	d.line("without a band is a median, a mean or a single run.\n")
	d.line("The symbols are the papers': Δop is the duration of an operation, Δmin the least time that a member waits before its")
	d.line("next one, Δskip how long it keeps a token that it does not use, Δmax and Δgen how long it sees no token before it")
	d.line("generates one, γ the mean of the random part of that time, N the number of members, and Nmax the number that saturates")
	d.line("the resource. A time unit is a second. A member is what the papers call an agent, subscriber, component, node or processor.\n")
	d.line("Claims in their plain reading, by kind. The first three kinds compare the simulation with what a paper has measured;")
	d.line("the first kind says most.\n")
	d.table("kind", "what it is", "reproduced:", "open:", "not reproduced:", "only measured:")
	byKind := plainByKind(results)
	for _, k := range kinds {
		d.row(append([]string{string(k.Kind), k.text}, byKind[k.Kind].cells()...)...)
	}
	d.line("")
	if p := publishedPlot(results); len(p.Lines) > 0 {
		d.line("The two-sided claims with their confidence intervals, in the order of the page. Medians that are farther away than")
		d.line("%.0f tolerances are drawn at the edge:\n", mostTolerances)
		d.figure(publishedFigure)
	}
	d.line("The same claims by paper:\n")
	d.table("paper", "claims:", "of them two-sided:", "reproduced:", "open:", "not reproduced:", "only measured:", "rows of other readings:", "not measurable:")
	for _, p := range papers {
		if mine := p.of(results); len(mine) > 0 {
			d.paperLine(p, mine)
		}
	}
	d.line("")
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
	d.row(append(cells, fmt.Sprint(others), fmt.Sprint(missing))...)
}

// claims is the section of an experiment: the plain rows that have a verdict.
func (d *document) claims(e Experiment, r Saved) {
	d.line("### %s\n\n%s (%s).\n", r.Name, e.Title, e.Source)
	d.ofEarlierRules(e)
	d.figures(r)
	var shown []SavedRow
	unlimited, others := 0, 0
	for _, row := range r.Rows {
		switch {
		case !row.Plain():
			others++
		case row.Verdict == Measured:
			unlimited++
		default:
			shown = append(shown, row)
		}
	}
	if len(shown) > 0 {
		d.table("row", "the claim", "quantity", "holds if", "measured", "verdict")
		for _, row := range shown {
			d.line("%s", row.Line(d.sweep))
		}
		d.line("")
		d.reasons(shown)
	}
	d.beside(r, countedRows(unlimited, "row without a published number", "rows without a published number"),
		countedRows(others, "row of another reading", "rows of other readings"))
}

// reasons says each reason once, for all rows that have it.
func (d *document) reasons(rows []SavedRow) {
	all := groupsOf(rows, func(r SavedRow) bool { return r.Verdict.Fails() }, func(r SavedRow) string { return r.Why })
	for _, g := range all {
		var names []string
		for _, row := range g.rows {
			names = append(names, "**"+row.ID+"**")
		}
		does := "does"
		if len(names) > 1 {
			does = "do"
		}
		d.line("- %s %s not reproduce: %s", strings.Join(names, ", "), does, g.by)
	}
	if len(all) > 0 {
		d.line("")
	}
}

// Plain reports whether the row is about the plain reading, and not about another one.
func (r *SavedRow) Plain() bool { return !strings.Contains(r.ID, "/") }

// Line is the row's line in the page's table.
func (r *SavedRow) Line(sweep Sweep) string {
	return tableLine(r.ID, r.Says, r.Quantity, r.Limit, r.Measured, r.verdictCell(sweep))
}
