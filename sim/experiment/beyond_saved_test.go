package experiment_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/sim/experiment"
)

// goalsRun runs an experiment of this name that has no other.
func goalsRun(t *testing.T, name string, samples ...float64) []experiment.Result {
	e, ok := experiment.Find(name)
	require.True(t, ok, name)
	e.Run = func(l *experiment.Lab) error {
		l.Row(claim(name+"-goal", experiment.AtMost(0.1)), samples)
		return nil
	}
	results, err := experiment.Run(t.Context(), []experiment.Experiment{e}, experiment.Options{Seeds: experiment.Seeds(len(samples))})
	require.NoError(t, err)
	return results
}

// The page has the results of all runs, each with its command, and a later run
// takes the place of an earlier one.
func TestGoalsOfSeveralRuns(t *testing.T) {
	dir := t.TempDir()
	write := func(command, name string, samples ...float64) string {
		results := goalsRun(t, name, samples...)
		require.NoError(t, experiment.Write(dir, results))
		require.NoError(t, experiment.WriteGoals(dir, command, results))
		text, err := os.ReadFile(filepath.Join(dir, experiment.GoalsName))
		require.NoError(t, err)
		return string(text)
	}
	write("first", "beyond-many-steady", 0.01, 0.02)
	write("second", "beyond-walk", 0.01, 0.02, 0.03)
	text := write("third", "beyond-many-steady", 0.5, 0.6)
	assert.Contains(t, text, "```sh\nsecond\nthird\n```")
	assert.Contains(t, text, "in 2 to 3 runs")
	assert.Contains(t, text, "1 goals are met, 1 are not.")
	assert.Less(t, strings.Index(text, "beyond-walk-goal"), strings.Index(text, "| beyond-many-steady-goal"))

	require.NoError(t, os.Remove(filepath.Join(dir, experiment.GoalsName)))
	require.NoError(t, experiment.WriteGoalsPage(dir))
	again, err := os.ReadFile(filepath.Join(dir, experiment.GoalsName))
	require.NoError(t, err)
	assert.Equal(t, text, string(again))
}

func TestSavedGoalsAreChecked(t *testing.T) {
	require.ErrorIs(t, experiment.WriteGoalsPage(t.TempDir()), experiment.ErrNothingSaved)
	for _, text := range []string{
		"", "{", `{"v":2,"name":"beyond-walk"}`, `{"v":1,"name":"beyond-many-steady"}`, `{"v":1,"name":"beyond-walk","more":1}`,
		`{"v":1,"name":"beyond-walk","rows":[{"id":"x","verdict":"not met"}]}`,
	} {
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, "data"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "data", "beyond-walk.json"), []byte(text), 0o644))
		require.ErrorIs(t, experiment.WriteGoalsPage(dir), experiment.ErrSaved, text)
	}
}

// The page in the source tree is that of the results beside it.
func TestGoalsPageIsThatOfItsData(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(dir, "data"), os.DirFS(filepath.Join(docs, "data"))))
	require.NoError(t, experiment.WriteGoalsPage(dir))
	want, err := os.ReadFile(filepath.Join(dir, experiment.GoalsName))
	require.NoError(t, err)
	have, err := os.ReadFile(filepath.Join(docs, experiment.GoalsName))
	require.NoError(t, err)
	assert.Equal(t, string(want), string(have), "make it anew: go run ./cmd/wander sim page docs")
}
