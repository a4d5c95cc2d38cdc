package experiment_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/lab/experiment"
)

// A goal is met or not, and only measured where it has no limit.
func TestGoals_EachKind_MetOrNot(t *testing.T) {
	e := experiment.Experiment{Name: "x", Title: "Goals", Source: "goal", Goals: true, Run: func(l *experiment.Lab) error {
		l.Row(claim("x-1", experiment.AtMost(0.1)), []float64{0.05, 0.05, 0.06, 0.06, 0.07, 0.07})
		l.Row(claim("x-2", experiment.AtMost(0.1)), []float64{0.15, 0.15, 0.16, 0.16, 0.17, 0.17})
		l.Row(claim("x-3", experiment.Reported()), []float64{0.05, 0.05, 0.05, 0.05, 0.05, 0.3})
		l.Row(claim("x-4", experiment.AtMost(0.1)), []float64{0.05, 0.05, 0.05, 0.05, 0.05, 0.3})
		return nil
	}}
	results, err := experiment.Run(t.Context(), []experiment.Experiment{e}, experiment.Options{Seeds: experiment.Seeds(1, 6)})
	require.NoError(t, err)
	var verdicts []string
	for _, r := range results[0].Rows {
		verdicts = append(verdicts, r.VerdictText())
	}
	assert.Equal(t, []string{"met (6 of 6)", "not met (0 of 6)", "measured", "open (5 of 6)"}, verdicts)
	text := string(experiment.Goals([]experiment.Saved{experiment.NewSaved("make it", results[0])}, nil))
	assert.Contains(t, text, "Goals: 1 met, 1 open, 1 not met; 1 row without a limit.")
	assert.Contains(t, text, `| *less \| more* (at most 10 %): [x-2](#x) **16 % (15 to 17)** | Because`)
}

// A quantity of goals is told from its setting, and the row nearest to a limit is found.
func TestGoals_Rows_SplitAndCompared(t *testing.T) {
	page := string(experiment.Goals([]experiment.Saved{{Name: "beyond-walk", Rows: []experiment.SavedRow{
		{Says: "few", Quantity: "messages, over the ideal, preset a, 3 members", Limit: "at most 4", Measured: "2 (1 to 3)", Verdict: experiment.Met},
		{Says: "few", Quantity: "messages, over the ideal, preset b, 3 members", Limit: "at most 4", Measured: "3 (1 to 3) [1..9] in 2 of 6 runs", Verdict: experiment.Met},
		{Says: "many", Quantity: "1 % lost, *x*: tokens", Limit: "at least 4", Measured: "∞ (9 to ∞)", Verdict: experiment.Met},
		{Says: "many", Quantity: "1 % lost, *y*: tokens", Limit: "at least 4", Measured: "9 (8 to 10)", Verdict: experiment.Met},
	}}}, nil))
	assert.Contains(t, page, "| few | messages, over the ideal | at most 4 | 2 | 0 | 0 | 3 (1 to 3) in 2 of 6 runs: preset b, 3 members |\n")
	assert.Contains(t, page, "| many | tokens | at least 4 | 2 | 0 | 0 | 9 (8 to 10): 1 % lost, *y* |\n")
}

// The experiments about goals have nothing in common with those about papers:
// they are named apart, found by their names, and not run with all.
func TestGoals_Names_Distinct(t *testing.T) {
	for _, e := range experiment.All() {
		assert.False(t, e.Goals, e.Name)
	}
	for _, e := range experiment.Beyond() {
		assert.True(t, e.Goals, e.Name)
		assert.True(t, strings.HasPrefix(e.Name, "beyond-"), e.Name)
		found, ok := experiment.Find(e.Name)
		assert.True(t, ok)
		assert.Equal(t, e.Title, found.Title)
	}
}
