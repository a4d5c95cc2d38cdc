package multitoken

import "time"

// intervals are what an agent shows of its intervals. They decide nothing.
type intervals struct {
	latest time.Duration // between the last two uses; 0 before there were two
	ewma   float64       // ns
}

// add notes an interval.
func (i *intervals) add(d time.Duration) {
	if i.latest == 0 {
		i.ewma = float64(d)
	}
	i.latest = d
	i.ewma += (float64(d) - i.ewma) * ewmaWeight
}

// Gauges implements policy.Gauger: the latest interval and its moving average,
// in seconds, 0 before there was one.
func (i *intervals) Gauges(show func(name string, value float64)) {
	show("interval_seconds", i.latest.Seconds())
	show("interval_ewma_seconds", i.ewma/float64(time.Second))
}
