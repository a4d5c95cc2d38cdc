package experiment_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/lab/experiment"
)

// A goal is met or not, and only measured where it has no limit.
func TestGoalsAreMetOrNot(t *testing.T) {
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
	assert.Contains(t, text, "1 goals are met, 1 are open, 1 are not met.")
	assert.Contains(t, text, "- **x-2**: less | more, share; measured 16 % (15 to 17) [15..17], limit at most 10 %. Because")
}

// The experiments about goals have nothing in common with those about papers:
// they are named apart, found by their names, and not run with all.
func TestGoalsAreApart(t *testing.T) {
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
