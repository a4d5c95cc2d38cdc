package experiment

import (
	"fmt"
	"math"
	"strings"
)

// Claim is one statement of a paper, and what is measured to check it.
type Claim struct {
	// ID names the row for ever, like "journal-idle". A further reading of the
	// same claim appends its name: "journal-idle/losses-remove-all".
	ID string
	// Source is where the paper says it, like "journal §3".
	Source string
	// Says is the statement in a few words of our own.
	Says string
	// Quantity is what is measured.
	Quantity string
	// Reading is which reading of an ambiguous text this is; empty is the
	// default, explained in Experiment.Notes.
	Reading string
	Unit    Unit
	Holds   Check
	// Kind is set where source and limits do not imply it, see kindOf.
	Kind Kind
	// Beside is what the measurement costs, in words. It is printed beside it.
	Beside string
	// Why is the likely reason if the claim does not hold. It is printed only
	// then.
	Why string
}

// missing is the first part that the claim lacks, or "".
func (c *Claim) missing() string {
	for _, part := range []struct{ name, text string }{
		{"an ID", c.ID}, {"a source", c.Source}, {"what it says", c.Says}, {"a quantity", c.Quantity},
	} {
		if part.text == "" {
			return part.name
		}
	}
	switch {
	case c.Unit == 0:
		return "a unit"
	case c.Holds.kind == 0:
		return "a check"
	}
	return ""
}

// Unit is how numbers are printed.
type Unit uint8

// The units.
const (
	Share   Unit = iota + 1 // between 0 and 1, printed in percent
	Seconds                 // a time span
	Number                  // a count, or a mean of counts
)

// String is the unit's name.
func (u Unit) String() string {
	switch u {
	case Share:
		return "share"
	case Seconds:
		return "s"
	}
	return "number"
}

// digits is how many significant digits are printed: what 40 seeds can tell
// apart.
const digits = 3

// Text prints a value in the unit. A value that no run had is NaN, printed as
// a dash; one that is beyond all bounds is infinite.
func (u Unit) Text(v float64) string {
	text := u.bare(v)
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return text
	case u == Share:
		return text + " %"
	case u == Seconds:
		return text + " s"
	}
	return text
}

// bare is the number without its unit.
func (u Unit) bare(v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case math.IsInf(v, -1):
		return "−∞"
	case math.IsInf(v, 0):
		return "∞"
	case u == Share:
		v *= 100
	}
	return significant(v)
}

// significant rounds to the digits that are printed, and keeps whole numbers
// whole.
func significant(v float64) string {
	if v == 0 {
		return "0"
	}
	places := digits - 1 - int(math.Floor(math.Log10(math.Abs(v))))
	text := fmt.Sprintf("%.*f", max(0, places), v)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// Check is what a measured value has to satisfy. Its zero value is none.
type Check struct {
	kind      checkKind
	low, high float64
	tolerance float64
	isTrend   bool // compares two quantities, see trend
	isOurs    bool // the limit is this project's, see ours
}

type checkKind uint8

const (
	atMost checkKind = iota + 1
	atLeast
	between
	about
	reported
)

// AtMost holds up to x.
func AtMost(x float64) Check { return Check{kind: atMost, low: math.Inf(-1), high: x} }

// AtLeast holds from x on.
func AtLeast(x float64) Check { return Check{kind: atLeast, low: x, high: math.Inf(1)} }

// Between holds from a to b, both included.
func Between(a, b float64) Check { return Check{kind: between, low: a, high: b} }

// Exactly holds for x alone.
func Exactly(x float64) Check { return Between(x, x) }

// About holds within the tolerance of x, relative to it: About(0.05, 0.2) is
// 4 % to 6 %.
func About(x, tolerance float64) Check {
	d := math.Abs(x) * tolerance
	return Check{kind: about, low: x - d, high: x + d, tolerance: tolerance}
}

// trend is the check of a quotient of two measured quantities, of which the paper
// says that one is larger.
func (c Check) trend() Check {
	c.isTrend = true
	return c
}

// ours is a check whose limit this project has chosen, as the paper gives none:
// what "few" or "far" is.
func (c Check) ours() Check {
	c.isOurs = true
	return c
}

// oneSided reports whether the check has one limit. The end of what the unit
// permits is none: a share is 100 % at most.
func (c Check) oneSided(u Unit) bool {
	switch {
	case c.kind == atMost || c.kind == atLeast:
		return true
	case c.kind == between && c.low == c.high:
		return c.low == 0 || u == Share && c.low == 1
	}
	return false
}

// chosen reports whether the width of the check, or its limit, is this project's
// choice: what scaled changes.
func (c Check) chosen() bool {
	return c.isOurs || c.kind == about || c.kind == between && c.low < c.high
}

// nearOne is from where on a limit below 1 is a tolerance below 1: "nearly all".
const nearOne = 0.5

// scaled is the check with a tolerance that is larger by the factor: of limits on
// both sides the distance from their middle, which is the geometric one where
// they are a number and its inverse; of a limit near 1 and of a
// quotient's limit the distance from 1; of any other limit the limit itself, away from where the claim holds.
func (c Check) scaled(factor float64) Check {
	switch {
	case !c.chosen():
	case c.kind == about || c.kind == between && math.Abs(c.low*c.high-1) > 0.01:
		middle, width := (c.low+c.high)/2, (c.high-c.low)/2
		c.low, c.high = middle-width*factor, middle+width*factor
	case c.kind == between:
		c.low, c.high = math.Pow(c.low, factor), math.Pow(c.high, factor)
	case c.kind == atMost && c.high < 1 && c.high >= nearOne:
		c.high = 1 - (1-c.high)/factor
	case c.kind == atLeast && c.low < 1 && c.low >= nearOne:
		c.low = 1 - (1-c.low)*factor
	case c.kind == atMost && c.isTrend:
		c.high = 1 + (c.high-1)*factor
	case c.kind == atLeast && c.isTrend:
		c.low = 1 + (c.low-1)/factor
	case c.kind == atMost:
		c.high *= factor
	case c.kind == atLeast:
		c.low /= factor
	}
	return c
}

// verdict judges a quantity whose median lies between two values.
func (c Check) verdict(low, high float64) Verdict {
	switch {
	case c.kind == reported:
		return Measured
	case c.low <= low && high <= c.high:
		return Reproduced
	case low != low || high < c.low || c.high < low: // NaN: there was nothing to measure
		return NotReproduced
	}
	return Open
}

// Reported holds nothing against the value: the paper gives no number.
func Reported() Check { return Check{kind: reported} }

// Holds reports whether the value satisfies the check; NaN satisfies none.
func (c Check) Holds(v float64) bool {
	return c.kind == reported || c.low <= v && v <= c.high
}

// Text says what the check asks for, in the unit.
func (c Check) Text(u Unit) string {
	switch {
	case c.kind == atMost:
		return "at most " + u.Text(c.high)
	case c.kind == atLeast:
		return "at least " + u.Text(c.low)
	case c.kind == between && c.low == c.high:
		return "exactly " + u.Text(c.low)
	case c.kind == between:
		return u.bare(c.low) + " to " + u.Text(c.high)
	case c.kind == about:
		return fmt.Sprintf("%s to %s (± %s)", u.bare(c.low), u.Text(c.high), Share.Text(c.tolerance))
	}
	return "–"
}
