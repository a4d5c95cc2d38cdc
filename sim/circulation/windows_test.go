package circulation_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/windows"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/window"
	"github.com/wandertoken/wander/sim/circulation"
)

// noon is a Monday.
var noon = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

// log notes operations and windows.
type log struct {
	circulation.Ignore
	began, ended []time.Duration
	wants        int
	changes      []string
}

func (l *log) OperationBegan(now clock.Instant, _ int) { l.began = append(l.began, now.Sub(0)) }
func (l *log) OperationEnded(now clock.Instant, _ int) { l.ended = append(l.ended, now.Sub(0)) }
func (l *log) Demanded(clock.Instant, int)             { l.wants++ }
func (l *log) WindowsChanged(now clock.Instant, open bool) {
	l.changes = append(l.changes, fmt.Sprint(now.Sub(0), open))
}

// TestWindows_EachPreset_RunInside: P-91 and P-92. Members of each preset of each policy want to run all the time. None runs
// outside the windows, or begins what does not fit, and in each of them many do.
func TestWindows_EachPreset_RunInside(t *testing.T) {
	const operation = 20 * time.Second
	spans := []struct{ from, to time.Duration }{{10 * time.Minute, 40 * time.Minute}, {time.Hour, 2 * time.Hour}}
	for _, name := range catalog.Names() {
		for _, preset := range catalog.Presets(name) {
			t.Run(name+"/"+preset.Name, func(t *testing.T) {
				c := circulation.Config{
					Policy: name, Members: 5, Seed: 1, Found: 1, Begin: noon,
					Windows: windows.Of(t, "Mon 12:10-12:40 UTC", "Mon 13:00-14:00 UTC"),
					Params:  policy.Params{Preset: preset.Name, OperationTime: operation, MembersMax: 5, SkipDelay: time.Second},
					Passing: circulation.Constant(time.Millisecond), Telling: circulation.Constant(time.Millisecond),
				}
				if name == catalog.Multitoken {
					c.Params.TargetInterval = 2 * time.Minute
				}
				s, err := circulation.New(c)
				require.NoError(t, err)
				l := new(log)
				s.Observe(l)
				s.Run(clock.Instant(3 * time.Hour))
				require.NoError(t, s.Err())
				assert.Equal(t, []string{"0s false", "10m0s true", "40m0s false", "1h0m0s true", "2h0m0s false"}, l.changes)
				ran := make([]int, len(spans))
				for _, at := range l.began {
					inside := false
					for i, w := range spans {
						if w.from <= at && at+operation <= w.to {
							inside = true
							ran[i]++
						}
					}
					assert.True(t, inside, at)
				}
				assert.Greater(t, ran[0], 15)
				assert.Greater(t, ran[1], 30)
				assert.Len(t, l.ended, len(l.began))
				assert.Equal(t, 5+len(l.began), l.wants, "each wants again at once, also while the resource is closed")
			})
		}
	}
}

// TestWindows_LongerOperation_EndsWithThem: P-92. An operation that takes longer than operation_time is cut off.
func TestWindows_LongerOperation_EndsWithThem(t *testing.T) {
	s, err := circulation.New(circulation.Config{
		Policy: catalog.Wandering, Members: 2, Seed: 1, Found: 1, Begin: noon, Windows: windows.Of(t, "Mon 12:10-12:40 UTC"),
		Params:    policy.Params{OperationTime: 20 * time.Second, MembersMax: 2, SkipDelay: time.Second, MinInterval: time.Millisecond},
		Operation: circulation.Constant(25 * time.Minute),
	})
	require.NoError(t, err)
	l := new(log)
	s.Observe(l)
	s.Run(clock.Instant(24 * time.Hour))
	assert.Equal(t, []time.Duration{35 * time.Minute, 40 * time.Minute}, l.ended)
}

// TestWindows_NeverClose_SameRun: windows that are always open change nothing.
func TestWindows_NeverClose_SameRun(t *testing.T) {
	run := func(l window.Windows) circulation.Stats {
		s, err := circulation.New(circulation.Config{
			Policy: catalog.Wandering, Members: 10, Seed: 1, Found: 1, Begin: noon, Windows: l, CrashEvery: time.Minute, DownFor: time.Minute,
			Params: policy.Params{OperationTime: 4 * time.Second, MembersMax: 10, SkipDelay: time.Second},
		})
		require.NoError(t, err)
		s.Run(clock.Instant(10 * time.Hour))
		return s.Stats()
	}
	always := run(nil)
	require.Positive(t, always.Crashed)
	assert.Equal(t, always, run(windows.Of(t, "Mon-Sun 00:00-24:00 UTC")))
}

func TestWindows_Impossible_Refused(t *testing.T) {
	c := circulation.Config{
		Policy: catalog.Wandering, Members: 2, Windows: windows.Of(t, "Mon 12:10-12:11 UTC"),
		Params: policy.Params{OperationTime: 4 * time.Minute, MembersMax: 2, SkipDelay: time.Second},
	}
	_, err := circulation.New(c)
	require.ErrorIs(t, err, group.ErrWindows)
	c.Windows, c.Begin = nil, time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC)
	_, err = circulation.New(c)
	require.ErrorIs(t, err, circulation.ErrBegin)
}
