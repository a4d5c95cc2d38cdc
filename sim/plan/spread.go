package plan

import (
	"time"

	"github.com/wandertoken/wander/sim/circulation"
)

// spread is a distribution of times of which some are known only to be longer
// than what was seen of them: they were still open when the run ended.
type spread struct{ ended, open *circulation.Histogram }

func (s *spread) clear() {
	shape := s.ended
	s.ended = circulation.NewHistogram(shape.Width(), shape.Limit())
	s.open = circulation.NewHistogram(shape.Width(), shape.Limit())
}

func (s *spread) merge(o *spread) error {
	if err := s.ended.Merge(o.ended); err != nil {
		return err
	}
	return s.open.Merge(o.open)
}

// quantile is the time that the share q of all does not exceed, after Kaplan
// and Meier (1958): what is open counts among those that might have ended as
// long as it was seen. Not known is a quantile beyond what was seen, of which
// the longest time seen is a lower bound.
func (s *spread) quantile(q float64) (at time.Duration, known bool) {
	if s.open.Count() == 0 {
		return s.ended.Quantile(q), s.ended.Count() > 0
	}
	lasting := 1.0 // which share lasts longer
	left := float64(s.ended.Count() + s.open.Count())
	open := s.open.Bins()
	width := s.ended.Width()
	for i, n := range s.ended.Bins() {
		if n > 0 {
			after := lasting * (1 - float64(n)/left)
			if 1-after >= q {
				part := (q - (1 - lasting)) / (lasting - after)
				at := time.Duration((float64(i) + part) * float64(width))
				return min(max(at, s.ended.Min()), s.ended.Max()), true
			}
			lasting = after
		}
		left -= float64(n + open[i])
	}
	return max(s.ended.Max(), s.open.Max()), false
}

// mean is the mean, in seconds, where the 99th percentile is known: the area
// under the share that lasts longer, and for the few that outlasted what was
// seen as much again as the rate says. Else it is what the rate says, the time
// there was by how many ended, which is rough where they end all at once.
func (s *spread) mean(rate float64) float64 {
	if _, known := s.quantile(0.99); !known {
		return rate
	}
	lasting, area := 1.0, 0.0
	left := float64(s.ended.Count() + s.open.Count())
	open := s.open.Bins()
	width := s.ended.Width().Seconds()
	for i, n := range s.ended.Bins() {
		if left < 0.5 {
			break // nobody was seen for longer
		}
		after := lasting * (1 - float64(n)/left)
		area += (lasting + after) / 2 * width
		lasting = after
		left -= float64(n + open[i])
	}
	return area + lasting*rate
}

// report is what is told of it, with the mean by the rate; nil where nothing
// ended.
func (s *spread) report(rate float64, count uint64) *Spread {
	if count == 0 {
		return nil
	}
	p := &Spread{Mean: s.mean(rate), Count: s.ended.Count(), LowerBounds: []string{}}
	for _, quantile := range []struct {
		name  string
		share float64
		value *float64
	}{{"p50", 0.5, &p.P50}, {"p95", 0.95, &p.P95}, {"p99", 0.99, &p.P99}} {
		at, known := s.quantile(quantile.share)
		*quantile.value = at.Seconds()
		if !known {
			p.LowerBounds = append(p.LowerBounds, quantile.name)
		}
	}
	return p
}
