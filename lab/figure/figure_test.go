package figure_test

import (
	"bytes"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/lab/figure"
)

var points = [][2]float64{{0, 1}, {1, 0.5}, {2, 0.25}, {3, 0}}

func plot(styles ...figure.Style) figure.Plot {
	p := figure.Plot{Title: "Title", X: figure.Axis{Label: "abscissa"}, Y: figure.Axis{Label: "ordinate"}}
	for i, s := range styles {
		p.Lines = append(p.Lines, figure.Line{Name: string(rune('a' + i)), Points: points, Style: s, Dashed: i%2 == 1})
	}
	return p
}

// Every style on every kind of axis gives an SVG that names what it shows and
// a PNG of the size promised, the same bytes again.
func TestRender(t *testing.T) {
	wide, logX, logY, fixed := plot(figure.Lines), plot(figure.Points), plot(figure.Bars, figure.Lines), plot(figure.Steps)
	wide.Legend = figure.BottomLeft
	logX.X.Log = true
	logY.Y.Log = true
	fixed.X.Min, fixed.X.Max, fixed.Y.Min, fixed.Y.Max = 1, 2, 0.2, 0.3 // most lies outside
	one := figure.Plot{Lines: []figure.Line{{Name: "a", Points: [][2]float64{{5, 5}}}}, X: figure.Axis{Label: "abscissa", Log: true}, Y: figure.Axis{Label: "ordinate", Log: true}}
	for name, p := range map[string]figure.Plot{
		"lines and steps": plot(figure.Lines, figure.Steps), "points": plot(figure.Points),
		"bars side by side": plot(figure.Bars, figure.Bars), "legend elsewhere": wide,
		"logarithmic abscissa": logX, "logarithmic ordinate": logY, "fixed range": fixed, "one point": one,
	} {
		t.Run(name, func(t *testing.T) {
			svg, pixels, err := p.Render()
			require.NoError(t, err)
			for _, text := range []string{">abscissa<", ">ordinate<", ">a<", "Liberation Sans,Arial"} {
				assert.Contains(t, string(svg), text)
			}
			img, err := png.Decode(bytes.NewReader(pixels))
			require.NoError(t, err)
			assert.Equal(t, 660, img.Bounds().Dx())
			again, pixelsAgain, err := p.Render()
			require.NoError(t, err)
			assert.Equal(t, svg, again)
			assert.Equal(t, pixels, pixelsAgain)
		})
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, plot(figure.Lines).Write(dir, "x"))
	svg, pixels, err := plot(figure.Lines).Render()
	require.NoError(t, err)
	for name, want := range map[string][]byte{"x.svg": svg, "x.png": pixels} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	assert.ErrorIs(t, figure.Plot{}.Write(dir, "y"), figure.ErrEmpty)
	assert.ErrorIs(t, plot(figure.Lines).Write(filepath.Join(dir, "none"), "x"), os.ErrNotExist)
}

func TestFigure_Invalid_Refused(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	crowd := make([]figure.Style, figure.MaxLines+1)
	backwards, fromZero, onlyZero, wrong := plot(figure.Lines), plot(figure.Lines), plot(figure.Lines), plot(figure.Lines)
	backwards.X.Min, backwards.X.Max = 2, 1
	fromZero.Y.Log, fromZero.Y.Max = true, 1
	onlyZero.Y.Log = true
	onlyZero.Lines[0].Points = [][2]float64{{1, 0}, {2, -1}}
	wrong.Lines[0].Points = [][2]float64{{nan, 0}, {2, inf}}
	fewBars := plot(figure.Lines)
	fewBars.Lines[0].Spread = [][2]float64{{0, 1}}
	for name, c := range map[string]struct {
		p    figure.Plot
		want error
	}{
		"too many lines": {plot(crowd...), figure.ErrTooManyLines}, "range backwards": {backwards, figure.ErrRange},
		"logarithm of zero": {fromZero, figure.ErrRange}, "nothing positive": {onlyZero, figure.ErrEmpty},
		"too few error bars": {fewBars, figure.ErrSpread},
		"no numbers":         {wrong, figure.ErrEmpty}, "no lines": {figure.Plot{}, figure.ErrEmpty},
	} {
		_, _, err := c.p.Render()
		assert.ErrorIs(t, err, c.want, name)
	}
}
