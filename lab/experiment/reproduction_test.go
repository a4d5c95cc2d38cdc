package experiment_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/lab/experiment"
)

const docs = "../../docs"

// remedy is what to do when the document is out of date.
const remedy = "run the command at the top of docs/reproduction.md, and review what changes"

func readDocument(t *testing.T) (text string, seeds int) {
	t.Helper()
	bytes, err := os.ReadFile(filepath.Join(docs, experiment.DocumentName))
	require.NoError(t, err)
	text = string(bytes)
	found := regexp.MustCompile(`wander-lab run .* --seeds (\d+) --out docs\n`).FindStringSubmatch(text)
	require.NotNil(t, found, "the command that makes the document")
	seeds, err = strconv.Atoi(found[1])
	require.NoError(t, err)
	return text, seeds
}

// The cheap experiments give the very rows of the page and of the register again.
func TestDocument_Rows_WhatRunsGive(t *testing.T) {
	text, seeds := readDocument(t)
	register, err := os.ReadFile(filepath.Join(docs, "data", "claims.csv"))
	require.NoError(t, err)
	var cheap []experiment.Experiment
	for _, e := range experiment.All() {
		if e.Cheap {
			cheap = append(cheap, e)
		}
	}
	results, err := experiment.Run(t.Context(), cheap, experiment.Options{Seeds: experiment.Seeds(1, seeds)})
	require.NoError(t, err)
	sweep, err := experiment.ReadSweep(docs)
	require.NoError(t, err)
	rows := 0
	for _, r := range results {
		saved := experiment.NewSaved("", r)
		_, records, _ := strings.Cut(string(experiment.Claims([]experiment.Saved{saved}, sweep)), "\n")
		assert.True(t, strings.Contains(string(register), records), "the register has not %s\n%s", records, remedy)
		_, section, found := strings.Cut(text, fmt.Sprintf("\n### %s\n", r.Name))
		if !assert.True(t, found, "%s is missing: %s", r.Name, remedy) {
			continue
		}
		section, _, _ = strings.Cut(section, "\n##")
		for _, row := range saved.Rows {
			if row.Plain() && row.Verdict != experiment.Measured {
				rows++
				assert.True(t, strings.Contains(section, row.Line(sweep)), "not there: %s\n%s", row.Line(sweep), remedy)
			}
		}
	}
	assert.Greater(t, rows, 20)
}

// The document has every experiment, reasons where a claim fails, and the
// figures that there are.
func TestDocument_Claims_Complete(t *testing.T) {
	text, _ := readDocument(t)
	for _, e := range experiment.All() {
		assert.Contains(t, text, fmt.Sprintf("\n### %s\n", e.Name), remedy)
	}
	assert.NotContains(t, text, experiment.Unexplained)
	if goals, err := os.ReadFile(filepath.Join(docs, experiment.GoalsName)); err == nil {
		assert.NotContains(t, string(goals), experiment.Unexplained)
		text += string(goals) // which has figures, too
	}
	shown := regexp.MustCompile(`\]\(figures/(.*)\.svg\)`).FindAllStringSubmatch(text, -1)
	var want, have []string
	for _, s := range shown {
		want = append(want, s[1]+".png", s[1]+".svg")
	}
	files, err := os.ReadDir(filepath.Join(docs, "figures"))
	require.NoError(t, err)
	for _, f := range files {
		have = append(have, f.Name())
	}
	assert.ElementsMatch(t, want, have, remedy)
	assert.NotEmpty(t, want)
}

// mostOpeningLines is what a screen shows.
const mostOpeningLines = 48

// Each page opens with what holds, what does not and what is open, on one screen, and
// names every row that does not hold or is open.
func TestPages_Opening_OneScreen(t *testing.T) {
	for name, experiments := range map[string][]experiment.Experiment{
		experiment.DocumentName: experiment.All(), experiment.GoalsName: experiment.Beyond(),
	} {
		text, err := os.ReadFile(filepath.Join(docs, name))
		require.NoError(t, err)
		opening, _, found := strings.Cut(string(text), "\n## ")
		require.True(t, found)
		assert.LessOrEqual(t, strings.Count(opening, "\n"), mostOpeningLines, name)
		var last int
		for _, part := range []string{"**What holds**", "**What does not hold**", "**What is open**"} {
			at := strings.Index(opening, part)
			assert.Greater(t, at, last, "%s: %s", name, part)
			last = at
		}
		named := 0
		for _, e := range experiments {
			r, err := experiment.ReadSaved(docs, e.Name)
			require.NoError(t, err)
			for _, row := range r.Rows {
				if row.Plain() && (row.Verdict.Fails() || row.Verdict == experiment.Open) {
					named++
					assert.Contains(t, opening, fmt.Sprintf("[%s](#%s) **%s**", row.ID, e.Name, row.Value()))
				}
			}
		}
		assert.Greater(t, named, 30, name)
	}
}

// The README counts apart what random runs can miss on either side, as the page
// does.
func TestReadme_Headline_AsOnThePage(t *testing.T) {
	text, _ := readDocument(t)
	counts := regexp.MustCompile(`\n\| two-sided \| [^|]* \| (\d+) \| (\d+) \| (\d+) \| 0 \|\n`).FindStringSubmatch(text)
	require.NotNil(t, counts, "the headline of the page")
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	says := fmt.Sprintf("%s are reproduced, %s are open and %s are not", counts[1], counts[2], counts[3])
	assert.Contains(t, strings.Join(strings.Fields(string(readme)), " "), says)
}
