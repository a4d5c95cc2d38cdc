package experiment

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Stale is a saved sample that the same experiment with the same seed does not give any more. The pages then show
// what was true of another version.
type Stale struct {
	Experiment, Row string
	// Known says that the page of the experiment says so: its rows were made with earlier rules.
	Known      bool
	Seed       uint64
	Saved, Now string // as the table of rows has them; "no row" where the row is missing
}

func (s Stale) String() string {
	return fmt.Sprintf("%s, seed %d: saved %s, now %s", s.Row, s.Seed, s.Saved, s.Now)
}

// noRow is a row that is not there.
const noRow = "no row"

// Against holds results to those that earlier runs saved in dir/data, sample by sample: a seed means one run. Seeds that
// the earlier runs did not have are left out, and so is a number that all seeds give together, where there are not as many seeds now. It returns how many samples it compared, and those that differ.
// Errors: ErrNothingSaved for an experiment without saved rows; ErrSaved for a table that cannot be read.
func Against(dir string, results []Result) (compared int, stale []Stale, err error) {
	for _, r := range results {
		saved, err := savedSamples(dir, r.Name)
		if err != nil {
			return compared, stale, err
		}
		now := make(map[string]bool)
		for _, row := range r.Rows {
			now[row.ID] = true
			for i, sample := range row.Samples {
				seed := r.First + uint64(i)
				was, known := noRow, true
				if samples, ok := saved[row.ID]; ok {
					was, known = samples.of[seed]
					known = known && (!samples.together || len(samples.of) == r.Seeds)
				}
				if !known {
					continue
				}
				compared++
				if is := cellOf(sample); is != was {
					stale = append(stale, Stale{r.Name, row.ID, slices.Contains(outdated, r.Name), seed, was, is})
				}
			}
		}
		for id := range saved {
			if !now[id] {
				stale = append(stale, Stale{r.Name, id, slices.Contains(outdated, r.Name), r.First, "a row", noRow})
			}
		}
	}
	return compared, stale, nil
}

// savedRow is the samples of a saved row.
type savedRow struct {
	of       map[uint64]string // a seed
	together bool              // the first one is of all seeds
}

// savedSamples are the samples of each saved row of an experiment.
func savedSamples(dir, name string) (map[string]savedRow, error) {
	f, err := os.Open(filepath.Join(dir, dataDir, name+"-claims.csv"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s in %s", ErrNothingSaved, name, dir)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil || len(lines) == 0 {
		return nil, fmt.Errorf("%w: %s: %w", ErrSaved, f.Name(), err)
	}
	rows := make(map[string]savedRow)
	for _, line := range lines[1:] {
		samples, filled := make(map[uint64]string), 0
		for i, column := range lines[0] {
			number, ofSeed := strings.CutPrefix(column, "seed ")
			seed, err := strconv.ParseUint(number, 10, 64)
			if !ofSeed || err != nil {
				continue
			}
			samples[seed] = line[i]
			if line[i] != "" {
				filled++
			}
		}
		rows[line[0]] = savedRow{samples, len(samples) > 1 && filled == 1}
	}
	return rows, nil
}
