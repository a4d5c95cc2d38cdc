package circulation

import (
	"time"

	"github.com/wandertoken/wander/protocol/window"
)

// hours are when operations may begin, by Config.Windows and the clock that all members share.
type hours struct {
	*group
	operations *operations
	window.Hours
}

// begin finds the hours of instant 0, before any member has started.
func (h *hours) begin() {
	if len(h.cfg.Windows) > 0 {
		h.renew()
	}
}

// renew finds the hours of now, and looks again when they have passed.
func (h *hours) renew() {
	h.Hours = h.cfg.Windows.Hours(h.wall(), h.cfg.Params.OperationTime)
	if !h.Until.IsZero() {
		h.schedule(h.Until.Sub(h.wall()), hoursPassed, 0, 0, 0)
	}
}

// pass renews hours that have passed, and tells all members that are up what that means for their demand.
func (h *hours) pass() {
	wasOpen, wasClosed := h.open(), h.Closed
	h.renew()
	if h.open() != wasOpen {
		for _, o := range h.observers {
			o.WindowsChanged(h.now, h.open())
		}
	}
	if h.Closed == wasClosed {
		return
	}
	for m := range h.sites {
		if h.sites[m].place >= 0 {
			h.stats.Events++ // each costs as much as an event of its own
			h.operations.tellDemand(int32(m))
		}
	}
}

// open reports whether a window is open, though it may be about to close.
func (h *hours) open() bool { return !h.Closed || !h.Closes.IsZero() }

// left is how long it takes until the windows close that are open.
func (h *hours) left() time.Duration {
	if h.Closes.IsZero() {
		return forever
	}
	return h.Closes.Sub(h.wall())
}

// wall is what the clock of all members shows.
func (h *hours) wall() time.Time { return h.cfg.Begin.Add(h.now.Sub(0)) }
