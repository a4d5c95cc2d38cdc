package experiment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/wandertoken/wander/internal/atomicfile"
)

// The documents that WritePages writes.
const (
	DocumentName = "reproduction.md" // about the papers
	GoalsName    = "beyond.md"       // about this project's goals
	RegisterName = "register.md"     // conditions, readings and values of both
)

// The registers beside them, in the folder of data.
const (
	claimsName    = "claims.csv"
	constantsName = "constants.csv"
	readmeName    = "README.md"
)

// Saved is what the documents show of an experiment. It is saved beside the
// samples, so that a document can be made of several runs: all experiments at
// once take hours.
type Saved struct {
	V       int    `json:"v"` // savedVersion
	Name    string `json:"name"`
	Command string `json:"command"` // that made it
	Seeds   int    `json:"seeds"`
	First   uint64 `json:"first"` // of the seeds
	// Figures, Rows and NotMeasured are never nil.
	Figures     []SavedFigure `json:"figures"`
	Rows        []SavedRow    `json:"rows"`
	NotMeasured []NotMeasured `json:"not_measured"`
}

// savedVersion is that of the files with a Saved.
const savedVersion = 2

// SavedFigure is a figure of an experiment.
type SavedFigure struct {
	Name  string `json:"name"` // without extension
	Title string `json:"title"`
}

// SavedRow is a row as it is printed.
type SavedRow struct {
	ID          string  `json:"id"`
	Source      string  `json:"source"`
	Says        string  `json:"says"`
	Quantity    string  `json:"quantity"`
	Reading     string  `json:"reading,omitempty"`
	Kind        Kind    `json:"kind"`
	Limit       string  `json:"limit"`
	Measured    string  `json:"measured"`
	Verdict     Verdict `json:"verdict"`
	VerdictText string  `json:"verdict_text"`
	Cost        string  `json:"cost,omitempty"`
	Why         string  `json:"why,omitempty"`
	// Chosen says that the limit, or its tolerance, is this project's choice.
	Chosen bool `json:"chosen,omitempty"`
	// Tolerance has the verdicts under other tolerances, where they differ.
	Tolerance []Change `json:"tolerance,omitempty"`
}

// NewSaved is what the documents show of a result that the command made.
func NewSaved(command string, r Result) Saved {
	s := Saved{
		V: savedVersion, Name: r.Name, Command: command, Seeds: r.Seeds, First: r.First,
		Figures: []SavedFigure{}, Rows: []SavedRow{}, NotMeasured: append([]NotMeasured{}, r.NotMeasured...),
	}
	for _, f := range r.Figures {
		s.Figures = append(s.Figures, SavedFigure{f.Name, f.Plot.Title})
	}
	for _, row := range r.Rows {
		s.Rows = append(s.Rows, row.saved())
	}
	return s
}

func (r *Row) saved() SavedRow {
	s := SavedRow{
		ID: r.ID, Source: r.Source, Says: r.Says, Quantity: r.Quantity, Reading: r.Reading, Kind: r.Kind,
		Limit: r.Holds.Text(r.Unit), Measured: r.MeasuredText(), Verdict: r.Verdict, VerdictText: r.VerdictText(),
		Cost: r.Beside, Chosen: r.Holds.chosen() && r.Verdict != Measured, Tolerance: r.Tolerance,
	}
	if r.Verdict.Fails() {
		s.Why = r.Why
	}
	return s
}

// Save saves the results in dir/data, and writes the pages as WritePages does.
// The command is what made them. Write has written the figures.
func Save(dir, command string, results []Result) error {
	for _, r := range results {
		text, err := json.MarshalIndent(NewSaved(command, r), "", " ")
		if err != nil {
			return err
		}
		if err := atomicfile.Replace(savedName(dir, r.Name), append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	_, err := WritePages(dir)
	return err
}

// WritePages writes dir/reproduction.md and dir/beyond.md of all results that runs
// have saved in dir/data, each if there are any of its experiments, dir/register.md and
// the registers in dir/data, and draws the figures that need no run. It returns the names
// of the pages and registers. Errors: ErrNothingSaved; ErrSaved, with the file; those of
// files.
func WritePages(dir string) (written []string, err error) {
	sweep, err := ReadSweep(dir)
	if err != nil {
		return nil, err
	}
	aboutPapers, err := readSaved(dir, All())
	if err != nil {
		return nil, err
	}
	aboutGoals, err := readSaved(dir, Beyond())
	if err != nil {
		return nil, err
	}
	all := slices.Concat(aboutPapers, aboutGoals)
	if len(all) == 0 {
		return nil, fmt.Errorf("%w in %s", ErrNothingSaved, filepath.Join(dir, dataDir))
	}
	for _, page := range []struct {
		name string
		of   []Saved
		text func() []byte
	}{
		{DocumentName, aboutPapers, func() []byte { return Reproduction(aboutPapers, sweep) }},
		{GoalsName, aboutGoals, func() []byte { return Goals(aboutGoals, sweep) }},
		{RegisterName, all, func() []byte { return registerPage(all) }},
		{filepath.Join(dataDir, readmeName), all, func() []byte { return dataReadme(all) }},
		{filepath.Join(dataDir, claimsName), all, func() []byte { return Claims(all, sweep) }},
		{filepath.Join(dataDir, constantsName), all, func() []byte { return constantsRegister(all, sweep) }},
	} {
		if len(page.of) == 0 {
			continue
		}
		name := filepath.Join(dir, page.name)
		if err := atomicfile.Replace(name, page.text(), 0o644); err != nil {
			return nil, err
		}
		written = append(written, name)
	}
	return written, drawSaved(dir, aboutPapers, all)
}

// Missing names the experiments of which nothing is saved in dir/data: the pages
// have nothing of them.
func Missing(dir string) (names []string) {
	for _, e := range slices.Concat(All(), Beyond()) {
		if _, err := os.Stat(savedName(dir, e.Name)); errors.Is(err, fs.ErrNotExist) {
			names = append(names, e.Name)
		}
	}
	return names
}

func savedName(dir, experiment string) string {
	return filepath.Join(dir, dataDir, experiment+".json")
}

// readSaved reads what is saved of the experiments, in their order.
func readSaved(dir string, experiments []Experiment) (results []Saved, err error) {
	for _, e := range experiments {
		r, err := ReadSaved(dir, e.Name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// ReadSaved reads what is saved of an experiment in dir/data. Errors: ErrSaved, with the
// file; those of files.
func ReadSaved(dir, experiment string) (Saved, error) {
	name := savedName(dir, experiment)
	r, err := readSavedFile(name)
	if err == nil && r.Name != experiment {
		return r, fmt.Errorf("%w: %s is of %q", ErrSaved, name, r.Name)
	}
	return r, err
}

func readSavedFile(name string) (r Saved, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return r, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	switch err := d.Decode(&r); {
	case err != nil:
		return r, fmt.Errorf("%w: %s: %w", ErrSaved, name, err)
	case r.V != savedVersion:
		return r, fmt.Errorf("%w: %s has version %d, known is %d", ErrSaved, name, r.V, savedVersion)
	}
	for _, row := range r.Rows {
		if row.Verdict.Fails() && row.Why == "" {
			return r, fmt.Errorf("%w: %s: %s is %s and has no reason", ErrSaved, name, row.ID, row.Verdict)
		}
	}
	return r, nil
}
