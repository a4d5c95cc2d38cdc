package figure_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/golden"
	"github.com/wandertoken/wander/lab/figure"
)

// TestShapes draws every style into one figure. Look at it after -update.
func TestShapes(t *testing.T) {
	p := figure.Plot{
		Title: "Every style", X: figure.Axis{Label: "abscissa"}, Y: figure.Axis{Label: "ordinate"},
		Lines: []figure.Line{
			{Name: "bars", Style: figure.Bars, Points: [][2]float64{{0, 1}, {1, 2}, {2, 3}}},
			{Name: "hollow bars", Style: figure.Bars, Dashed: true, Points: [][2]float64{{0, 3}, {1, 2}, {2, 1}}},
			{Name: "steps", Style: figure.Steps, Points: [][2]float64{{0, 0}, {0.5, 0}, {1, 4}, {1.5, 4}, {2, 1}}},
			{Name: "points", Style: figure.Points, Points: [][2]float64{{0, 2}, {2, 2}}},
			{Name: "dashed", Dashed: true, Points: [][2]float64{{0, 4}, {2, 0}}},
			{Name: "band", Points: [][2]float64{{0, 1}, {1, 3}, {2, 3}}, Spread: [][2]float64{{0.5, 1.5}, {2, 4}, {2.8, 3.1}}},
			{Name: "error bars", Style: figure.Points, Points: [][2]float64{{0.5, 3}, {1.5, 2}}, Spread: [][2]float64{{2.5, 4}, {1, 2.2}}},
		},
	}
	svg, _, err := p.Render()
	require.NoError(t, err)
	golden.File(t, "testdata/shapes.svg", svg)
}
