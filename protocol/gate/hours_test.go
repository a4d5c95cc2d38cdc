package gate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/windows"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/window"
)

// A resource that is open for a while only: rules.

// dayBench is a gate that is idle at 12:00:00, and whose resource is open at some time of the day.
func dayBench(t *testing.T, texts ...string) *bench {
	s := plain
	s.Windows = windows.Of(t, texts...)
	b := newBench(t, s)
	day := b.reading().Wall.UTC().Truncate(24 * time.Hour).Add(36 * time.Hour)
	b.wait(day.Sub(b.reading().Wall))
	return b
}

// at is a time of the day by the gate's clock, in ms since 1970.
func (b *bench) at(clockTime time.Duration) uint64 {
	return uint64(b.reading().Wall.UTC().Truncate(24 * time.Hour).Add(clockTime).UnixMilli())
}

// windowsClosed reports whether a member hears that the windows are closed, and when they open.
func (b *bench) windowsClosed(c gate.Connection) (opens uint64) {
	b.t.Helper()
	require.Equal(b.t, gate.Shut, b.refused(c))
	return b.said[c][0].(gate.RefuseAnswer).NotBefore
}

func TestWindows_Closed_RefusedUntilTheyOpen(t *testing.T) {
	b := dayBench(t, "Mon-Sun 12:01-13:00 UTC")
	c := tokenOf(1, 0, 1)
	b.signIn(7, c.permit(1))
	assert.Equal(t, b.at(12*time.Hour+time.Minute), b.windowsClosed(7))
	assert.Equal(t, clock.Never, b.gate.NextDeadline(), "nobody waits")
	b.wait(time.Minute - 1)
	b.signIn(8, c.permit(1))
	b.windowsClosed(8)
	b.wait(1)
	b.opened(9, c.permit(1))
}

// Windows that never open, as far as the gate looks ahead, name no time.
func TestWindows_NeverOpen_RefusedWithoutATime(t *testing.T) {
	s := plain
	s.Windows = window.Windows{{Begin: 1, End: 2}} // on no day
	b := newBench(t, s)
	b.signIn(7, tokenOf(1, 0, 1).permit(1))
	assert.Zero(t, b.windowsClosed(7))
}

// A session ends with the window at the latest, and so does the wait of others.
func TestWindows_Close_SessionEndsAndWaitersHear(t *testing.T) {
	b := dayBench(t, "Mon-Sun 11:00-12:00 UTC", "Mon-Sun 12:00-12:01 UTC")
	b.wait(time.Minute - 5*time.Second)
	b.signIn(7, tokenOf(1, 0, 1).permit(1))
	assert.Equal(t, b.now.Add(5*time.Second), b.opens[len(b.opens)-1].Deadline, "for the open hook")
	b.hook(gate.Succeeded)
	assert.Equal(t, gate.OpenAnswer{Session: 101, Until: b.at(12*time.Hour + time.Minute), Token: tokenOf(1, 0, 1).last().title.Token, Hop: 1}, b.said[7][0])
	b.signIn(8, tokenOf(2, 2).permit(0))
	assert.Equal(t, b.at(12*time.Hour+time.Minute), b.busy(8).Until)
	assert.Equal(t, b.now.Add(5*time.Second), b.gate.NextDeadline())
	b.wait(5*time.Second - 1)
	require.Equal(t, gate.Open, b.gate.State(0))
	b.wait(1)
	require.Equal(t, gate.Closing, b.gate.State(0))
	assert.Equal(t, b.at(35*time.Hour), b.windowsClosed(8))
	b.hook(gate.Succeeded)
	assert.Equal(t, gate.ClosedAnswer{Session: 101, Reason: gate.ByWindows, Confirmed: true}, b.said[7][0])
	b.wait(plain.Settle)
	assert.Equal(t, &gate.ClosedRecord{Session: 101, Reason: gate.ByWindows}, b.journal[len(b.journal)-1])
}

// One that waits behind a session that is over hears it, too, at the moment at which the windows close.
func TestWindows_CloseWhileKept_WaiterHears(t *testing.T) {
	b := dayBench(t, "Mon-Sun 11:00-12:01 UTC")
	b.wait(time.Minute - time.Second)
	b.opened(7, tokenOf(1, 0, 1).permit(1))
	b.signIn(8, tokenOf(2, 2).permit(0))
	b.step(gate.SignOut{Connection: 7})
	b.hook(gate.Succeeded)
	b.wait(plain.Settle)
	require.Equal(t, gate.Idle, b.gate.State(0), "kept for the successor")
	next := b.gate.NextDeadline()
	assert.Equal(t, time.Second-plain.Settle, next.Sub(b.now))
	b.wait(next.Sub(b.now))
	b.windowsClosed(8)
	assert.Equal(t, gate.Idle, b.gate.State(0))
}

// The windows close while the open hook runs: nothing opens, and close runs.
func TestWindows_CloseWhileOpening_NothingOpens(t *testing.T) {
	b := dayBench(t, "Mon-Sun 11:00-12:01 UTC")
	b.wait(time.Minute - time.Second)
	b.signIn(7, tokenOf(1, 0, 1).permit(1))
	opening := b.runs[len(b.runs)-1]
	b.now = b.now.Add(time.Second)
	b.step(gate.HookEnded{Run: opening})
	assert.Equal(t, gate.Closing, b.gate.State(0))
	assert.Empty(t, b.said[7])
	b.hook(gate.Succeeded)
	assert.Equal(t, gate.ClosedAnswer{Session: 101, Reason: gate.ByWindows, Confirmed: true}, b.said[7][0])
}

