package member

import (
	"fmt"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/policy"
)

// MaxWaiters bounds the local programs that wait for one resource: more than
// anybody can serve, few enough to look through.
const MaxWaiters = 1024

// demand is a local program that waits for a resource.
type demand struct {
	request  uint64
	resource string
	maxHold  time.Duration
	oncePer  time.Duration
	asker    *journal.Asker
	across   bool
	asked    clock.Instant
}

// demands are the local programs that wait, the one that has waited longest first.
type demands struct {
	*core
	slots  *slotTable
	events *events
	list   []*demand
}

// expired is nil while this member's own certificate is valid.
func (l *demands) expired() error {
	if err := l.cfg.Certificate.ValidAt(l.now.Wall); err != nil {
		return fmt.Errorf("%w: %w", ErrExpired, err)
	}
	return nil
}

// lapse refuses all programs that wait once this member's own certificate has expired: no
// member hands it a token any more, and it may not use those that it holds. The member goes
// on otherwise, since its clock may be wrong.
func (l *demands) lapse() {
	if len(l.list) == 0 {
		return
	}
	reason := l.expired()
	if reason == nil {
		return
	}
	l.refuseAll(reason)
}

// refuseAll refuses all programs that wait.
func (l *demands) refuseAll(reason error) {
	for _, d := range l.list {
		l.emit(effect.Refuse{Request: d.request, Reason: reason})
	}
	l.list = nil
	for _, s := range l.slots.order {
		l.notify(s)
	}
}

// withdraw ends a demand, if it waits here.
func (l *demands) withdraw(request uint64) {
	for i, d := range l.list {
		if d.request == request {
			l.list = slices.Delete(l.list, i, i+1)
			l.hasChanged(d.resource)
			return
		}
	}
}

// putBack has a demand wait on, before all others.
func (l *demands) putBack(d *demand) {
	l.list = slices.Insert(l.list, 0, d)
	l.hasChanged(d.resource)
}

// waiting is how many programs wait for a resource.
func (l *demands) waiting(resource string) int {
	n := 0
	for _, d := range l.list {
		if d.resource == resource {
			n++
		}
	}
	return n
}

func (l *demands) hasChanged(resource string) {
	for _, s := range l.slots.order {
		if s.key.resource == resource {
			l.notify(s)
		}
	}
}

// notify tells a slot's policy whether anybody waits, when that is news.
func (l *demands) notify(s *slot) {
	if l.recalling {
		return // it is told at the end of that
	}
	wanted := !s.closed && !s.shut(l.now.Boot) && l.waiting(s.key.resource) > 0
	if wanted != s.demand {
		s.demand = wanted
		l.events.notify(s, policy.Event{Kind: policy.DemandChanged, Demand: wanted})
	}
}

// take takes the demand that has waited longest. Those that the slot's
// last operation, as far as it is known here, is too recent for are refused.
func (l *demands) take(s *slot) *demand {
	for i := 0; i < len(l.list) && !l.stopping; {
		d := l.list[i]
		if d.resource != s.key.resource {
			i++
			continue
		}
		l.list = slices.Delete(l.list, i, i+1)
		if l.due(s, d.oncePer) {
			return d
		}
		l.emit(effect.Refuse{Request: d.request, Reason: ErrNotDue})
		l.hasChanged(d.resource)
	}
	return nil
}

// due reports whether the slot's last operation was so long ago. One of the
// future, which only a clock that was set back can tell of, counts as one of now:
// a wrong clock delays nobody for longer than that.
func (l *demands) due(s *slot, oncePer time.Duration) bool {
	now := l.now.Micros()
	s.lastOperation = min(s.lastOperation, now)
	return s.lastOperation == 0 || now-s.lastOperation >= uint64(oncePer.Microseconds())
}
