package experiment

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// The folders below the one that is written to.
const (
	figuresDir = "figures"
	dataDir    = "data"
)

// Write writes the figures of the results to dir/figures and their tables to
// dir/data, with one table of claims and samples for each experiment. Folders
// are made where there are none; what is there already is replaced.
func Write(dir string, results []Result) error {
	figures, data := filepath.Join(dir, figuresDir), filepath.Join(dir, dataDir)
	for _, d := range []string{figures, data} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	for _, r := range results {
		for _, f := range r.Figures {
			if err := f.Plot.Write(figures, f.Name); err != nil {
				return err
			}
		}
		for _, t := range append(r.Tables, r.claims()) {
			if err := t.write(data); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t Table) write(dir string) error {
	var buf bytes.Buffer
	w := csv.NewWriter(&buf)
	if err := w.WriteAll(append([][]string{t.Header}, t.Rows...)); err != nil {
		return fmt.Errorf("%s: %w", t.Name, err)
	}
	return os.WriteFile(filepath.Join(dir, t.Name+".csv"), buf.Bytes(), 0o644)
}

// claims is the table of the rows with all their samples.
func (r *Result) claims() Table {
	t := Table{
		Name: r.Name + "-claims",
		Header: []string{
			"id", "source", "kind", "says", "quantity", "reading", "unit", "holds if", "median", "low", "high", "p5", "p95",
			"holds in", "of", "verdict",
		},
	}
	for i := range r.Seeds {
		t.Header = append(t.Header, fmt.Sprintf("seed %d", r.First+uint64(i)))
	}
	for _, row := range r.Rows {
		line := []string{
			row.ID, row.Source, string(row.Kind), row.Says, row.Quantity, row.Reading, row.Unit.String(), row.Holds.Text(row.Unit),
			cellOf(row.Median), cellOf(row.Low), cellOf(row.High), cellOf(row.P5), cellOf(row.P95),
			strconv.Itoa(row.HoldsIn), strconv.Itoa(row.Of), string(row.Verdict),
		}
		for i := range r.Seeds {
			cell := ""
			if i < len(row.Samples) {
				cell = cellOf(row.Samples[i])
			}
			line = append(line, cell)
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

// cellDigits is the precision of numbers in tables. It is below that of the
// arithmetic, which may differ in the last bits between processors.
const cellDigits = 7

// cellOf prints a number for a table; NaN is an empty cell.
func cellOf(v float64) string {
	if v != v {
		return ""
	}
	return strconv.FormatFloat(v, 'g', cellDigits, 64)
}
