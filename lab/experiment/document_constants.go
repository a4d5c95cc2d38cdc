package experiment

import (
	"fmt"
	"slices"
	"strings"
)

// constants is the chapter about the numbers that no paper gives. The names are
// those of the experiments on the command line of the sweep.
func (d *document) constants(results []Saved, names string) {
	d.line("## Numbers that no paper gives\n")
	d.line("The experiments above need numbers that no paper gives. Each was also given other values, one number")
	d.line("at a time, in %s runs with each value: so few suffice for a confidence interval of the median, from the", d.sweptSeeds(results))
	d.line("smallest to the largest. Only the plain readings were run then, of a few groups where there are many:\n")
	d.line("```sh\ngo run ./cmd/wander-lab sweep %s --out docs\n```\n", names)
	d.line("The last column names the rows whose verdict is another one then, where so few runs decide; what is open with them")
	d.line("is no change. All of it is in [%s/sweep.csv](%s/sweep.csv). The *tolerance* of limits on both sides, and", dataDir, dataDir)
	d.line("limits that this project has chosen, were halved and doubled with the samples of the rows themselves: there an")
	d.line("open verdict is a change as well. Sizes of groups and other readings have rows of their own.\n")
	d.row("number", "value", "why", "used in", "other values", "changes")
	d.row("---", "---", "---", "---", "---", "---")
	if d.chosen(results) > 0 {
		d.row(toleranceName, "as under *holds if*", "what counts as the published number is a choice; the notes of an experiment give its rule",
			"all with a limit that is chosen", "halved, doubled", fmt.Sprintf("%d of %d rows, see there", d.tolerant(results), d.chosen(results)))
	}
	for _, c := range constants {
		if !c.isUsedIn(results) {
			continue
		}
		others, changes := c.whyFixed, "–"
		if len(c.others) > 0 {
			others, changes = d.swept(c, results)
		}
		d.row(c.name, c.text(c.value), c.why, strings.Join(c.used, ", "), others, changes)
	}
	d.line("")
}

// swept are the other values of a constant that were tried, and the rows that
// change.
func (d *document) swept(c *constant, results []Saved) (others, changes string) {
	var values, rows []string
	for _, v := range c.others {
		values = append(values, c.text(v))
	}
	tried := slices.ContainsFunc(d.sweep, func(w Swept) bool { return w.Constant == c.name })
	for _, r := range results {
		for _, row := range r.Rows {
			for _, change := range d.sweep.changes(row) {
				if change.Constant == c.name {
					rows = append(rows, fmt.Sprintf("%s (%s: %s)", row.ID, change.Value, change.Verdict))
				}
			}
		}
	}
	switch {
	case !tried:
		return strings.Join(values, ", "), "not run"
	case len(rows) == 0:
		return strings.Join(values, ", "), "none"
	}
	return strings.Join(values, ", "), strings.Join(rows, ", ")
}

// sweptSeeds is in how many runs the sweep of these results was made.
func (d *document) sweptSeeds(results []Saved) string {
	for _, w := range d.sweep {
		if slices.ContainsFunc(results, func(r Saved) bool { return r.Name == w.Experiment }) {
			return fmt.Sprint(w.Seeds)
		}
	}
	return "no"
}

// tolerant counts the rows whose verdict another tolerance changes.
func (d *document) tolerant(results []Saved) (n int) {
	for _, r := range results {
		for _, row := range r.Rows {
			if len(row.Tolerance) > 0 {
				n++
			}
		}
	}
	return n
}

// chosen counts the rows whose limit this project has chosen.
func (d *document) chosen(results []Saved) (n int) {
	for _, r := range results {
		for _, row := range r.Rows {
			if row.Chosen {
				n++
			}
		}
	}
	return n
}
