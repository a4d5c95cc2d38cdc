package experiment_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/lab/experiment"
)

// savedRun runs an experiment of this name that has no other, with a first seed.
func savedRun(t *testing.T, name string, first uint64, samples ...float64) []experiment.Result {
	e, ok := experiment.Find(name)
	require.True(t, ok, name)
	e.Run = func(l *experiment.Lab) error {
		l.Row(claim(name+"-goal", experiment.AtMost(0.1)), samples)
		return nil
	}
	results, err := experiment.Run(t.Context(), []experiment.Experiment{e}, experiment.Options{Seeds: experiment.Seeds(first, len(samples))})
	require.NoError(t, err)
	return results
}

// save saves a run in dir, and returns the page of that name.
func save(t *testing.T, dir, page, command string, results []experiment.Result) string {
	require.NoError(t, experiment.Write(dir, results))
	require.NoError(t, experiment.Save(dir, command, results))
	text, err := os.ReadFile(filepath.Join(dir, page))
	require.NoError(t, err)
	return string(text)
}

// A page has the results of all runs, each with its command, and a later run
// takes the place of an earlier one.
func TestPages_SeveralRuns_Combined(t *testing.T) {
	good, bad := []float64{0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07}, []float64{0.5, 0.6, 0.5, 0.6, 0.5, 0.6}
	for _, c := range []struct {
		page, early, late string
		says              []string
	}{
		{experiment.GoalsName, "beyond-walk", "beyond-many-steady", []string{"Goals: 1 met, 0 open, 1 not met; none without a limit."}},
		{experiment.DocumentName, "journal-fig2", "multitoken-fig1", []string{"| one-sided |", "| 1 | 0 | 1 | 0 |"}},
	} {
		dir := t.TempDir()
		save(t, dir, c.page, "first", savedRun(t, c.late, 1, good...))
		save(t, dir, c.page, "second", savedRun(t, c.early, 1, good...))
		text := save(t, dir, c.page, "third", savedRun(t, c.late, 1, bad...))
		assert.Contains(t, text, "```sh\nsecond\nthird\n```")
		assert.Contains(t, text, " 6 to 7 simulated runs")
		for _, says := range c.says {
			assert.Contains(t, text, says)
		}
		assert.Less(t, strings.Index(text, "\n### "+c.early), strings.Index(text, "\n### "+c.late))

		require.NoError(t, os.Remove(filepath.Join(dir, c.page)))
		written, err := experiment.WritePages(dir)
		require.NoError(t, err)
		assert.Equal(t, pageFiles(dir, c.page), written)
		again, err := os.ReadFile(filepath.Join(dir, c.page))
		require.NoError(t, err)
		assert.Equal(t, text, string(again))
	}
}

// pageFiles are the files that WritePages writes: some pages, and the registers.
func pageFiles(dir string, pages ...string) (names []string) {
	for _, name := range append(pages, experiment.RegisterName, "data/README.md", "data/claims.csv", "data/constants.csv") {
		names = append(names, filepath.Join(dir, filepath.FromSlash(name)))
	}
	return names
}

// The data say which seeds made them.
func TestSave_FirstSeed_Recorded(t *testing.T) {
	dir := t.TempDir()
	save(t, dir, experiment.DocumentName, "x", savedRun(t, "journal-fig2", 41, 0.01, 0.02))
	claims, err := os.ReadFile(filepath.Join(dir, "data", "journal-fig2-claims.csv"))
	require.NoError(t, err)
	assert.Contains(t, string(claims), ",verdict,seed 41,seed 42\n")
	saved, err := os.ReadFile(filepath.Join(dir, "data", "journal-fig2.json"))
	require.NoError(t, err)
	assert.Contains(t, string(saved), `"first": 41`)
}

func TestWritePages_Invalid_ErrSaved(t *testing.T) {
	_, err := experiment.WritePages(t.TempDir())
	require.ErrorIs(t, err, experiment.ErrNothingSaved)
	for name, texts := range map[string][]string{
		"beyond-walk.json": {
			"", "{", `{"v":1,"name":"beyond-walk"}`, `{"v":2,"name":"beyond-many-steady"}`, `{"v":2,"name":"beyond-walk","more":1}`,
			`{"v":2,"name":"beyond-walk","rows":[{"id":"x","verdict":"not met"}]}`,
		},
		"journal-fig2.json": {`{"v":2,"name":"journal-fig2","rows":[{"id":"x","verdict":"not reproduced"}]}`},
		"journal-fig3.csv":  {"", "x,y\n1,2\n", "operations,members,share median,share p5,share p95\n"},
		"sweep.csv":         {"", "x\n", "constant,value,experiment,row,median,low,high,verdict,seeds,first\na,b,c,d,e,1,1,open,6,1\n"},
	} {
		for _, text := range texts {
			dir := t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(dir, "data"), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "data", "journal-fig3.json"), []byte(`{"v":2,"name":"journal-fig3"}`), 0o644))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "data", name), []byte(text), 0o644))
			_, err := experiment.WritePages(dir)
			require.ErrorIs(t, err, experiment.ErrSaved, "%s: %s", name, text)
		}
	}
}

// The pages, registers and figures in the source tree are those of the results beside
// them.
func TestPages_SourceTree_MadeOfTheirData(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(dir, "data"), os.DirFS(filepath.Join(docs, "data"))))
	files := pageFiles(dir, experiment.DocumentName, experiment.GoalsName)
	for _, name := range files[2:] {
		require.NoError(t, os.RemoveAll(name))
	}
	written, err := experiment.WritePages(dir)
	require.NoError(t, err)
	assert.Equal(t, files, written)
	drawn, err := filepath.Glob(filepath.Join(dir, "figures", "*.svg"))
	require.NoError(t, err)
	assert.Greater(t, len(drawn), 7)
	for _, name := range append(written, drawn...) {
		want, err := os.ReadFile(name)
		require.NoError(t, err)
		base, err := filepath.Rel(dir, name)
		require.NoError(t, err)
		have, err := os.ReadFile(filepath.Join(docs, base))
		require.NoError(t, err)
		assert.True(t, string(want) == string(have), "%s: make it anew: go run ./cmd/wander-lab page docs", name)
	}
	assert.Empty(t, experiment.Missing(docs))
}
