package gate

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/window"
)

// A resource with windows is open to sessions while one of them is, by the gate's own wall clock. What the clock shows now counts: one that was
// set forward may end a session at once, and one that was set back lengthens none.

// hours are whether the windows of the resource are closed, and for how long that is so.
type hours struct {
	shut  bool
	from  time.Time
	until time.Time // when they open or close; zero: never, as far as can be seen
}

// hoursOf are the hours at an instant.
func hoursOf(l window.Windows, at time.Time) hours {
	h := hours{from: at}
	if len(l) > 0 {
		h.shut = !l.Open(at)
		h.until, _ = l.NextChange(at)
	}
	return h
}

// hold reports whether what the hours say is so at an instant.
func (h *hours) hold(at time.Time) bool {
	return !at.Before(h.from) && (h.until.IsZero() || at.Before(h.until))
}

// keepHours looks at the clock. It may have been set.
func (g *Gate) keepHours() {
	if len(g.settings.Windows) > 0 && !g.hours.hold(g.now.Wall) {
		g.setHours()
	}
}

// setHours puts the windows into force: while they are closed nobody is in, and nobody waits.
func (g *Gate) setHours() {
	g.hours = hoursOf(g.settings.Windows, g.now.Wall)
	if !g.hours.shut {
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
	if h.until.IsZero() {
		return clock.Never
	}
	return now.Boot.Add(h.until.Sub(now.Wall))
}

// opens is when windows open that are closed; 0 if never, as far as can be seen.
func (h *hours) opens(now clock.Reading) clock.Instant {
	if h.until.IsZero() {
		return 0
	}
	return h.turn(now)
}
