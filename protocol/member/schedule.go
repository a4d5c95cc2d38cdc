package member

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/window"
)

// A resource with windows is used only while one of them is open, by this member's own wall clock (P-91, P-92). While none is, and
// in the last operation_time of one, the member does not want the token as far as its policy and all others are concerned: so it is
// no waiter, and no holder counts as late for its sake. It passes tokens on as ever, since the clocks of others may say
// that a window is open.

// schedule has the hours of all resources. The slots of a resource share them.
type schedule struct {
	*core
	slots   *slotTable
	demands *demands
	all     window.Hours // only From and Until: between these no resource's hours change
	byGate  []*slot      // whose gates have said that the windows are closed
}

// of returns the hours of a resource whose configuration is new, for its slots to share. Their policies are told by whoever tells
// them of demand.
func (l *schedule) of(r group.Resource) *window.Hours {
	h := r.Windows.Hours(l.now.Wall, r.OperationTime)
	return &h
}

// set gives a slot the hours of its resource. What the gate has said of others counts no more.
func (l *schedule) set(s *slot, h *window.Hours) { s.hours, s.byGate = h, gateHours{} }

// look renews the hours that have passed, and tells policies what that means. A wall clock that was set may have passed any.
func (l *schedule) look() {
	l.all = window.Hours{From: l.now.Wall}
	var renewed *window.Hours
	for _, s := range l.slots.order { // the slots of a resource follow one another
		if s.leaving || len(s.resource.Windows) == 0 {
			continue
		}
		if !s.hours.Hold(l.now.Wall) {
			*s.hours = s.resource.Windows.Hours(l.now.Wall, s.resource.OperationTime)
			renewed = s.hours
		}
		if s.hours == renewed {
			l.demands.notify(s)
		}
		if u := s.hours.Until; !u.IsZero() && (l.all.Until.IsZero() || u.Before(l.all.Until)) {
			l.all.Until = u
		}
	}
}

// tick renews what has passed.
func (l *schedule) tick() {
	if !l.all.Hold(l.now.Wall) {
		l.look()
	}
	if len(l.byGate) == 0 {
		return
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
	if !l.all.Until.IsZero() {
		next = l.instant(l.all.Until)
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
func (s *slot) shut(now clock.Instant) bool { return s.hours.Closed || s.byGate.until > now }

// closes is when the window of a slot closes, or clock.Never.
func (l *schedule) closes(s *slot) clock.Instant {
	if s.hours.Closes.IsZero() {
		return clock.Never
	}
	return l.instant(s.hours.Closes)
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
	if !s.hours.Closed && s.byGate.until > l.now.Boot {
		return HoursStatus{Closed: true, Opens: s.byGate.opens, ByGate: true}
	}
	return HoursStatus{Closed: s.hours.Closed, Opens: s.hours.Opens, Closes: s.hours.Closes}
}
