package experiment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wandertoken/wander/internal/atomicfile"
)

// GoalsName is the document that WriteGoals writes.
const GoalsName = "beyond.md"

// GoalsResult is what the document of goals shows of an experiment. It is saved
// beside the samples, so that the document can be made of several runs: all goals
// at once take hours.
type GoalsResult struct {
	V       int          `json:"v"` // goalsVersion
	Name    string       `json:"name"`
	Command string       `json:"command"` // that made it
	Seeds   int          `json:"seeds"`
	Figures []GoalFigure `json:"figures"`
	Rows    []GoalRow    `json:"rows"`
}

// goalsVersion is that of the files with a GoalsResult.
const goalsVersion = 1

// GoalFigure is a figure of an experiment.
type GoalFigure struct {
	Name  string `json:"name"` // without extension
	Title string `json:"title"`
}

// GoalRow is a goal as it is printed.
type GoalRow struct {
	ID          string  `json:"id"`
	Goal        string  `json:"goal"`
	Quantity    string  `json:"quantity"`
	Limit       string  `json:"limit"`
	Measured    string  `json:"measured"`
	Verdict     Verdict `json:"verdict"`
	VerdictText string  `json:"verdict_text"`
	Cost        string  `json:"cost,omitempty"`
	Why         string  `json:"why,omitempty"`
}

// NewGoalsResult is what the document shows of a result that the command made.
func NewGoalsResult(command string, r Result) GoalsResult {
	g := GoalsResult{V: goalsVersion, Name: r.Name, Command: command, Seeds: r.Seeds, Figures: []GoalFigure{}, Rows: []GoalRow{}}
	for _, f := range r.Figures {
		g.Figures = append(g.Figures, GoalFigure{f.Name, f.Plot.Title})
	}
	for _, row := range r.Rows {
		shown := GoalRow{
			ID: row.ID, Goal: row.Says, Quantity: row.Quantity, Limit: row.Holds.Text(row.Unit), Measured: row.MeasuredText(),
			Verdict: row.Verdict, VerdictText: row.VerdictText(), Cost: row.Beside,
		}
		if row.Verdict.Fails() {
			shown.Why = row.Why
		}
		g.Rows = append(g.Rows, shown)
	}
	return g
}

// WriteGoals saves the results in dir/data, and writes dir/beyond.md as
// WriteGoalsPage does. The command is what made them. Write has written the
// figures.
func WriteGoals(dir, command string, results []Result) error {
	for _, r := range results {
		text, err := json.MarshalIndent(NewGoalsResult(command, r), "", " ")
		if err != nil {
			return err
		}
		if err := atomicfile.Replace(savedName(dir, r.Name), append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	return WriteGoalsPage(dir)
}

// WriteGoalsPage writes dir/beyond.md of all results that runs have saved in
// dir/data. Errors: ErrNothingSaved; ErrSaved, with the file; those of files.
func WriteGoalsPage(dir string) error {
	var results []GoalsResult
	for _, e := range Beyond() {
		r, err := readGoals(savedName(dir, e.Name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return err
		case r.Name != e.Name:
			return fmt.Errorf("%w: %s is of %q", ErrSaved, savedName(dir, e.Name), r.Name)
		}
		results = append(results, r)
	}
	if len(results) == 0 {
		return fmt.Errorf("%w in %s", ErrNothingSaved, filepath.Join(dir, dataDir))
	}
	return atomicfile.Replace(filepath.Join(dir, GoalsName), Goals(results), 0o644)
}

// MissingGoals are the experiments about goals of which nothing is saved in
// dir/data: the page has nothing of them.
func MissingGoals(dir string) []string {
	var missing []string
	for _, e := range Beyond() {
		if _, err := os.Stat(savedName(dir, e.Name)); errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, e.Name)
		}
	}
	return missing
}

func savedName(dir, experiment string) string {
	return filepath.Join(dir, dataDir, experiment+".json")
}

func readGoals(name string) (r GoalsResult, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return r, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	switch err := d.Decode(&r); {
	case err != nil:
		return r, fmt.Errorf("%w: %s: %w", ErrSaved, name, err)
	case r.V != goalsVersion:
		return r, fmt.Errorf("%w: %s has version %d, known is %d", ErrSaved, name, r.V, goalsVersion)
	}
	for _, row := range r.Rows {
		if row.Verdict == NotMet && row.Why == "" {
			return r, fmt.Errorf("%w: %s: %s is not met and has no reason", ErrSaved, name, row.ID)
		}
	}
	return r, nil
}
