package judge

import (
	"cmp"
	"fmt"
	"io"
	"slices"
)

// Broken reports whether a verdict is broken; those that depend on the speed of
// the machine count if timing is set.
func Broken(list []Verdict, timing bool) bool {
	return slices.ContainsFunc(list, func(v Verdict) bool { return v.Broken && (timing || !v.Timing) })
}

// Text writes the verdicts for people. Of audits before the last one, only what
// is broken is shown.
func Text(w io.Writer, list []Verdict) {
	last, held := "", 0
	for _, v := range list {
		last = cmp.Or(v.Audit, last)
	}
	for _, v := range list {
		if v.Audit != "" && v.Audit != last && !v.Broken {
			held++
			continue
		}
		mark := "     "
		switch {
		case v.Broken && v.Timing:
			mark = "slow "
		case v.Broken:
			mark = "FAIL "
		case v.Max != nil:
			mark = "ok   "
		}
		line := fmt.Sprintf("%s%-8s %s: %.6g", mark, v.About, v.Name, v.Value)
		if v.Audit != "" && v.Audit != last {
			line += ", audit " + v.Audit
		}
		if v.Unit != "" {
			line += " " + v.Unit
		}
		if v.Max != nil {
			line += fmt.Sprintf(" (limit %.6g)", *v.Max)
		}
		fmt.Fprintln(w, line)
		if v.Broken || v.Max == nil {
			for _, n := range v.Notes {
				fmt.Fprintln(w, "                "+n)
			}
		}
	}
	if held > 0 {
		fmt.Fprintf(w, "ok            %d verdicts on audits made while members ran\n", held)
	}
}
