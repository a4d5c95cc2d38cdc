package circulation

import (
	"fmt"
	"math"
	"time"
)

// Histogram counts time spans in bins of one width, and spans beyond the last
// bin together. It assumes that spans are evenly spread within a bin. Counts,
// mean and extremes are exact. It is not safe for concurrent use.
type Histogram struct {
	width    time.Duration
	bins     []uint64
	beyond   uint64
	count    uint64
	sum      float64
	min, max time.Duration
}

// NewHistogram returns a Histogram with bins of the given width from 0 up to
// limit at least. A width below 1 ns is 1 ns.
func NewHistogram(width, limit time.Duration) *Histogram {
	width = max(width, 1)
	n := max(1, (limit+width-1)/width)
	return &Histogram{width: width, bins: make([]uint64, n), min: math.MaxInt64}
}

// empty is one of the same shape without spans.
func (h *Histogram) empty() *Histogram { return NewHistogram(h.width, h.Limit()) }

// Add counts a span. A negative one counts as 0.
func (h *Histogram) Add(d time.Duration) {
	d = max(d, 0)
	if i := d / h.width; i < time.Duration(len(h.bins)) {
		h.bins[i]++
	} else {
		h.beyond++
	}
	h.count++
	h.sum += float64(d)
	h.min, h.max = min(h.min, d), max(h.max, d)
}

// Count returns how many spans were added.
func (h *Histogram) Count() uint64 { return h.count }

// Mean returns the mean, and 0 if there is no span.
func (h *Histogram) Mean() time.Duration {
	if h.count == 0 {
		return 0
	}
	return time.Duration(h.sum / float64(h.count))
}

// Max returns the longest span, and 0 if there is none.
func (h *Histogram) Max() time.Duration { return h.max }

// Min returns the shortest span, and 0 if there is none.
func (h *Histogram) Min() time.Duration {
	if h.count == 0 {
		return 0
	}
	return h.min
}

// Limit returns where the last bin ends.
func (h *Histogram) Limit() time.Duration { return h.width * time.Duration(len(h.bins)) }

// Width returns the width of a bin.
func (h *Histogram) Width() time.Duration { return h.width }

// Bins returns the counts of the bins, the first of spans from 0 to below
// Width. The slice belongs to the histogram.
func (h *Histogram) Bins() []uint64 { return h.bins }

// ShareBelow returns which share of all spans is shorter than x, and 0 if there
// is no span. It is exact if x is the edge of a bin.
func (h *Histogram) ShareBelow(x time.Duration) float64 {
	switch {
	case h.count == 0 || x <= 0:
		return 0
	case x > h.max:
		return 1
	}
	var below float64
	for i, n := range h.bins {
		lo := time.Duration(i) * h.width
		if lo+h.width > x {
			return (below + float64(n)*float64(x-lo)/float64(h.width)) / float64(h.count)
		}
		below += float64(n)
	}
	if h.beyond > 0 && h.max > h.Limit() {
		below += float64(h.beyond) * float64(x-h.Limit()) / float64(h.max-h.Limit())
	}
	return below / float64(h.count)
}

// ShareAbove returns which share of all spans is x or longer, and 0 if there is
// no span.
func (h *Histogram) ShareAbove(x time.Duration) float64 {
	if h.count == 0 {
		return 0
	}
	return 1 - h.ShareBelow(x)
}

// Quantile returns the span that the share q, 0 to 1, of all spans does not
// exceed, and 0 if there is no span. Up to Limit it is as precise as the bins
// are wide; beyond Limit it is a rough value up to Max.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.count == 0 {
		return 0
	}
	left := q * float64(h.count)
	rounding := 1e-12 * float64(h.count) // q may be a rank, and is not to become the next one
	for i, n := range h.bins {
		if n > 0 && left <= float64(n)+rounding {
			at := (float64(i) + min(1, left/float64(n))) * float64(h.width)
			return min(max(time.Duration(at), h.min), h.max)
		}
		left -= float64(n)
	}
	if h.beyond == 0 {
		return h.max
	}
	return min(h.max, h.Limit()+time.Duration(left/float64(h.beyond)*float64(h.max-h.Limit())))
}

// Merge adds what another histogram has counted. Error: ErrShape.
func (h *Histogram) Merge(o *Histogram) error {
	if h.width != o.width || len(h.bins) != len(o.bins) {
		return fmt.Errorf("%w: %d of %v and %d of %v", ErrShape, len(h.bins), h.width, len(o.bins), o.width)
	}
	for i, n := range o.bins {
		h.bins[i] += n
	}
	h.beyond += o.beyond
	h.count += o.count
	h.sum += o.sum
	h.min, h.max = min(h.min, o.min), max(h.max, o.max)
	return nil
}