// A clock that is set forward ends a session when the gate looks at it, and one that is set back lengthens none.
func TestWindows_ClockSet_SessionNeverLonger(t *testing.T) {
	b := dayBench(t, "Mon-Sun 11:00-13:00 UTC")
	b.opened(7, tokenOf(1, 0, 1).permit(1))
	b.ahead = time.Hour - 5*time.Second
	b.wait(3 * time.Second)
	require.Equal(t, gate.Open, b.gate.State(0))
	require.Equal(t, b.now.Add(2*time.Second), b.gate.NextDeadline(), "the window now ends in two seconds")
	b.ahead = -time.Hour
	b.wait(7*time.Second - 1)
	require.Equal(t, gate.Open, b.gate.State(0))
	b.wait(1)
	assert.Equal(t, gate.Closing, b.gate.State(0), "at its deadline")
	b.hook(gate.Succeeded)
	assert.Equal(t, gate.ClosedAnswer{Session: 101, Reason: gate.ByDeadline, Confirmed: true}, b.said[7][0])

	b = dayBench(t, "Mon-Sun 11:00-12:01 UTC")
	b.wait(time.Minute - 3*time.Second)
	b.opened(7, tokenOf(1, 0, 1).permit(1))
	b.ahead = -30 * time.Second
	b.wait(3*time.Second - 1)
	require.Equal(t, gate.Open, b.gate.State(0))
	b.wait(1)
	assert.Equal(t, gate.Closing, b.gate.State(0), "where the window ended as it opened")

	for _, ahead := range []time.Duration{time.Hour, -2 * time.Hour} {
		b = dayBench(t, "Mon-Sun 11:00-13:00 UTC")
		b.step(gate.SignIn{Connection: 7, Permit: tokenOf(1, 0, 1).permit(1), Configuration: 1, Length: plain.MaxHold})
		b.hook(gate.Succeeded)
		next := b.gate.NextDeadline()
		require.Equal(t, b.now.Add(10*time.Second), next)
		b.ahead = ahead
		b.wait(next.Sub(b.now))
		assert.Equal(t, gate.Closing, b.gate.State(0), "the windows are closed as it looks at the clock")
		b.hook(gate.Succeeded)
		assert.Equal(t, gate.ClosedAnswer{Session: 101, Reason: gate.ByWindows, Confirmed: true}, b.said[7][0])
		b.ahead = 0
		b.wait(plain.Settle)
		b.wait(plain.Keep)
		b.opened(8, tokenOf(2, 2).permit(0))
	}
}

// A newer configuration with other windows ends a session, or shortens it. It lengthens none.
func TestWindows_Configured_SessionEndsOrShortens(t *testing.T) {
	for name, c := range map[string]struct {
		windows []string
		state   gate.State
		left    time.Duration
	}{
		"closed": {[]string{"Mon-Sun 14:00-15:00 UTC"}, gate.Closing, 0},
		"sooner": {[]string{"Mon-Sun 11:00-12:01 UTC"}, gate.Open, 3 * time.Second},
		"longer": {[]string{"Mon-Sun 11:00-13:30 UTC"}, gate.Open, 10 * time.Second},
		"none":   {nil, gate.Open, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			b := dayBench(t, "Mon-Sun 11:00-13:00 UTC")
			b.wait(time.Minute - 3*time.Second)
			b.opened(7, tokenOf(1, 0, 1).permit(1))
			b.signIn(8, tokenOf(2, 2).permit(0))
			next := b.plan
			next.Version, next.Windows = 2, windows.Of(t, c.windows...)
			b.step(gate.Configured{Settings: next})
			assert.Equal(t, gate.Outdated, b.refused(8))
			require.Equal(t, c.state, b.gate.State(0))
			if c.state == gate.Open {
				assert.Equal(t, b.now.Add(c.left), b.gate.NextDeadline())
				b.wait(c.left)
				assert.Equal(t, gate.Closing, b.gate.State(0))
			}
		})
	}
}

// A gate that starts outside the windows closes what was open, and lets nobody in.
func TestWindows_RestartOutside_NothingOpens(t *testing.T) {
	afterRestart(t, func(t *testing.T, restart func(*bench)) {
		b := dayBench(t, "Mon-Sun 11:00-12:01 UTC")
		b.opened(7, tokenOf(1, 0, 1).permit(1))
		restart(b) // at another time of the day
		require.Equal(t, gate.Closing, b.gate.State(0))
		b.hook(gate.Succeeded)
		b.wait(plain.Settle)
		b.signIn(8, tokenOf(1, 0, 1).permit(1))
		b.windowsClosed(8)
	})
}

func TestSettings_TooManyWindows_Refused(t *testing.T) {
	s := plain
	s.Windows = make(window.Windows, window.Max+1)
	floor := uint64(1)
	_, _, err := gate.Begin(s, &floor, clock.Reading{})
	assert.ErrorIs(t, err, gate.ErrSettings)
}
