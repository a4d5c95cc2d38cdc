package plan

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/sim/circulation"
)

// watch measures how long members wait, how long it is between two operations
// of one, and how long somebody waited while nobody ran.
type watch struct {
	circulation.Ignore
	waits, intervals spans
	want, runs       int // how many members do
	since            clock.Instant
	idle             time.Duration // somebody wants, nobody runs
	waited           float64       // seconds, of all members together
	served           uint64        // waits that ended, whenever they began
	ran              []uint64      // operations that began, by class; none without classes
}

func newWatch(r *Request) watch {
	return watch{ran: make([]uint64, len(r.Shares)), waits: newSpans(r.spacing()), intervals: newSpans(r.expected())}
}

// restart forgets what was measured.
func (w *watch) restart(now clock.Instant) {
	w.advance(now)
	w.idle, w.waited, w.served = 0, 0, 0
	clear(w.ran)
	w.waits.start, w.intervals.start = now, now
	w.waits.spread.clear()
	w.intervals.spread.clear()
}

// close is the end of the measurement.
func (w *watch) close(now clock.Instant) {
	w.advance(now)
	w.waits.close(now)
	w.intervals.close(now)
}

func (w *watch) advance(now clock.Instant) {
	passed := now.Sub(w.since)
	if w.runs == 0 && w.want > 0 {
		w.idle += passed
	}
	w.waited += float64(w.want) * passed.Seconds()
	w.since = now
}

// Demanded implements circulation.Observer.
func (w *watch) Demanded(now clock.Instant, member int) {
	w.advance(now)
	if w.waits.began(member) == never {
		w.want++
	}
	w.waits.begin(now, member)
}

// OperationBegan implements circulation.Observer.
func (w *watch) OperationBegan(now clock.Instant, member int) {
	w.advance(now)
	if w.waits.began(member) != never {
		w.want--
		w.served++
	}
	w.waits.end(now, member)
	w.runs++
	if len(w.ran) > 0 {
		w.ran[member%len(w.ran)]++
	}
	w.intervals.end(now, member)
	w.intervals.begin(now, member)
}

// OperationEnded implements circulation.Observer.
func (w *watch) OperationEnded(now clock.Instant, _ int) { w.advance(now); w.runs-- }

// MemberDown implements circulation.Observer: whoever is away does not wait.
func (w *watch) MemberDown(now clock.Instant, member int) {
	w.advance(now)
	if w.waits.began(member) != never {
		w.want--
	}
	w.waits.cut(now, member)
}

// Advanced implements circulation.Observer.
func (w *watch) Advanced(now clock.Instant) { w.advance(now) }

// spans are times of members from a beginning to an end. Those count that begin
// in the measured time.
type spans struct {
	spread spread
	start  clock.Instant
	since  []clock.Instant // of each member, or never
}

const never = clock.Instant(-1)

func newSpans(expected time.Duration) spans {
	return spans{spread: spread{ended: histogram(expected), open: histogram(expected)}}
}

// began is since when a member's span lasts, or never.
func (s *spans) began(member int) clock.Instant {
	for len(s.since) <= member {
		s.since = append(s.since, never)
	}
	return s.since[member]
}

func (s *spans) begin(now clock.Instant, member int) {
	s.began(member)
	s.since[member] = now
}

// end ends a span, if there is one.
func (s *spans) end(now clock.Instant, member int) { s.into(s.spread.ended, now, member) }

// cut says that a span lasted until now at least.
func (s *spans) cut(now clock.Instant, member int) { s.into(s.spread.open, now, member) }

func (s *spans) into(h *circulation.Histogram, now clock.Instant, member int) {
	if since := s.began(member); since != never && since >= s.start {
		h.Add(now.Sub(since))
	}
	s.since[member] = never
}

// close cuts all that have not ended.
func (s *spans) close(now clock.Instant) {
	for m := range s.since {
		s.cut(now, m)
	}
}
