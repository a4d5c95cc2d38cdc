// Package figure draws the figures of experiments as SVG and PNG.
//
// The same plot gives the same bytes whenever and wherever it is drawn: no
// fonts are looked up, no time is written.
//
//	p := figure.Plot{
//		Title: "Wait", X: figure.Axis{Label: "members", Log: true}, Y: figure.Axis{Label: "seconds"},
//		Lines: []figure.Line{
//			{Name: "light", Points: [][2]float64{{10, 1.5}, {100, 4}}, Spread: [][2]float64{{1, 2}, {3, 6}}},
//			{Name: "the paper", Style: figure.Points, Points: [][2]float64{{10, 1.4}, {100, 4.5}}},
//		},
//		Legend: figure.TopLeft,
//	}
//	err := p.Write("docs/figures", "wait") // wait.svg and wait.png
//
// # Who calls it
//
// lab/experiment only: its experiments hand in a Plot each, and the pages below docs show the SVG files. Since the bytes
// are the same, a figure changes in a commit only if its data or this package has changed.
//
// # The types
//
//	Plot     a figure with two axes: title, axes, lines, and the Corner of the legend
//	Axis     label, linear or logarithmic, and what is shown; with Min and Max both zero, all there is
//	Line     points with a name, a Style and possibly error bars (Spread)
//	Style    Lines, Points, Steps or Bars
//	Corner   where the legend stands
//	series   one Line as it is drawn, with its colour and its place among bars (not exported)
//
// How a style shows a line:
//
//	style    points               Spread           Dashed
//	Lines    joined               a band           a dashed line
//	Steps    each lasts           a band           a dashed line
//	Points   a mark for each      error bars       dashed error bars
//	Bars     from the axis        not drawn        hollow bars
//
// # The walk of a plot
//
//	Write
//	 └ Render
//	    ├ validate   ErrTooManyLines, ErrRange, ErrSpread, ErrEmpty: before anything is drawn
//	    ├ build      a plot of the library gonum.org/v1/plot: fonts, grid, legend, axes
//	    │  ├ series  one for each line; drawable leaves out points without a place on the axes
//	    │  └ scale   range and ticks of each axis (ticks, logTicks)
//	    └ Draw       twice: to an SVG canvas, and to one of pixels
//
// # Invariants
//
//   - A plot that Render draws has a point that can be drawn, and at most MaxLines lines: there are no more
//     colours that can be told apart. They are chosen for people with any colour vision.
//   - NaN and infinite values, and values that are not positive on a logarithmic axis, are left out. They are no
//     errors, because measurements have them; a plot of nothing else is ErrEmpty.
//   - What reaches beyond a given range is cut off at it.
//   - An axis has at most mostTicks labelled ticks on a linear scale, at multiples of 1, 2 or 5 times a power of ten.
//   - Bars begin at zero on a linear axis.
//   - The SVG names its typeface and fallbacks of about the same width; it embeds no font.
//
// # What belongs elsewhere
//
// The package computes nothing from the points: medians, intervals and bins are for lab/experiment. It knows no
// experiment, and no colour or size is chosen by a caller, so that all figures look alike. A new way to draw a line is
// a Style, a case of series.Plot and one of series.Thumbnail; the test TestShapes draws every style into one file.
//
// Render does not change its Plot, and keeps nothing of it. The package has no state.
package figure
