package member

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/group"
)

// A resource with windows is used only while one of them is open, by this member's own wall clock (P-91, P-92). While none is, and
// in the last operation_time of one, the member does not want the token as far as its policy and all others are concerned: so it is
// no waiter, and no holder counts as late for its sake. It passes tokens on as ever, since the clocks of others may say
// that a window is open.

// hours are whether programs may begin at a slot, and when that changes.
type hours struct {
	shut        bool      // no program begins
	closes      time.Time // when the windows close that are open; zero: never, or they are closed
	opens       time.Time // when programs may begin again while shut is set; zero: as far as can be seen, never
	from, until time.Time // what is said here is so from the one instant until the other; until is zero: for good
}

// hoursOf are the hours of a resource at an instant.
func hoursOf(r group.Resource, at time.Time) hours {
	h := hours{from: at}
	if len(r.Windows) == 0 {
		return h
	}
	next, changes := r.Windows.NextChange(at)
	switch {
	case r.Windows.Open(at) && !changes:
		return h
	case r.Windows.Open(at):
		h.closes, h.until = next, next.Add(1-r.OperationTime) // an operation that just fits may begin
		if at.Before(h.until) {
			return h
		}
		h.until = next
		if opens, ok := r.Windows.NextChange(next); ok {
			h.opens = opens
		}
	default:
		h.opens, h.until = next, next
	}
	h.shut = true
	return h
}

// holds reports whether what the hours say is so at an instant.
func (h *hours) holds(at time.Time) bool {
	return !at.Before(h.from) && (h.until.IsZero() || at.Before(h.until))
}

// schedule has the hours of all slots.
type schedule struct {
	*core
	slots   *slotTable
	demands *demands
	all     hours   // only from and until: between these no slot's hours change
	byGate  []*slot // whose gates have said that the windows are closed
}

// set looks at the hours of a slot whose configuration is new. Its policy is told by whoever tells it of demand.
func (l *schedule) set(s *slot) { s.hours, s.byGate = hoursOf(s.resource, l.now.Wall), gateHours{} }

// look renews the hours that have passed, and tells policies what that means. A wall clock that was set may have passed any.
func (l *schedule) look() {
	l.all = hours{from: l.now.Wall}
	for _, s := range l.slots.order {
		if s.leaving || len(s.resource.Windows) == 0 {
			continue
		}
		if !s.hours.holds(l.now.Wall) {
			s.hours = hoursOf(s.resource, l.now.Wall)
			l.demands.notify(s)
		}
		if u := s.hours.until; !u.IsZero() && (l.all.until.IsZero() || u.Before(l.all.until)) {
			l.all.until = u
		}
	}
}

// tick renews what has passed.
func (l *schedule) tick() {
	if !l.all.holds(l.now.Wall) {
		l.look()
	}
	l.byGate = slices.DeleteFunc(l.byGate, func(s *slot) bool {
		if s.byGate.until > l.now.Boot {
			return false
		}
		s.byGate = gateHours{}
		if !s.leaving {
			l.demands.notify(s)
		}
		return true
	})
}

// next is when tick has something to do, if nobody sets the wall clock.
func (l *schedule) next() clock.Instant {
	next := clock.Never
	if !l.all.until.IsZero() {
		next = l.instant(l.all.until)
	}
	for _, s := range l.byGate {
		next = min(next, s.byGate.until)
	}
	return next
}

// gateHours are what a gate has said of the windows by its own clock. The zero value is nothing.
type gateHours struct {
	until clock.Instant // no program begins before
	opens time.Time     // when the gate opens, as it has said; zero: it has not
}

// shutByGate takes in that a gate has refused, as the windows are closed by its clock. It holds for the resource, whatever token comes: a gate with another
// clock refuses each. It returns until when that counts.
func (l *schedule) shutByGate(resource string, opensIn time.Duration, opens time.Time) (until clock.Instant) {
	if opensIn <= 0 { // it has not said when
		opensIn = refusePause
	}
	until = l.now.Boot.Add(min(max(opensIn, shutPause), refusePause))
	for _, s := range l.slots.order {
		if s.key.resource != resource || s.leaving {
			continue
		}
		s.byGate = gateHours{until, opens}
		if !slices.Contains(l.byGate, s) {
			l.byGate = append(l.byGate, s)
		}
		l.demands.notify(s)
	}
	return until
}

// shut reports whether no program begins at a slot, by this member's clock or by that of the gate.
func (s *slot) shut(now clock.Instant) bool { return s.hours.shut || s.byGate.until > now }

// closes is when the window of a slot closes, or clock.Never.
func (l *schedule) closes(s *slot) clock.Instant {
	if s.hours.closes.IsZero() {
		return clock.Never
	}
	return l.instant(s.hours.closes)
}

// instant is a moment of the wall clock, as that is set now.
func (l *schedule) instant(at time.Time) clock.Instant { return l.now.Boot.Add(at.Sub(l.now.Wall)) }

// HoursStatus are a slot's windows as a member sees them. The zero value is a slot that is always open.
type HoursStatus struct {
	Closed bool      // no program begins now
	Opens  time.Time // when programs may begin again; zero: they may now, or never as far as can be seen
	Closes time.Time // when the windows close that are open; zero: they are closed, or never close
	ByGate bool      // they are closed by the clock of the gate only; Opens is as that has said
}

// status is what a slot's windows look like.
func (l *schedule) status(s *slot) HoursStatus {
	if !s.hours.shut && s.byGate.until > l.now.Boot {
		return HoursStatus{Closed: true, Opens: s.byGate.opens, ByGate: true}
	}
	return HoursStatus{Closed: s.hours.shut, Opens: s.hours.opens, Closes: s.hours.closes}
}
