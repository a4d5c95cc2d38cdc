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
