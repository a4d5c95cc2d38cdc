package member

import (
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
}

// of returns the hours of a resource whose configuration is new, for its slots to share. Their policies are told by whoever tells
// them of demand.
func (l *schedule) of(r group.Resource) *window.Hours {
	h := r.Windows.Hours(l.now.Wall, r.OperationTime)
	return &h
}

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
}

// next is when tick has something to do, if nobody sets the wall clock.
func (l *schedule) next() clock.Instant {
	if l.all.Until.IsZero() {
		return clock.Never
	}
	return l.instant(l.all.Until)
}

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
}

func hoursStatus(h *window.Hours) HoursStatus {
	return HoursStatus{Closed: h.Closed, Opens: h.Opens, Closes: h.Closes}
}
