package experiment

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/wandertoken/wander/internal/atomicfile"
)

// Change is a verdict that a row has with another value of a number that this
// project has chosen.
type Change struct {
	Constant string  `json:"constant"` // its name
	Value    string  `json:"value"`
	Verdict  Verdict `json:"verdict"`
}

// text is the change in a few words.
func (c Change) text() string { return fmt.Sprintf("%s %s: %s", c.Constant, c.Value, c.Verdict) }

// toleranceName is what a Change of the tolerance calls its constant.
const toleranceName = "tolerance"

// toleranceChanges are the other verdicts that half the tolerance and twice the
// tolerance give a median between two values.
func toleranceChanges(c Check, low, high float64) (changes []Change) {
	if !c.chosen() {
		return nil
	}
	is := c.verdict(low, high)
	for _, s := range []struct {
		text   string
		factor float64
	}{{"halved", 0.5}, {"doubled", 2}} {
		if v := c.scaled(s.factor).verdict(low, high); v != is {
			changes = append(changes, Change{toleranceName, s.text, v})
		}
	}
	return changes
}

// Swept is what one row showed while one constant had another value.
type Swept struct {
	Constant, Value, Experiment, Row string
	Median, Low, High                float64
	Verdict                          Verdict
	Seeds                            int
	First                            uint64
}

// Sweep is what is known of other values of the constants.
type Sweep []Swept

// DefaultSweepSeeds is how many runs a sweep makes with each value: the fewest of
// which the median has a confidence interval.
const DefaultSweepSeeds = 6

// RunSweep runs the experiments once with each other value of each constant that
// they use, and returns what their rows show then.
func RunSweep(ctx context.Context, experiments []Experiment, o Options) (Sweep, error) {
	type job struct {
		Experiment
		c     *constant
		value float64
	}
	var jobs []job
	for _, e := range experiments {
		for _, c := range constants {
			if e.Unlimited || !slices.Contains(c.used, e.Name) {
				continue
			}
			for _, v := range c.others {
				jobs = append(jobs, job{e, c, v})
			}
		}
	}
	var sweep Sweep
	for i, j := range jobs {
		one := o
		one.instead = map[*constant]float64{j.c: j.value}
		one.index, one.unit = i, fmt.Sprintf("%s %s: ", j.c.name, j.c.text(j.value))
		if o.Progress != nil {
			one.Progress = func(p Progress) {
				o.Progress(Progress{fmt.Sprintf("%s with %s %s", j.Name, j.c.name, j.c.text(j.value)), i + 1, len(jobs), p.Done, p.Total})
			}
		}
		results, err := Run(ctx, []Experiment{j.Experiment}, one)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", j.c.name, j.c.text(j.value), err)
		}
		if o.split.making() {
			continue
		}
		for _, row := range results[0].Rows {
			sweep = append(sweep, Swept{
				j.c.name, j.c.text(j.value), j.Name, row.ID, row.Median, row.Low, row.High, row.Verdict,
				len(o.Seeds), o.Seeds[0],
			})
		}
	}
	return sweep, nil
}

// changes are the verdicts of a row that differ from the one it has: those that
// the sweep's few seeds decide, of a row that is decided.
func (s Sweep) changes(row SavedRow) []Change {
	changes := slices.Clone(row.Tolerance)
	if !row.Verdict.decided() {
		return changes
	}
	for _, w := range s {
		if w.Row == row.ID && w.Verdict.decided() && w.Verdict != row.Verdict {
			changes = append(changes, Change{w.Constant, w.Value, w.Verdict})
		}
	}
	return changes
}

var sweepHeader = []string{"constant", "value", "experiment", "row", "median", "low", "high", "verdict", "seeds", "first"}

// sweepName is the file of a sweep below the folder of a document.
func sweepName(dir string) string { return filepath.Join(dir, dataDir, "sweep.csv") }

// SaveSweep saves the sweep in dir/data, in the place of what is saved there of
// the same experiments.
func SaveSweep(dir string, s Sweep) error {
	before, err := ReadSweep(dir)
	if err != nil {
		return err
	}
	all := slices.DeleteFunc(before, func(old Swept) bool {
		return slices.ContainsFunc(s, func(w Swept) bool { return w.Experiment == old.Experiment })
	})
	all = append(all, s...)
	order := map[string]int{}
	for i, e := range slices.Concat(All(), Beyond()) {
		order[e.Name] = i
	}
	slices.SortStableFunc(all, func(a, b Swept) int { return order[a.Experiment] - order[b.Experiment] })
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	lines := [][]string{sweepHeader}
	for _, r := range all {
		lines = append(lines, []string{
			r.Constant, r.Value, r.Experiment, r.Row, cellOf(r.Median), cellOf(r.Low), cellOf(r.High), string(r.Verdict),
			strconv.Itoa(r.Seeds), strconv.FormatUint(r.First, 10),
		})
	}
	if err := w.WriteAll(lines); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, dataDir), 0o755); err != nil {
		return err
	}
	return atomicfile.Replace(sweepName(dir), text.Bytes(), 0o644)
}

// ReadSweep reads what is saved in dir/data; nothing where there is no file.
// Errors: ErrSaved; those of files.
func ReadSweep(dir string) (Sweep, error) {
	text, err := os.ReadFile(sweepName(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(lines) == 0 || !slices.Equal(lines[0], sweepHeader) {
		return nil, fmt.Errorf("%w: %s", ErrSaved, sweepName(dir))
	}
	var s Sweep
	for _, line := range lines[1:] {
		r := Swept{Constant: line[0], Value: line[1], Experiment: line[2], Row: line[3], Verdict: Verdict(line[7])}
		var faults [5]error
		r.Median, faults[0] = number(line[4])
		r.Low, faults[1] = number(line[5])
		r.High, faults[2] = number(line[6])
		r.Seeds, faults[3] = strconv.Atoi(line[8])
		r.First, faults[4] = strconv.ParseUint(line[9], 10, 64)
		if err := errors.Join(faults[:]...); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrSaved, sweepName(dir), err)
		}
		s = append(s, r)
	}
	return s, nil
}

// number reads what cellOf has written.
func number(cell string) (float64, error) {
	if cell == "" {
		cell = "NaN"
	}
	return strconv.ParseFloat(cell, 64)
}
