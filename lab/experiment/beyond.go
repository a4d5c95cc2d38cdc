package experiment

import (
	"fmt"
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
		title:       "Members that are down",
		cites:       "one token, and the policies side by side",
		finding:     beyondDownFinding,
		experiments: beyondDownExperiments,
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

// goal is a row about a goal: what is to be reached in words, what is measured,
// and its limit; Reported where there is none. The reason is printed where the
// goal is not met: what was tried.
func goal(id, says, quantity string, unit Unit, limit Check, why string) Claim {
	return Claim{ID: "beyond-" + id, Source: fromGoals, Says: says, Quantity: quantity, Unit: unit, Holds: limit, Why: why}
}

// Goals is the table of goals with all figures, as Markdown. It depends on the
// results, the sweep and nothing else.
func Goals(results []Saved, sweep Sweep) []byte {
	d := document{sweep: sweep}
	d.line("# Beyond the papers: goals, and what is measured\n")
	d.commands(results)
	d.line("with the very policies that run over the network, in virtual time, in %s runs that differ in", seedsText(results))
	d.line("nothing but their seed. *Measured* is the median over the runs, in parentheses its 95 %% confidence")
	d.line("interval and in brackets the 5th and the 95th percentile of the runs. A goal is *met* when the whole interval is within")
	d.line("its limit, *not met* when no part of it is, and *open* otherwise ([the rule](%s)); in", DocumentName)
	d.line("parentheses is in how many runs it is met alone. Goals that are not met are listed with")
	d.line("what was tried. All samples are in [%s](%s).\n", dataDir, dataDir)
	d.goalsOverview(results)
	for _, p := range goals {
		first := true
		for _, e := range p.experiments() {
			at := slices.IndexFunc(results, func(r Saved) bool { return r.Name == e.Name })
			if at < 0 {
				continue
			}
			if first {
				d.line("## %s\n\n%s.\n\n%s\n", p.title, sentence(p.cites), p.finding)
				first = false
			}
			d.goalsSection(e, results[at])
		}
	}
	d.constants(results, "beyond")
	return d.buf.Bytes()
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

// goalsOverview counts the goals, and lists those that are not met.
func (d *document) goalsOverview(results []Saved) {
	n, unmet, open := tally{}, []SavedRow{}, []SavedRow{}
	for _, r := range results {
		for _, row := range r.Rows {
			n[row.Verdict]++
			switch row.Verdict {
			case NotMet:
				unmet = append(unmet, row)
			case Open:
				open = append(open, row)
			}
		}
	}
	d.line("%d goals are met, %d are open, %d are not met.\n", n[Met], n[Open], n[NotMet])
	for _, row := range unmet {
		d.line("- **%s**: %s, %s; measured %s, limit %s. %s", row.ID, row.Says, row.Quantity,
			row.Measured, row.Limit, sentence(row.Why))
	}
	for _, row := range open {
		d.line("- *%s* is open: %s, %s; measured %s, limit %s", row.ID, row.Says, row.Quantity, row.Measured, row.Limit)
	}
	if len(unmet)+len(open) > 0 {
		d.line("")
	}
}

func (d *document) goalsSection(e Experiment, r Saved) {
	d.line("### %s\n\n%s; %d runs.\n", e.Name, e.Title, r.Seeds)
	if notes := strings.TrimSpace(e.Notes); notes != "" {
		d.line("%s\n", notes)
	}
	for _, f := range r.Figures {
		d.line("![%s](%s/%s.svg)\n", f.Title, figuresDir, f.Name)
	}
	beside := slices.ContainsFunc(r.Rows, func(row SavedRow) bool { return row.Cost != "" })
	line := func(cost string, cells ...string) {
		if beside {
			cells = append(cells, cost)
		}
		d.row(cells...)
	}
	line("at the cost of", "row", "goal", "quantity", "limit", "measured", "met or not")
	line("---", "---", "---", "---", "---", "---", "---")
	for _, row := range r.Rows {
		line(row.Cost, row.ID, row.Says, row.Quantity, row.Limit, row.Measured, row.verdictCell(d.sweep))
	}
	d.line("")
}
