package plan

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/windows"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/wandering"
	"github.com/wandertoken/wander/sim/circulation"
)

// some is for figures to a few percent of groups that are watched for weeks.
func some(t *testing.T, r Request) *Report {
	t.Helper()
	return simulated(t, r, 3_000_000)
}

// few is for what a report says whatever its figures are.
func few(t *testing.T, r Request) *Report {
	t.Helper()
	return simulated(t, r, 500_000)
}

// simulated is the report of so many events, under any preset.
func simulated(t *testing.T, r Request, events uint64) *Report {
	t.Helper()
	p, err := r.make(t.Context(), effort{events * r.price(), 1000}, func(float64) {})
	require.NoError(t, err)
	return p
}

// TestCalendar_EachKind has the share of four weeks in which the windows are open.
func TestCalendar_EachKind(t *testing.T) {
	for _, test := range []struct {
		windows []string
		want    calendar
	}{
		{nil, calendar{open: 1}},
		{[]string{"Mon-Sun 00:00-12:00 UTC", "Mon-Sun 12:00-24:00 UTC"}, calendar{open: 1}},
		{[]string{"Mon-Sun 18:00-06:00 UTC"}, calendar{cycle: day, open: 0.5, closed: 12 * time.Hour}},
		{[]string{"Mon-Sun 00:00-06:00 UTC", "Mon-Sun 12:00-18:00 -01:00"}, calendar{cycle: day, open: 0.5, closed: 7 * time.Hour}},
		{[]string{"Mon-Fri 00:00-24:00 UTC"}, calendar{cycle: week, open: 5. / 7, closed: 48 * time.Hour}},
	} {
		assert.Equal(t, test.want, calendarOf(windows.Of(t, test.windows...), DefaultBegin), test.windows)
	}
}

// TestWindows_HalfOpen_HalfTheOperations: members that always want to run have half as many operations if the resource is open half
// of the time, but for those that would not have ended in time: at most one for each opening. While it is open all is as without windows.
func TestWindows_HalfOpen_HalfTheOperations(t *testing.T) {
	for _, preset := range []string{wandering.Fair, wandering.Light, wandering.Paper} {
		t.Run(preset, func(t *testing.T) {
			change := func(r *Request) {
				r.Params.Preset, r.Params.OperationTime, r.Params.SkipDelay, r.Members, r.Params.MembersMax = preset, 4*time.Minute, 10*time.Second, 10, 10
			}
			always := some(t, ask(change))
			half := some(t, ask(func(r *Request) { change(r); r.Windows = windows.Of(t, "Mon-Sun 18:00-06:00 UTC") }))
			require.NotNil(t, half.Hours)
			assert.Equal(t, "Mon-Sun 18:00-06:00 UTC", half.Hours.Text)
			assert.Equal(t, DefaultBegin, half.Hours.Begin)
			assert.InDelta(t, 0.5, half.Hours.Open, 1e-12)
			assert.InDelta(t, always.OperationsPerHour, half.Hours.Operations, 1./12+0.03*always.OperationsPerHour)
			assert.InEpsilon(t, half.Hours.Operations/2, half.OperationsPerHour, 1e-9)
			assert.InDelta(t, always.Idle, half.Idle, 4./60/12+0.03, "of the open time")
			assert.InEpsilon(t, 2*always.Interval.Mean, half.Interval.Mean, 0.1)
			assert.InEpsilon(t, always.Wait.Mean, half.Hours.Wait.Mean, 0.1)
			assert.InEpsilon(t, 2*half.Hours.Wait.Mean, half.Wait.Mean, 0.1, "a wait has as much of the closed time in it as of the open")
			assert.Nil(t, always.Hours)
		})
	}
}

// TestWindows_LowLoad_WaitForTheOpening: members that want to run once in a while, at any time of the day, wait for the opening if
// they ask while the resource is closed, for half of the night on average; and else for hardly anything.
func TestWindows_LowLoad_WaitForTheOpening(t *testing.T) {
	p := some(t, ask(func(r *Request) {
		r.Policy, r.Params.Preset = catalog.Ring, "" // its token rests while nobody asks, so that weeks cost little
		r.Params.OperationTime, r.Every, r.Windows = time.Second, 61*time.Hour, windows.Of(t, "Mon-Sun 08:00-20:00 UTC")
	}))
	t.Logf("%d waits: %+v, of which open %+v", p.Wait.Count, *p.Wait, *p.Hours.Wait)
	require.Greater(t, p.Wait.Count, uint64(1000))
	const night = 12 * 3600
	assert.InEpsilon(t, night/4., p.Wait.Mean, 0.1, "half of them wait for half of the night")
	assert.Less(t, p.Wait.P50, 0.03*night)
	assert.InEpsilon(t, 0.9*night, p.Wait.P95, 0.03)
	assert.InEpsilon(t, 0.98*night, p.Wait.P99, 0.02)
	assert.Less(t, p.Hours.Wait.Mean, 20., "seconds of the open time")
	assert.Greater(t, p.Idle, 0.99, "of the open time")
	assert.Less(t, p.Idle, 1.)
}

