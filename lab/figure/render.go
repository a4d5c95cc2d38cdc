package figure

import (
	"bytes"
	"fmt"
	"image/color"
	"os"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The size of a figure. The PNG is for places that do not show SVG, so its
// resolution is that of a screen.
const (
	width      = 6 * vg.Inch
	height     = 4 * vg.Inch
	resolution = 110
)

// palette are colours that people with any colour vision tell apart (Okabe and
// Ito, with black first and without their yellow, which white swallows).
var palette = [MaxLines]color.Color{
	color.RGBA{0, 0, 0, 255}, color.RGBA{0, 114, 178, 255}, color.RGBA{213, 94, 0, 255},
	color.RGBA{0, 158, 115, 255}, color.RGBA{204, 121, 167, 255}, color.RGBA{86, 180, 233, 255},
	color.RGBA{230, 159, 0, 255}, color.RGBA{128, 128, 128, 255},
}

// Write renders the plot to dir/name.svg and dir/name.png.
func (p Plot) Write(dir, name string) error {
	svg, png, err := p.Render()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	base := filepath.Join(dir, name)
	if err := os.WriteFile(base+".svg", svg, 0o644); err != nil {
		return err
	}
	return os.WriteFile(base+".png", png, 0o644)
}

// Render draws the plot. Errors: ErrEmpty, ErrTooManyLines, ErrRange, ErrSpread.
func (p Plot) Render() (svg, png []byte, err error) {
	if err := p.validate(); err != nil {
		return nil, nil, err
	}
	plt := p.build()
	var buf bytes.Buffer
	vector := vgsvg.New(width, height)
	plt.Draw(framed(vector))
	if _, err := vector.WriteTo(&buf); err != nil {
		return nil, nil, err
	}
	svg = bytes.ReplaceAll(buf.Bytes(), []byte(typeface), []byte(typeface+fallbacks))
	buf = bytes.Buffer{}
	pixels := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(resolution))}
	plt.Draw(framed(pixels))
	if _, err := pixels.WriteTo(&buf); err != nil {
		return nil, nil, err
	}
	return svg, buf.Bytes(), nil
}

// margin is the white border of a figure.
const margin = 8 * vg.Inch / 72

// framed paints the whole canvas white, and is what is within its margin.
func framed(c vg.CanvasSizer) draw.Canvas {
	all := draw.New(c)
	all.SetColor(color.White)
	all.Fill(all.Rectangle.Path())
	return draw.Crop(all, margin, -margin, margin, -margin)
}

// typeface is what an SVG asks its viewer for. Without it the viewer may take
// one of the fallbacks, which are about as wide.
const (
	typeface  = "font-family:Liberation Sans"
	fallbacks = ",Arial,Helvetica,sans-serif"
)

// build is the plot in the library's words.
func (p Plot) build() *plot.Plot {
	plt := plot.New()
	plt.Title.Text = p.Title
	plt.Title.Padding = vg.Points(6)
	face := func(size vg.Length) font.Font {
		return font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size)
	}
	plt.Title.TextStyle.Font = face(11)
	plt.Legend.TextStyle.Font = face(9)
	plt.Legend.Top = p.Legend == TopRight || p.Legend == TopLeft
	plt.Legend.Left = p.Legend == TopLeft || p.Legend == BottomLeft
	plt.Legend.Padding = vg.Points(2)
	plt.Add(grid())
	for _, s := range p.series() {
		plt.Add(s)
		if s.Name != "" {
			plt.Legend.Add(s.Name, s)
		}
		if s.Style == Bars {
			s.makeRoom(plt, p.Y.Log)
		}
	}
	for axis, given := range map[*plot.Axis]Axis{&plt.X: p.X, &plt.Y: p.Y} {
		axis.Label.Text = given.Label
		axis.Label.TextStyle.Font = face(10)
		axis.Tick.Label.Font = face(9)
		given.scale(axis)
	}
	return plt
}

// grid is so light that no line is taken for a part of it.
func grid() *plotter.Grid {
	style := draw.LineStyle{Color: color.Gray{225}, Width: vg.Points(0.5)}
	return &plotter.Grid{Vertical: style, Horizontal: style}
}

// series are the lines as they are drawn.
func (p Plot) series() []*series {
	bars := 0
	var all []*series
	for i, l := range p.Lines {
		points, spread := p.drawable(l)
		all = append(all, &series{Line: l, points: points, spread: spread, color: palette[i], bar: bars})
		if l.Style == Bars {
			bars++
		}
	}
	for _, s := range all {
		s.bars = bars
	}
	return all
}

// scale sets range and scale of an axis.
func (a Axis) scale(axis *plot.Axis) {
	if a.fixed() {
		axis.Min, axis.Max = a.Min, a.Max
	}
	axis.Tick.Marker = plot.TickerFunc(ticks)
	if a.Log {
		if axis.Min == axis.Max {
			axis.Min, axis.Max = axis.Min/10, axis.Max*10
		}
		axis.Scale = plot.LogScale{}
		axis.Tick.Marker = plot.TickerFunc(logTicks)
	}
}
