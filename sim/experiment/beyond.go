package experiment

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// goals are the chapters of the goals' document. Each names its experiments in
// its own file; their rows are made with goal, and their ids begin with "beyond-".
var goals = []paper{
	{
		title:       "Wandering token",
		cites:       "the presets of `wandering` that are this project's, beside the papers'",
		finding:     beyondWalkFinding,
		experiments: beyondWalkExperiments,
	},
	{
		title:       "Many tokens",
		cites:       "the presets of `multitoken` beside the papers'",
		finding:     beyondManyFinding,
		experiments: beyondManyExperiments,
	},
}

// Beyond are the experiments about this project's own goals, where it goes
// beyond the papers. They are not among All: they take far longer.
func Beyond() []Experiment { return experimentsOf(goals) }

// GoalsName is the document that WriteGoals writes.
const GoalsName = "beyond.md"

// goal is a row about a goal: what is to be reached in words, what is measured,
// and its limit; Reported where there is none. The reason is printed where the
// goal is not met: what was tried.
func goal(id, says, quantity string, unit Unit, limit Check, why string) Claim {
	return Claim{ID: "beyond-" + id, Source: "goal", Says: says, Quantity: quantity, Unit: unit, Holds: limit, Why: why}
}

// WriteGoals writes dir/beyond.md, which shows the figures that Write has
// written. The command is what makes it.
func WriteGoals(dir, command string, results []Result) error {
	return os.WriteFile(filepath.Join(dir, GoalsName), Goals(command, results), 0o644)
}

// Goals is the table of goals with all figures, as Markdown. It depends on the
// results and on nothing else.
func Goals(command string, results []Result) []byte {
	var d document
	seeds := 0
	for _, r := range results {
		seeds = max(seeds, r.Seeds)
	}
	d.line("# Beyond the papers: goals, and what is measured\n")
	d.line("This page is made by\n\n```sh\n%s\n```\n", command)
	d.line("with the very policies that run over the network, in virtual time, in %d runs that differ in", seeds)
	d.line("nothing but their seed. *Measured* is the median over the runs, with the 5th and the 95th")
	d.line("percentile in brackets; a goal is met when the median is within its limit, and in")
	d.line("parentheses stands in how many runs it is met alone. Goals that are not met are listed with")
	d.line("what was tried. All samples are in [%s](%s).\n", dataDir, dataDir)
	d.goalsOverview(results)
	for _, p := range goals {
		if mine := p.of(results); len(mine) > 0 {
			d.line("## %s\n\n%s.\n\n%s\n", p.title, sentence(p.cites), p.finding)
			for _, r := range mine {
				d.goalsSection(r)
			}
		}
	}
	return d.buf.Bytes()
}

// goalsOverview counts the goals, and lists those that are not met.
func (d *document) goalsOverview(results []Result) {
	met, unmet := 0, []Row{}
	for _, r := range results {
		for _, row := range r.Rows {
			switch row.Verdict {
			case Met:
				met++
			case NotMet:
				unmet = append(unmet, row)
			}
		}
	}
	d.line("%d goals are met, %d are not.\n", met, len(unmet))
	for _, row := range unmet {
		d.line("- **%s**: %s, %s; measured %s, limit %s. %s", row.ID, row.Says, row.Quantity,
			row.MeasuredText(), row.Holds.Text(row.Unit), sentence(row.Why))
	}
	if len(unmet) > 0 {
		d.line("")
	}
}

func (d *document) goalsSection(r Result) {
	d.line("### %s\n\n%s.\n", r.Name, r.Title)
	if notes := strings.TrimSpace(r.Notes); notes != "" {
		d.line("%s\n", notes)
	}
	for _, f := range r.Figures {
		d.line("![%s](%s/%s.svg)\n", f.Plot.Title, figuresDir, f.Name)
	}
	beside := slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Beside != "" })
	line := func(cost string, cells ...string) {
		if beside {
			cells = append(cells, cost)
		}
		d.row(cells...)
	}
	line("at the cost of", "row", "goal", "quantity", "limit", "measured", "met or not")
	line("---", "---", "---", "---", "---", "---", "---")
	for _, row := range r.Rows {
		verdict := row.VerdictText()
		if row.Verdict.Fails() {
			verdict = fmt.Sprintf("**%s**", verdict)
		}
		line(row.Beside, row.ID, row.Says, row.Quantity, row.Holds.Text(row.Unit), row.MeasuredText(), verdict)
	}
	d.line("")
}
