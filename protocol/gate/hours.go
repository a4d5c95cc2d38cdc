package gate

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/window"
)

// While one of a resource's windows is open, by the gate's own wall clock, sessions may be open. A clock that is set forward may end a session
// at once. A clock that is set back lengthens none.

// shortestSession is what has to fit into a window: no session is shorter.
const shortestSession = time.Nanosecond

// hours are whether sessions may be open, and until when that stays so.
type hours struct{ window.Hours }

// hoursOf are the hours of a gate at an instant.
func hoursOf(l window.Windows, at time.Time) hours { return hours{l.Hours(at, shortestSession)} }

// keepHours looks at the clock. It may have been set.
func (g *Gate) keepHours() {
	if len(g.settings.Windows) > 0 && !g.hours.Hold(g.now.Wall) {
		g.setHours()
	}
}

// setHours puts the windows into force: while they are closed nobody is in, and nobody waits.
func (g *Gate) setHours() {
	g.hours = hoursOf(g.settings.Windows, g.now.Wall)
	if !g.hours.Closed {
		return
	}
	for i := range g.slots {
		g.cut(i, ByWindows)
	}
	for slot := range g.settings.Slots {
		g.purge(slot)
	}
}

// turn is when the windows open or close, by the clock as it is set now.
func (h *hours) turn(now clock.Reading) clock.Instant {
	if h.Until.IsZero() {
		return clock.Never
	}
	return now.Boot.Add(h.Until.Sub(now.Wall))
}

// opens is when windows open that are closed; 0 if never, as far as can be seen.
func (h *hours) opens(now clock.Reading) clock.Instant {
	if h.Until.IsZero() {
		return 0
	}
	return h.turn(now)
}
