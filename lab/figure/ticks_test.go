package figure

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      []string
	}{
		{0, 1, []string{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}},
		{0, 6, []string{"0", "1", "2", "3", "4", "5", "6"}},
		{0, 6000, []string{"0", "1000", "2000", "3000", "4000", "5000", "6000"}},
		{0, 0.0123, []string{"0.000", "0.002", "0.004", "0.006", "0.008", "0.010", "0.012"}},
	} {
		var got []string
		for _, tick := range ticks(c.low, c.high) {
			got = append(got, tick.Label)
		}
		assert.Equal(t, c.want, got)
	}
}

// A logarithmic axis of less than two decades has more labels than powers of
// ten.
func TestLogTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      []string
	}{
		{3, 64, []string{"5", "10", "20", "50"}},
		{1, 10, []string{"1", "2", "5", "10"}},
		{0.02, 0.1, []string{"0.02", "0.05", "0.1"}},
		{1000, 200_000, []string{"1000", "10000", "100000", "1e+06"}}, // what is beyond the axis is not drawn
	} {
		var got []string
		for _, tick := range logTicks(c.low, c.high) {
			if tick.Label != "" {
				got = append(got, tick.Label)
			}
		}
		assert.Equal(t, c.want, got)
	}
}

// There are always a few, within the range, in their order.
func TestTicks_AnyRange_FewAndInRange(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		low := rapid.Float64Range(-1e6, 1e6).Draw(rt, "low")
		span := rapid.Float64Range(1e-3, 1e7).Draw(rt, "span")
		all := ticks(low, low+span)
		if len(all) < 2 || len(all) > mostTicks {
			rt.Fatalf("%d ticks", len(all))
		}
		for i, tick := range all {
			if tick.Value < low-1e-6*span || tick.Value > low+1.000001*span || i > 0 && tick.Value <= all[i-1].Value {
				rt.Fatalf("%v", all)
			}
		}
	})
}
