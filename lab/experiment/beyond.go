package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// goals are the chapters of the page about goals. Each names its experiments in
// its own file; their rows are made with goal, and their ids begin with "beyond-".
var goals = []paper{
	{
		title: "Wandering token",
		cites: "the presets of `wandering` that are this project's, beside the papers'",
		finding: `At full load *light* and *fair* meet all their goals at every size, with losses, and *fair* under all stresses at
once. With time to spare, *light* leaves waiting members unserved, and the losses of *fair* are felt a little longer than the
goal allows. The papers' presets stand beside them without a verdict, as they were made for other goals.`,
		conditions:  beyondWalkConditions,
		experiments: beyondWalkExperiments,
	},
	{
		title: "Members that are down",
		cites: "one token, and the policies side by side",
		finding: `With up to 30 % of the members down, *light* and *fair* meet their goals at full load where failures are stated. If
no failure is stated, each member waits for those that are down. With small directories under all stresses, *fair* idles and
serves out of turn. With time to spare, neither keeps the idle goal.`,
		conditions:  beyondDownConditions,
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

// outdated are the experiments whose saved rows earlier rules of the policies made: with the same seeds the present ones give
// others (Against). Remove an experiment from this list when its rows have been made anew.
var outdated = []string{
	"beyond-walk", "beyond-walk-stress", "beyond-walk-together", "beyond-walk-liars", "beyond-down-walk", "beyond-down-policies",
	"policies",
}

// Goals is the page about goals, as Markdown: one screen with what holds, what does not
// and what is open, and tables of the goals. It depends on the results, the sweep and
// nothing else.
func Goals(results []Saved, sweep Sweep) []byte {
	n := tally{}
	for _, r := range results {
		for _, row := range r.Rows {
			n[row.Verdict]++
		}
	}
	d := document{rows: indexOf(results), sweep: sweep}
	d.line("# Beyond the papers: goals, and what is measured\n")
	d.line("This project's own presets, beside those of the papers, in %s simulated runs of the policies that also run over", seedsText(results))
	d.line("the network. A number in **bold** is the median over the runs, in parentheses its 95 %% confidence interval.")
	d.line("Goals: %d met, %d open, %d not met; %s.", n[Met], n[Open], n[NotMet], cmp.Or(countedRows(n[Measured], "row without a limit", "rows without a limit"), "none without a limit"))
	d.line("[How to read this page](#how-to-read-this-page), the [register](%s) of conditions and values, all [data](%s/README.md).\n", RegisterName, dataDir)
	d.outOfDate()
	d.outcome(results, beyondHighlights)
	d.line("## How to read this page\n")
	d.line("These commands made the rows; they write the same bytes again, but for those that are out of date:\n")
	d.commands(results)
	d.line("A goal is *met* when the whole confidence interval is within its limit, *not met* when no part of it is, and *open*")
	d.line("otherwise ([the rule](%s#how-to-read-this-page)). Each line of a table has the rows of one goal: how many", DocumentName)
	d.line("are met, open and not met, and the row that is nearest to the limit, or furthest beyond it.%s marks goals of which a", sensitive)
	d.line("verdict changes with [a number that this project has chosen](#%s). The [register](%s) has", anchor(constantsHeading), RegisterName)
	d.line("the value of every row by preset and size, and what it costs.\n")
	d.chapters(goals, results, d.goals)
	d.constants(results, "beyond")
	return d.buf.Bytes()
}

// outOfDate names the experiments whose rows earlier rules made.
func (d *document) outOfDate() {
	if len(outdated) == 0 {
		return
	}
	d.line("**Out of date**: rows of %s were made with earlier rules of the policies, and the present ones give", strings.Join(outdated, ", "))
	d.line("others. `go run ./cmd/wander-lab run NAME --seeds 1 --against docs` lists the samples that differ.\n")
}

// ofEarlierRules marks the section of such an experiment.
func (d *document) ofEarlierRules(e Experiment) {
	if slices.Contains(outdated, e.Name) {
		d.line("Made with earlier rules: for some rows the present ones give other values.\n")
	}
}

// goals is the section of an experiment: a line for each goal with its limit.
func (d *document) goals(e Experiment, r Saved) {
	d.line("### %s\n\n%s; %d runs.\n", e.Name, e.Title, r.Seeds)
	d.ofEarlierRules(e)
	d.figures(r)
	groups := groupsOf(r.Rows, func(row SavedRow) bool { return row.Verdict != Measured }, func(row SavedRow) string {
		quantity, _ := row.split()
		return strings.Join([]string{row.Says, quantity, row.Limit}, "\x00")
	})
	if len(groups) > 0 {
		d.table("goal", "quantity", "limit", "met:", "open:", "not met:", "nearest to the limit, or furthest beyond it")
	}
	judged := 0
	for _, g := range groups {
		judged += len(g.rows)
		n, mark := tally{}, ""
		for _, row := range g.rows {
			n[row.Verdict]++
			if len(d.sweep.changes(row)) > 0 {
				mark = sensitive
			}
		}
		quantity, _ := g.rows[0].split()
		at := extreme(g.rows)
		_, setting := at.split()
		d.row(g.rows[0].Says+mark, quantity, at.Limit, fmt.Sprint(n[Met]), fmt.Sprint(n[Open]), bold(fmt.Sprint(n[NotMet]), n[NotMet] > 0),
			bold(at.Value(), at.Verdict.Fails())+": "+setting)
	}
	if len(groups) > 0 {
		d.line("")
	}
	d.goalReasons(r.Rows)
	d.beside(r, countedRows(len(r.Rows)-judged, "row without a limit", "rows without a limit"))
}

// goalReasons says what was tried where a goal is not met, each reason once.
func (d *document) goalReasons(rows []SavedRow) {
	all := groupsOf(rows, func(r SavedRow) bool { return r.Verdict.Fails() }, func(r SavedRow) string { return r.Why })
	for _, g := range all {
		var settings []string
		for _, row := range g.rows {
			_, setting := row.split()
			if !slices.Contains(settings, setting) {
				settings = append(settings, setting)
			}
		}
		d.line("- Not met: %s. %s", strings.Join(settings, "; "), sentence(g.by))
	}
	if len(all) > 0 {
		d.line("")
	}
}

// split separates what is measured from where: the preset, the size of the group and
// other conditions.
func (r *SavedRow) split() (quantity, setting string) {
	if at := strings.LastIndex(r.Quantity, ": "); at >= 0 {
		return r.Quantity[at+2:], r.Quantity[:at]
	}
	parts := strings.Split(r.Quantity, ", ")
	n := 1
	if len(parts) > 1 && strings.HasPrefix(parts[1], "over ") {
		n = 2
	}
	return strings.Join(parts[:n], ", "), strings.Join(parts[n:], ", ")
}

// extreme is the row that is nearest to the limit that all have, or furthest beyond it.
func extreme(rows []SavedRow) SavedRow {
	value := func(r SavedRow) float64 {
		number, _, _ := strings.Cut(r.Measured, " ")
		v, err := strconv.ParseFloat(strings.Replace(strings.Replace(number, "∞", "Inf", 1), "−", "-", 1), 64)
		if err != nil {
			return 0 // a dash: no run had a value
		}
		if strings.HasPrefix(r.Limit, "at least") {
			v = -v
		}
		return v
	}
	return slices.MaxFunc(rows, func(a, b SavedRow) int { return cmp.Compare(value(a), value(b)) })
}