// TestWindows_Night_AllWaitersAtOnce: who asks in the day is served at its end, one after the other.
func TestWindows_Night_AllWaitersAtOnce(t *testing.T) {
	p := some(t, ask(func(r *Request) {
		r.Policy, r.Params.Preset, r.Params.OperationTime, r.Params.SkipDelay, r.Every = catalog.Ring, "", 10*time.Minute, 10*time.Second, 20*time.Hour
		r.Windows = windows.Of(t, "Mon-Fri 22:00-06:00 UTC")
	}))
	assert.InEpsilon(t, 40./168, p.Hours.Open, 1e-9)
	assert.InEpsilon(t, p.OperationsPerHour*168/40, p.Hours.Operations, 1e-9)
	assert.Greater(t, p.Wait.P99, 48*3600., "over the weekend")
	assert.Greater(t, p.Hours.Wait.P50, 600., "behind others, when it opens")
}

// Hints say what windows do to a plan.
func TestHints_Windows(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Request)
		says   string
	}{
		"overload": {func(r *Request) { r.Every = 3 * time.Minute }, "members want 1.74 operations at once while the resource is open"},
		"seldom":   {func(r *Request) { r.Every = time.Hour }, ": the resource is open 25 % of the time"},
		"part":     {func(r *Request) { r.Params.OperationTime = 10 * time.Millisecond }, "it ends before the windows begin anew, which they do every 1d"},
	} {
		t.Run(name, func(t *testing.T) {
			p := few(t, ask(func(r *Request) { r.Windows = windows.Of(t, "Mon-Sun 00:00-06:00 UTC"); c.change(r) }))
			var all string
			for _, h := range p.Hints {
				all += h + "\n"
			}
			assert.Contains(t, all, c.says)
		})
	}
}

func TestWindows_Invalid_Refused(t *testing.T) {
	r := ask(func(r *Request) {
		r.Windows = windows.Of(t, "Mon 12:00-12:01 UTC")
		r.Params.OperationTime = 2 * time.Minute
	})
	require.ErrorIs(t, r.Validate(), group.ErrWindows)
	r = ask(func(r *Request) { r.Begin = time.Date(1969, 1, 1, 0, 0, 0, 0, time.UTC) })
	require.ErrorIs(t, r.Validate(), ErrBegin)
}

// TestWindows_AnyPolicy_WithFaults: each policy is planned with windows, crashes and losses too.
func TestWindows_AnyPolicy_WithFaults(t *testing.T) {
	for _, name := range catalog.Names() {
		p := few(t, ask(func(r *Request) {
			r.Policy, r.Params.Preset, r.Windows = name, catalog.Presets(name)[0].Name, windows.Of(t, "Mon-Sun 00:00-06:00 UTC")
			r.Params.OperationTime, r.Every, r.Crash, r.DownFor, r.Volatile, r.Loss = time.Minute, 5*time.Hour, time.Hour, time.Minute, true, 0.001
			if name == catalog.Multitoken {
				r.Params.TargetInterval = time.Hour
			}
		}))
		require.NotNil(t, p.Wait, name)
		assert.Positive(t, p.Hours.Operations, name)
		assert.LessOrEqual(t, p.Idle, 1., name)
		assert.LessOrEqual(t, p.IdleWaiting, p.Idle, name)
		if p.NoToken != nil {
			assert.LessOrEqual(t, *p.NoToken, 1., name)
		}
	}
}

// TestLength_Windows_WholeCycles: a run has at least four cycles, and ends with one; the time between two operations is stretched.
func TestLength_Windows_WholeCycles(t *testing.T) {
	for _, test := range []struct {
		windows          string
		every            time.Duration
		expected, length time.Duration
	}{
		{"Mon-Sun 00:00-06:00 UTC", 0, 4 * 80 * time.Second, 4 * day},
		{"Mon-Sun 00:00-06:00 UTC", 10 * day, 10*day + 4*time.Second, 101 * day},
		{"Mon 00:00-06:00 UTC", 0, 28 * 80 * time.Second, 4 * week},
		{"Mon 00:00-06:00 UTC", 3 * week, 3*week + 4*time.Second, 31 * week},
	} {
		r := ask(func(r *Request) { r.Every, r.Windows = test.every, windows.Of(t, test.windows) })
		assert.InDelta(t, test.expected, r.expected(), 1e3, test)
		assert.Equal(t, test.length, r.length(), test)
		assert.Zero(t, r.warmUp()%r.calendar().cycle, test)
	}
	c := calendar{cycle: day}
	assert.True(t, c.isLast(2*day, 100, 149), "a third day would take 50 events more")
	assert.False(t, c.isLast(2*day, 100, 150))
	assert.False(t, c.isLast(2*day+1, 1000, 150), "it has begun")
	assert.False(t, c.isLast(0, 100, 0))
	assert.False(t, calendar{}.isLast(2*day, 100, 0))
}

// TestPacer_Windows_EndsWithCycles: no step reaches over the end of a cycle.
func TestPacer_Windows_EndsWithCycles(t *testing.T) {
	r := ask(func(r *Request) { r.Windows = windows.Of(t, "Mon-Sun 00:00-06:00 UTC") })
	w, err := circulation.New(r.faulty(1))
	require.NoError(t, err)
	p := r.newPacer(w, 1000)
	p.begin, p.step = clock.Instant(90*time.Second), time.Hour
	for _, want := range []time.Duration{day + 90*time.Second, 2*day + 90*time.Second} {
		w.Run(clock.Instant(want - time.Second))
		assert.Equal(t, clock.Instant(want), p.next(horizon))
		assert.Equal(t, clock.Instant(want-time.Millisecond), p.next(clock.Instant(want-time.Millisecond)))
	}
}
