package figure

import (
	"errors"
	"fmt"
	"math"
)

// Plot is a figure with two axes.
type Plot struct {
	Title  string
	X, Y   Axis
	Lines  []Line
	Legend Corner
}

// Axis is one of the two axes.
type Axis struct {
	Label string
	// Log makes the axis logarithmic. Points that are not positive are left
	// out then.
	Log bool
	// Min and Max are what is shown; both zero show all there is. Lines that
	// reach further are cut off.
	Min, Max float64
}

// fixed reports whether the range was given.
func (a Axis) fixed() bool { return a.Min != 0 || a.Max != 0 }

// Line is one set of points, drawn in one style and named in the legend.
type Line struct {
	Name   string // empty leaves it out of the legend
	Points [][2]float64
	// Spread has the ends of the error bar of each point, or is nil. Of Points they
	// are drawn as bars, of other lines as a band.
	Spread [][2]float64
	Style  Style
	Dashed bool
}

// Style is how points are drawn.
type Style uint8

// The styles.
const (
	Lines  Style = iota // joined by straight lines
	Points              // a mark for each
	Steps               // each value lasts until the next point
	Bars                // bars from the axis; those of several lines stand side by side
)

// Corner is where the legend stands, inside the axes.
type Corner uint8

// The corners.
const (
	TopRight Corner = iota
	TopLeft
	BottomRight
	BottomLeft
)

// MaxLines bounds the lines of a plot: there are no more colours that can be
// told apart.
const MaxLines = 8

// What is wrong with a plot.
var (
	// ErrSpread: a line has some error bars, but not one for each point.
	ErrSpread = errors.New("figure: error bars are not one for each point")
	// ErrEmpty: there is no point that can be drawn.
	ErrEmpty = errors.New("figure: nothing to draw")
	// ErrTooManyLines: more than MaxLines.
	ErrTooManyLines = errors.New("figure: too many lines")
	// ErrRange: an axis ends before it begins, or a logarithmic one begins at
	// zero or below.
	ErrRange = errors.New("figure: wrong axis range")
)

// validate finds what Render cannot draw.
func (p Plot) validate() error {
	if len(p.Lines) > MaxLines {
		return fmt.Errorf("%w: %d, at most %d", ErrTooManyLines, len(p.Lines), MaxLines)
	}
	for _, a := range []Axis{p.X, p.Y} {
		if a.fixed() && (a.Min >= a.Max || a.Log && a.Min <= 0) {
			return fmt.Errorf("%w: %q from %v to %v", ErrRange, a.Label, a.Min, a.Max)
		}
	}
	some := false
	for _, l := range p.Lines {
		if l.Spread != nil && len(l.Spread) != len(l.Points) {
			return fmt.Errorf("%w: %q", ErrSpread, l.Name)
		}
		points, _ := p.drawable(l)
		some = some || len(points) > 0
	}
	if !some {
		return ErrEmpty
	}
	return nil
}

// drawable are the points that have a place on the axes, with their error bars. An
// error bar whose ends have no place is as short as its point.
func (p Plot) drawable(l Line) (points, spread [][2]float64) {
	for i, at := range l.Points {
		if !p.X.has(at[0]) || !p.Y.has(at[1]) {
			continue
		}
		points = append(points, at)
		if l.Spread == nil {
			continue
		}
		ends := l.Spread[i]
		for e := range ends {
			if !p.Y.has(ends[e]) {
				ends[e] = at[1]
			}
		}
		spread = append(spread, ends)
	}
	return points, spread
}

func (a Axis) has(v float64) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0) && (!a.Log || v > 0)
}
