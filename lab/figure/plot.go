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
	for _, l := range p.Lines {
		if len(p.drawable(l)) > 0 {
			return nil
		}
	}
	return ErrEmpty
}

// drawable are the points that have a place on the axes.
func (p Plot) drawable(l Line) [][2]float64 {
	var points [][2]float64
	for _, at := range l.Points {
		if p.X.has(at[0]) && p.Y.has(at[1]) {
			points = append(points, at)
		}
	}
	return points
}

func (a Axis) has(v float64) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0) && (!a.Log || v > 0)
}
