package demo

import "slices"

// recovery is what followed the kills of holders at these times; nil without any.
func (b *books) recovery(struck []uint64) *Recovery {
	if len(struck) == 0 {
		return nil
	}
	slices.Sort(b.starts)
	r := &Recovery{Kills: len(struck)}
	var gaps []float64
	for _, at := range struck {
		next, _ := slices.BinarySearch(b.starts, at+1)
		if next == len(b.starts) {
			r.Unanswered++
			continue
		}
		gaps = append(gaps, float64(b.starts[next]-at)/1e6)
	}
	if q := quantiles(gaps); q != nil {
		r.P50, r.Max = q.P50, gaps[len(gaps)-1] // quantiles has sorted them
	}
	return r
}
