package experiment

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The highlights are rows that hold, and the causes are those of rows that fail.
func TestOutcome_SavedRows_HoldOrFail(t *testing.T) {
	var all []Saved
	for _, e := range slices.Concat(All(), Beyond()) {
		r, err := ReadSaved("../../docs", e.Name)
		require.NoError(t, err)
		all = append(all, r)
	}
	rows := indexOf(all)
	for _, h := range slices.Concat(reproductionHighlights, beyondHighlights) {
		text, holds := h.fill(rows)
		assert.True(t, holds, h.text)
		assert.NotContains(t, text, "%!", h.text)
	}
	given := map[string]bool{}
	for _, c := range causes {
		for _, id := range c.ids {
			assert.True(t, rows[id].Verdict.Fails(), "%s is %s", id, rows[id].Verdict)
			assert.False(t, given[id], "%s has two causes", id)
			given[id] = true
		}
	}
}

// A highlight whose rows do not all hold is left out.
func TestHighlight_RowFails_LeftOut(t *testing.T) {
	h := highlight{"%s and %s", []string{"a", "b"}}
	rows := rowIndex{"a": {Measured: "1 (1 to 2) [0..9]", Verdict: Reproduced}}
	_, holds := h.fill(rows)
	assert.False(t, holds, "b is not there")
	for verdict, want := range map[Verdict]bool{Reproduced: true, Met: true, Measured: true, Open: false, NotReproduced: false, NotMet: false} {
		rows["b"] = SavedRow{Measured: "3", Verdict: verdict}
		text, holds := h.fill(rows)
		assert.Equal(t, want, holds, verdict)
		if holds {
			assert.Equal(t, "**1 (1 to 2)** and **3**", text)
		}
	}
}

// A figure of rows has their intervals, and leaves out what is not there.
func TestRowFigure_Plot_Intervals(t *testing.T) {
	f := rowFigure{lines: []rowLine{
		rowsAt("a", "a-%d", 1, 2, 3), rowsAt("b", "b-%d", 1, 2),
		{"across", []rowPoint{{y: "a-1", at: "a-3"}}}, {"none", []rowPoint{{y: "a-1", at: "b-1"}}},
	}}
	p := f.plot(rowIndex{"a-1": {Measured: "9.1 % (8.4 to 10.4) [5..12]"}, "a-2": {Measured: "7"}, "a-3": {Measured: "2 s (1 to ∞)"}})
	require.Len(t, p.Lines, 2)
	assert.Equal(t, [][2]float64{{1, 9.1}, {3, 2}}, p.Lines[0].Points)
	assert.Equal(t, [2]float64{8.4, 10.4}, p.Lines[0].Spread[0])
	assert.Equal(t, [][2]float64{{2, 9.1}}, p.Lines[1].Points)
}

// Every row of a figure is in the saved results, but for those that were not measured.
func TestRowFigures_SavedRows_Drawn(t *testing.T) {
	for name, figures := range rowFigures {
		r, err := ReadSaved("../../docs", name)
		require.NoError(t, err)
		walk, err := ReadSaved("../../docs", "beyond-walk")
		require.NoError(t, err)
		for _, f := range figures {
			p := f.plot(indexOf([]Saved{r, walk}))
			assert.Len(t, p.Lines, len(f.lines), f.Name)
			_, _, err := p.Render()
			require.NoError(t, err, f.Name)
		}
	}
}
