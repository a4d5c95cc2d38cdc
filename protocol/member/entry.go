package member

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/gate"
)

// entryState is how far a session has come.
type entryState uint8

const (
	knocking entryState = iota // SIGN-IN is sent
	open                       // a program runs under it
	closing                    // SIGN-OUT is sent
)

// entry is a session at a gate, or the wait for one.
type entry struct {
	id       uint64
	grant    *grant
	state    entryState
	demand   *demand       // while it is knocking
	asked    time.Duration // for how long a program; 0: as long as may be
	since    clock.Instant // when it began to wait
	ends     clock.Instant // when the token is to be released
	knocks   clock.Instant // until when it does so at most
	gives    clock.Instant // when it waits no longer for the gate; Never while it is open
	operated bool          // what the program's end said, while it is closing
	session  uint64        // that the gate has opened; 0: none
	heard    gate.Answer   // the last one in the journal
	told     int           // answers in the journal
	watched  bool          // the gate only observes: the program has not waited, and nothing waits for its end
}

// check is what is wrong with an entry whose program runs or not; empty if nothing is.
func (e *entry) check(runs bool) string {
	g := e.grant
	switch {
	case g.entry != e || g.hold.grant != g && !g.hold.lost:
		return "it is not its hold's"
	case (e.state == knocking) != (e.demand != nil):
		return "it knocks for nobody, or runs for somebody who knocks"
	case (e.state == open) != runs:
		return "a program without a session, or the reverse"
	case (e.state == open) != (e.gives == clock.Never):
		return "it waits without end"
	case e.state == knocking && e.gives > e.ends:
		return "it waits for longer than the token may be kept"
	}
	return ""
}
