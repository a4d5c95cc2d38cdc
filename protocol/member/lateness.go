package member

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
)

// A member that runs late hears late, and answers late: a peer that answered in
// time seems silent to it. To dial such peers anew, to ask others to, and to tell
// everybody, is work for a machine that has too much of it already, and which
// makes the next ones seem silent. So a member that is late takes itself for the
// cause, and waits longer before it suspects others (local health awareness:
// Dadgar, Phillips, Currey, Lifeguard, 2018). What counts is what its own driver
// has measured. What peers say or do not say changes nothing, or they could make a
// member blind.

const (
	// LateFrom is the least lateness that counts. A machine that is merely busy is
	// late by a tenth of a second or two. A dial bears 3 seconds, in which each side
	// has its turn three times: six times as much as this.
	LateFrom = 500 * time.Millisecond

	// maxPatience bounds how many times as long a late member waits, so that it is
	// never blind: what takes 4 seconds otherwise takes it 32. It is reached with 3.5
	// seconds of lateness. As much on the other side, and an answer takes 7
	// seconds, which is about when a connection breaks.
	maxPatience = 8

	// lateHalf is after what time lateness counts half as much. The greatest counts
	// for three times as long. What it may have spoiled has come by then: 10 seconds
	// of silence, or three dials.
	lateHalf = 5 * time.Second
)

// lateness is how late this member's driver has run of late.
type lateness struct {
	by time.Duration
	at clock.Instant
}

// note takes in that the driver is late now. It counts unless more is left of what
// was before.
func (d *lateness) note(by time.Duration, now clock.Instant) {
	if by = min(by, (maxPatience-1)*LateFrom); by >= LateFrom && by >= d.left(now) {
		d.by, d.at = by, now
	}
}

// left is what still counts of it.
func (d *lateness) left(now clock.Instant) time.Duration {
	halves := max(0, now.Sub(d.at)/lateHalf)
	if by := d.by >> uint(halves); by >= LateFrom {
		return by
	}
	return 0
}

// health is what this member knows of its own fitness to judge others.
type health struct {
	*core
	late    lateness
	heardAt clock.Instant // when anybody was last heard
}

// multiplier is how many times as long this member waits now before it suspects
// others: 1 while it is punctual, and one more for each LateFrom that it is late.
func (h *health) multiplier() int { return 1 + int(h.late.left(h.now.Boot)/LateFrom) }

// isLate reports whether this member has run late of late.
func (h *health) isLate() bool { return h.multiplier() > 1 }

// inTouch reports whether somebody has been heard of since a time and is still
// connected: a member that hears nobody says nothing about others.
func (h *health) inTouch(since clock.Instant) bool {
	return h.peers.len() > 0 && h.heardAt > since
}
