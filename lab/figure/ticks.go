package figure

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// mostTicks is how many labelled ticks an axis has at most: with six-digit
// labels they still stand apart.
const mostTicks = 8

// ticks marks a linear axis at multiples of 1, 2 or 5 times a power of ten.
func ticks(low, high float64) []plot.Tick {
	step, places := tickStep(high - low)
	var all []plot.Tick
	for i := math.Ceil(low/step - tickSlack); i*step <= high+tickSlack*step; i++ {
		all = append(all, plot.Tick{Value: i * step, Label: strconv.FormatFloat(i*step+0, 'f', places, 64)})
	}
	return all
}

// tickSlack keeps rounding from dropping the tick at an end.
const tickSlack = 1e-9

// tickStep is the smallest step that gives no more ticks than permitted, and
// how many decimal places its multiples need.
func tickStep(span float64) (step float64, places int) {
	power := int(math.Floor(math.Log10(span / mostTicks)))
	for ; ; power++ {
		for _, digit := range []float64{1, 2, 5} {
			step = digit * math.Pow10(power)
			if span/step < mostTicks {
				return step, max(0, -power)
			}
		}
	}
}

// shortLog is up to what quotient of its ends a logarithmic axis has labels
// within decades: with fewer than two decades it would have one label or two.
const shortLog = 100

// logTicks marks a logarithmic axis at 1 to 9 times the powers of ten, and
// labels the powers; on a short axis, 2 and 5 times the powers, too.
func logTicks(low, high float64) []plot.Tick {
	if high/low > shortLog {
		return plot.LogTicks{Prec: -1}.Ticks(low, high)
	}
	var all []plot.Tick
	for power := math.Floor(math.Log10(low) + tickSlack); ; power++ {
		for digit := 1.0; digit < 10; digit++ {
			at := digit * math.Pow(10, power)
			switch {
			case at > high*(1+tickSlack):
				return all
			case at < low*(1-tickSlack):
			case digit == 1 || digit == 2 || digit == 5:
				all = append(all, plot.Tick{Value: at, Label: strconv.FormatFloat(at, 'g', -1, 64)})
			default:
				all = append(all, plot.Tick{Value: at})
			}
		}
	}
}
