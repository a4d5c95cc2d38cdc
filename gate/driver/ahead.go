package driver

import (
	"slices"

	core "github.com/wandertoken/wander/protocol/gate"
)

// opened is a session whose streams are to be let through.
type opened struct {
	run   uint64 // of the open hook that did nothing
	place int
	of    core.Connection // 0: OPEN is not said yet
}

// durable syncs what waits for it, and then lets the streams of the sessions through of which it is.
func (e *engine) durable() {
	if !e.waits || e.err != nil {
		return
	}
	e.waits = false
	if e.err = e.journal.sync(); e.err != nil {
		return
	}
	for _, o := range e.ahead {
		if o.of != 0 {
			e.tunnel.open(o.place, o.of)
		}
	}
	e.ahead = nil
}

// letThrough lets the streams of a session through, once its record is durable.
func (e *engine) letThrough(place int, of core.Connection) {
	if i := slices.IndexFunc(e.ahead, func(o opened) bool { return o.place == place }); i >= 0 {
		e.ahead[i].of = of
		return
	}
	e.tunnel.open(place, of)
}
