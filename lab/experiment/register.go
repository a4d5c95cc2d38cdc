package experiment

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
)

// registerPage is the page beside the others, as Markdown: under which conditions each
// experiment runs, how a text was read, which claims cannot be measured, and the values
// of all goals by preset and size.
func registerPage(results []Saved) []byte {
	var d document
	d.line("# Register: conditions, readings and values\n")
	d.line("What [the page about the papers](%s) and [the page about goals](%s) leave out: the conditions of each", DocumentName, GoalsName)
	d.line("experiment, how an unclear text was read, why some claims cannot be measured, and the values of all goals. Every row")
	d.line("of every reading is in [%s](%s/%s), with its reason where it does not hold.\n", claimsName, dataDir, claimsName)
	for _, p := range slices.Concat(papers, goals) {
		mine := p.of(results)
		if len(mine) == 0 {
			continue
		}
		d.line("## %s\n", p.registerTitle())
		if p.conditions != "" {
			d.line("%s\n", p.conditions)
		}
		for _, r := range mine {
			e, _ := Find(r.Name)
			d.line("### %s\n\n%s (%s).\n", r.Name, e.Title, e.Source)
			if notes := strings.TrimSpace(e.Notes); notes != "" {
				d.line("%s\n", notes)
			}
			if e.Goals {
				d.values(r)
			} else {
				d.otherReasons(r.Rows)
			}
		}
		d.notMeasured(mine)
	}
	return d.buf.Bytes()
}

// registerTitle tells a chapter about goals from one about a paper of the same title.
func (p paper) registerTitle() string {
	if slices.ContainsFunc(goals, func(g paper) bool { return g.title == p.title && g.cites == p.cites }) {
		return "Goals: " + strings.ToLower(p.title[:1]) + p.title[1:]
	}
	return p.title
}

// otherReasons says why other readings do not hold, each reason once.
func (d *document) otherReasons(rows []SavedRow) {
	all := groupsOf(rows, func(r SavedRow) bool { return r.Verdict.Fails() && !r.Plain() }, func(r SavedRow) string { return r.Why })
	if len(all) == 0 {
		return
	}
	d.line("Other readings that do not reproduce:\n")
	for _, g := range all {
		var names []string
		for _, row := range g.rows {
			names = append(names, row.ID)
		}
		d.line("- %s: %s", strings.Join(names, ", "), g.by)
	}
	d.line("")
}

// values shows all rows of goals: a line for each setting, a column for each quantity.
func (d *document) values(r Saved) {
	column := func(row SavedRow) string {
		quantity, _ := row.split()
		return quantity
	}
	taken := map[[2]string]bool{}
	for _, row := range r.Rows {
		quantity, setting := row.split()
		if taken[[2]string{quantity, setting}] { // one quantity of several goals
			column = func(row SavedRow) string {
				quantity, _ := row.split()
				return row.Says + ": " + quantity
			}
			break
		}
		taken[[2]string{quantity, setting}] = true
	}
	var columns []string
	for _, row := range r.Rows {
		if c := column(row); !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
	}
	headings := append([]string{"setting"}, columns...)
	priced := slices.ContainsFunc(r.Rows, func(row SavedRow) bool { return row.Cost != "" })
	if priced {
		headings = append(headings, "at the cost of")
	}
	d.table(headings...)
	for _, g := range groupsOf(r.Rows, func(SavedRow) bool { return true }, func(row SavedRow) string { _, setting := row.split(); return setting }) {
		cells := append([]string{g.by}, make([]string, len(headings)-1)...)
		for _, row := range g.rows {
			cells[1+slices.Index(columns, column(row))] = bold(row.Value(), row.Verdict.Fails())
			if priced {
				cells[len(cells)-1] = row.Cost
			}
		}
		d.row(cells...)
	}
	d.line("")
}

func (d *document) notMeasured(results []Saved) {
	first := true
	for _, r := range results {
		for _, n := range r.NotMeasured {
			if first {
				d.line("Not measurable, and why:\n")
				d.table("where", "the paper says", "why not")
				first = false
			}
			d.row(n.Source, n.Says, n.Why)
		}
	}
	if !first {
		d.line("")
	}
}

// claimsHeader names the columns of the register of claims.
var claimsHeader = []string{"chapter", "experiment", "id", "source", "kind", "says", "quantity", "reading", "limit", "measured", "verdict", "cost", "why", "changes"}

