package figure

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// series draws one Line. It implements plot.Plotter, plot.DataRanger and
// plot.Thumbnailer.
type series struct {
	Line
	points [][2]float64 // those that can be drawn
	spread [][2]float64 // their error bars, or none
	color  color.Color
	bar    int // place among the bars at one abscissa
	bars   int // how many there are
}

// barsWidth is what the bars at one abscissa take of the space to the next.
const barsWidth = 0.8

// DataRange is the range of the points.
func (s *series) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, ymin, xmax, ymax = math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, p := range s.points {
		xmin, xmax = min(xmin, p[0]), max(xmax, p[0])
		ymin, ymax = min(ymin, p[1]), max(ymax, p[1])
	}
	for _, ends := range s.spread {
		ymin, ymax = min(ymin, ends[0]), max(ymax, ends[1])
	}
	return xmin, xmax, ymin, ymax
}

// makeRoom lets a linear axis of bars begin at zero, and shows the bars at both
// ends whole.
func (s *series) makeRoom(plt *plot.Plot, log bool) {
	if !log {
		plt.Y.Min = min(plt.Y.Min, 0)
	}
	left, right, _, _ := s.DataRange()
	plt.X.Min, plt.X.Max = min(plt.X.Min, left-0.5), max(plt.X.Max, right+0.5)
}

// Plot draws the points.
func (s *series) Plot(c draw.Canvas, plt *plot.Plot) {
	x, y := plt.Transforms(&c)
	if s.Style == Bars {
		s.drawBars(c, x, y(plt.Y.Min), y)
		return
	}
	s.drawSpread(c, x, y)
	var path []vg.Point
	for i, p := range s.corners() {
		at := vg.Point{X: x(p[0]), Y: y(p[1])}
		if s.Style == Steps && i > 0 {
			path = append(path, vg.Point{X: at.X, Y: path[len(path)-1].Y})
		}
		path = append(path, at)
	}
	if s.Style == Points {
		for _, at := range path {
			c.DrawGlyph(s.glyph(), at)
		}
		return
	}
	c.StrokeLines(s.line(), c.ClipLinesXY(path)...)
}

// corners are the points at which a line of steps turns; all points of others.
func (s *series) corners() [][2]float64 {
	if s.Style != Steps {
		return s.points
	}
	var turns [][2]float64
	for i, p := range s.points {
		if i == 0 || i == len(s.points)-1 || p[1] != s.points[i-1][1] {
			turns = append(turns, p)
		}
	}
	return turns
}

// drawSpread draws the error bars: a band along a line, a bar at each mark.
func (s *series) drawSpread(c draw.Canvas, x, y func(float64) vg.Length) {
	var band []vg.Point
	for i, ends := range s.spread {
		low, high := vg.Point{X: x(s.points[i][0]), Y: y(ends[0])}, vg.Point{X: x(s.points[i][0]), Y: y(ends[1])}
		if s.Style == Points {
			c.StrokeLines(s.outline(), c.ClipLinesXY([]vg.Point{low, high})...)
		}
		band = append(append([]vg.Point{low}, band...), high)
	}
	if s.Style != Points && len(band) > 0 {
		c.FillPolygon(s.shade(), c.ClipPolygonXY(band))
	}
}

func (s *series) drawBars(c draw.Canvas, x func(float64) vg.Length, bottom vg.Length, y func(float64) vg.Length) {
	one := barsWidth / float64(s.bars)
	for _, p := range s.points {
		left := p[0] - barsWidth/2 + one*float64(s.bar)
		box := []vg.Point{
			{X: x(left), Y: bottom}, {X: x(left), Y: y(p[1])}, {X: x(left + one), Y: y(p[1])}, {X: x(left + one), Y: bottom},
		}
		c.FillPolygon(s.fill(), c.ClipPolygonXY(box))
		c.StrokeLines(s.outline(), c.ClipLinesXY(append(box, box[0]))...)
	}
}

// Thumbnail draws the legend's example.
func (s *series) Thumbnail(c *draw.Canvas) {
	middle := c.Center()
	switch s.Style {
	case Points:
		c.DrawGlyph(s.glyph(), middle)
	case Bars:
		box := []vg.Point{c.Min, {X: c.Min.X, Y: c.Max.Y}, c.Max, {X: c.Max.X, Y: c.Min.Y}}
		c.FillPolygon(s.fill(), box)
		c.StrokeLines(s.outline(), append(box, box[0]))
	default:
		if len(s.spread) > 0 {
			c.FillPolygon(s.shade(), []vg.Point{c.Min, {X: c.Min.X, Y: c.Max.Y}, c.Max, {X: c.Max.X, Y: c.Min.Y}})
		}
		c.StrokeLine2(s.line(), c.Min.X, middle.Y, c.Max.X, middle.Y)
	}
}

func (s *series) line() draw.LineStyle {
	style := draw.LineStyle{Color: s.color, Width: vg.Points(1.2)}
	if s.Dashed {
		style.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
	}
	return style
}

func (s *series) glyph() draw.GlyphStyle {
	return draw.GlyphStyle{Color: s.color, Radius: vg.Points(2), Shape: draw.CircleGlyph{}}
}

func (s *series) outline() draw.LineStyle {
	style := s.line()
	style.Width = vg.Points(0.7)
	return style
}

// shade is the colour of a band, through which others are seen.
func (s *series) shade() color.Color {
	r, g, b, _ := s.color.RGBA()
	return color.NRGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 60}
}

// fill is the colour of a bar; dashed ones are hollow.
func (s *series) fill() color.Color {
	if s.Dashed {
		return color.White
	}
	return s.color
}
