package plan

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/sim/circulation"
)

// watch measures how long members wait, how long it is between two operations
// of one, and for how long of the time in which the windows are open somebody
// waited while nobody ran, or there was no token.
type watch struct {
	circulation.Ignore
	waits, intervals   spans
	openWaits          spans // by opened in place of a clock
	want, runs, tokens int   // how many members want to run and run, and how many tokens there are
	since              clock.Instant
	closed             bool          // no window is open
	opened, openedFrom clock.Instant // how long the windows were open: until now, and until the measurement began
	idle, tokenless    time.Duration // somebody wants and nobody runs; there is no token
	waited, openWaited float64       // seconds, of all members together
	served             uint64        // waits that ended, whenever they began
	ran                []uint64      // operations that began, by class; none without classes
}

func newWatch(r *Request) watch {
	c := r.calendar()
	w := watch{
		ran:   make([]uint64, len(r.Shares)),
		waits: newSpans(c.stretch(r.spacing()), c.closed), intervals: newSpans(r.expected(), c.closed), openWaits: newSpans(time.Nanosecond, 0),
	}
	if len(r.Windows) > 0 {
		w.openWaits = newSpans(r.spacing(), 0)
	}
	return w
}

// restart forgets what was measured.
func (w *watch) restart(now clock.Instant) {
	w.advance(now)
	w.idle, w.tokenless, w.waited, w.openWaited, w.served = 0, 0, 0, 0, 0
	clear(w.ran)
	w.openedFrom = w.opened
	w.waits.start, w.intervals.start, w.openWaits.start = now, now, w.opened
	w.waits.spread.clear()
	w.intervals.spread.clear()
	w.openWaits.spread.clear()
}

// close is the end of the measurement.
func (w *watch) close(now clock.Instant) {
	w.advance(now)
	w.waits.close(now)
	w.intervals.close(now)
	w.openWaits.close(w.opened)
}

// open is for how long of the measured time a window was open.
func (w *watch) open() time.Duration { return w.opened.Sub(w.openedFrom) }

func (w *watch) advance(now clock.Instant) {
	passed := now.Sub(w.since)
	waited := float64(w.want) * passed.Seconds()
	w.waited += waited
	w.since = now
	if w.closed {
		return
	}
	w.opened = w.opened.Add(passed)
	w.openWaited += waited
	if w.runs == 0 && w.want > 0 {
		w.idle += passed
	}
	if w.tokens == 0 {
		w.tokenless += passed
	}
}

// Demanded implements circulation.Observer.
func (w *watch) Demanded(now clock.Instant, member int) {
	w.advance(now)
	if w.waits.began(member) == never {
		w.want++
	}
	w.waits.begin(now, member)
	w.openWaits.begin(w.opened, member)
}

// OperationBegan implements circulation.Observer.
func (w *watch) OperationBegan(now clock.Instant, member int) {
	w.advance(now)
	if w.waits.began(member) != never {
		w.want--
		w.served++
	}
	w.waits.end(now, member)
	w.openWaits.end(w.opened, member)
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
	w.openWaits.cut(w.opened, member)
}

// TokenBorn implements circulation.Observer.
func (w *watch) TokenBorn(now clock.Instant, _ int, _ ident.Token) { w.advance(now); w.tokens++ }

// TokenGone implements circulation.Observer.
func (w *watch) TokenGone(now clock.Instant, _ ident.Token, _ circulation.End) {
	w.advance(now)
	w.tokens--
}

// WindowsChanged implements circulation.Observer.
func (w *watch) WindowsChanged(now clock.Instant, open bool) {
	w.advance(now)
	w.closed = !open
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

func newSpans(expected, closed time.Duration) spans {
	return spans{spread: spread{ended: histogram(expected, closed), open: histogram(expected, closed)}}
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
