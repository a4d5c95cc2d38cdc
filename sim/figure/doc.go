// Package figure draws the figures of experiments as SVG and PNG.
package figure

import (
	_ "gonum.org/v1/plot/plotutil"
	_ "gonum.org/v1/plot/vg/vgimg"
	_ "gonum.org/v1/plot/vg/vgsvg"
)
