package driver

import (
	"slices"

	core "github.com/wandertoken/wander/protocol/gate"
)

// A gate without an open hook says OPEN before the record of the session is durable. No stream comes before: each asks the engine first, which
// has made durable what waits by then.

// durable syncs what waits for it.
func (e *engine) durable() {
	if !e.waits || e.err != nil {
		return
	}
	e.waits, e.ahead = false, nil
	e.err = e.journal.sync()
}

// isAhead reports whether an input is the end of an open hook that did nothing, of a session whose record is not durable yet.
func (e *engine) isAhead(in core.Input) bool {
	end, ok := in.(core.HookEnded)
	return ok && slices.Contains(e.ahead, end.Run)
}
