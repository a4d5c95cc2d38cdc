package experiment

import (
	"math"
	"slices"
	"time"
)

// constant is a number of an experiment that no paper gives.
type constant struct {
	name  string
	value float64 // in the unit; time spans in seconds
	unit  Unit
	why   string
	used  []string // the experiments that read it
	// others are the values that a sweep gives it. Without any, whyFixed says why.
	others   []float64
	whyFixed string
}

// text is a value in the constant's unit.
func (c *constant) text(value float64) string { return c.unit.Text(value) }

// halfAndDouble are the values of most sweeps.
func halfAndDouble(value float64) []float64 { return []float64{value / 2, value * 2} }

// isUsedIn reports whether one of the results is of an experiment that reads the
// constant.
func (c *constant) isUsedIn(results []Saved) bool {
	return slices.ContainsFunc(results, func(r Saved) bool { return slices.Contains(c.used, r.Name) })
}

// number is the value of a constant in this run: its own, or the one that a
// sweep gives it. An experiment reads only constants that name it. Without a Lab,
// as in tests, all have their own values.
func (l *Lab) number(c *constant) float64 {
	if l == nil {
		return c.value
	}
	if !slices.Contains(c.used, l.result.Name) {
		panic("experiment: " + l.result.Name + " reads the constant " + c.name + ", which does not name it")
	}
	if v, ok := l.instead[c]; ok {
		return v
	}
	return c.value
}

// span and count are the value as a time span, and as a whole number.
func (l *Lab) span(c *constant) time.Duration {
	return time.Duration(l.number(c) * float64(time.Second))
}

func (l *Lab) count(c *constant) int { return int(math.Round(l.number(c))) }

// sweeping reports whether a constant has another value than its own: then only
// plain readings are of interest, and no figure.
func (l *Lab) sweeping() bool { return l != nil && len(l.instead) > 0 }

// sweeps reports whether it is this constant that has another value.
func (l *Lab) sweeps(c *constant) bool {
	_, other := l.instead[c]
	return other
}