// Claims is the register of all rows, as CSV.
func Claims(results []Saved, sweep Sweep) []byte {
	lines := [][]string{claimsHeader}
	for _, p := range slices.Concat(papers, goals) {
		for _, r := range p.of(results) {
			for _, row := range r.Rows {
				lines = append(lines, row.record(p.registerTitle(), r.Name, sweep))
			}
		}
	}
	return csvText(lines)
}

func (r *SavedRow) record(chapter, experiment string, sweep Sweep) []string {
	var changes []string
	for _, c := range sweep.changes(*r) {
		changes = append(changes, c.text())
	}
	return []string{
		chapter, experiment, r.ID, r.Source, string(r.Kind), r.Says, r.Quantity, r.Reading, r.Limit, r.Measured, r.VerdictText, r.Cost, r.Why,
		strings.Join(changes, "; "),
	}
}

// constantsRegister is the register of the numbers that no paper gives, as CSV.
func constantsRegister(results []Saved, sweep Sweep) []byte {
	lines := [][]string{{"number", "value", "why", "used in", "other values", "why not others", "rows that change"}}
	rows := changedBy(results, sweep)
	lines = append(lines, []string{
		toleranceName, "as in the column limit of " + claimsName, "what counts as the published number is a choice; the notes of an experiment give its rule",
		"all rows with a limit that this project has chosen", "halved; doubled", "", cmp.Or(rows[toleranceName], "none"),
	})
	for _, c := range constants {
		if !c.isUsedIn(results) {
			continue
		}
		var values []string
		for _, v := range c.others {
			values = append(values, c.text(v))
		}
		changed := ""
		switch {
		case slices.ContainsFunc(sweep, func(w Swept) bool { return w.Constant == c.name }):
			changed = cmp.Or(rows[c.name], "none")
		case len(c.others) > 0:
			changed = "not run"
		}
		lines = append(lines, []string{c.name, c.text(c.value), c.why, strings.Join(c.used, "; "), strings.Join(values, "; "), c.whyFixed, changed})
	}
	return csvText(lines)
}

// changedBy names, by number, the rows whose verdict another value of it changes.
func changedBy(results []Saved, sweep Sweep) map[string]string {
	rows := make(map[string][]string)
	for _, r := range results {
		for _, row := range r.Rows {
			for _, c := range sweep.changes(row) {
				rows[c.Constant] = append(rows[c.Constant], fmt.Sprintf("%s (%s: %s)", row.ID, c.Value, c.Verdict))
			}
		}
	}
	text := make(map[string]string)
	for number, list := range rows {
		text[number] = strings.Join(list, "; ")
	}
	return text
}

// csvText is a table as CSV.
func csvText(lines [][]string) []byte {
	var text bytes.Buffer
	_ = csv.NewWriter(&text).WriteAll(lines) // a buffer takes everything
	return text.Bytes()
}

// dataReadme says what the files in the folder of data are, as Markdown.
func dataReadme(results []Saved) []byte {
	var d document
	d.line("# Data of the experiments\n")
	d.line("The pages [%s](../%s), [%s](../%s) and [%s](../%s)", DocumentName, DocumentName, GoalsName, GoalsName, RegisterName, RegisterName)
	d.line("are made of these files, without a simulation: `go run ./cmd/wander-lab page docs`.\n")
	d.table("file", "what it has")
	d.row("["+claimsName+"]("+claimsName+")", "every row of every experiment and reading: claim or goal, limit, measured value, verdict, reason, and the changes of the verdict under other numbers")
	d.row("["+constantsName+"]("+constantsName+")", "the numbers that no paper gives: value, reason, other values, rows that change")
	d.row("[sweep.csv](sweep.csv)", "every plain row with each other value of each of these numbers: median and confidence interval, `low` to `high`")
	d.row("NAME-claims.csv", "the rows of one experiment with the sample of each seed; `low` and `high` are the confidence interval of the median, `p5` and `p95` percentiles of the runs")
	d.row("NAME.json", "what the pages show of the experiment")
	d.row("other NAME.csv", "a table or the points of a figure")
	d.line("\nShares are between 0 and 1, times in seconds. An empty cell is a run in which there was nothing to measure.\n")
	d.table("experiment", "seeds", "rows:", "what it shows")
	for _, p := range slices.Concat(papers, goals) {
		for _, r := range p.of(results) {
			e, _ := Find(r.Name)
			d.row(fmt.Sprintf("[%s](%s-claims.csv)", r.Name, r.Name), fmt.Sprintf("%d to %d", r.First, r.First+uint64(r.Seeds)-1), fmt.Sprint(len(r.Rows)), e.Title)
		}
	}
	return d.buf.Bytes()
}
