package plan

import (
	"time"

	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/window"
)

// DefaultBegin is the wall clock at the beginning of each run where a Request names none: a Monday, so that the weeks of a run are
// those of the calendar, and in January, in which clocks are seldom set.
var DefaultBegin = time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC)

const (
	day  = 24 * time.Hour
	week = 7 * day

	// calendarSpan is how far a calendar looks ahead. A week is not enough: a window may be in minutes that the local clock skips.
	calendarSpan = 4 * week

	// minCycles is how many cycles a run has at least, unless it costs too much: a wait through the night that begins in one ends in the
	// next one, and the last of them do not end in the run.
	minCycles = 4

	// cycleSteps is in how many steps a run goes through a cycle at least: a step through a closed night, in which nothing happens, must
	// not reach far into the busy morning.
	cycleSteps = 1000
)

// calendar is what windows come to, from an instant on.
type calendar struct {
	cycle  time.Duration // after which the windows repeat, but for clocks that are set; 0: they never close
	open   float64       // the share of time in which they are open
	closed time.Duration // the longest time without an interruption in which they are closed
}

// calendarOf looks at the windows from an instant on.
func calendarOf(l window.Windows, begin time.Time) calendar {
	end := begin.Add(calendarSpan)
	var open, closed time.Duration
	for from := begin; from.Before(end); {
		until, changes := l.NextChange(from)
		if !changes || until.After(end) {
			until = end
		}
		if l.Open(from) {
			open += until.Sub(from)
		} else {
			closed = max(closed, until.Sub(from))
		}
		from = until
	}
	if closed == 0 {
		return calendar{open: 1}
	}
	c := calendar{cycle: day, open: max(open, time.Minute).Seconds() / calendarSpan.Seconds(), closed: closed}
	for _, w := range l {
		if w.Days != window.AllDays {
			c.cycle = week
		}
	}
	return c
}

// calendar is that of the request.
func (r *Request) calendar() calendar {
	if r.known != nil {
		return *r.known
	}
	return calendarOf(r.Windows, r.begin())
}

// begin is the wall clock at the beginning of each run.
func (r *Request) begin() time.Time {
	if r.Begin.IsZero() {
		return DefaultBegin
	}
	return r.Begin
}

// stretch is how long it takes until the windows were open for so long.
func (c calendar) stretch(d time.Duration) time.Duration {
	if c.cycle == 0 {
		return d
	}
	return time.Duration(min(float64(d)/c.open, float64(policy.MaxInterval)))
}

// whole is a time, or as many cycles as reach beyond it.
func (c calendar) whole(d time.Duration) time.Duration {
	if c.cycle == 0 {
		return d
	}
	return (d + c.cycle - 1) / c.cycle * c.cycle
}

// isWhole reports whether a time is a number of cycles.
func (c calendar) isWhole(d time.Duration) bool { return c.cycle == 0 || d%c.cycle == 0 }

// isLast reports whether a run that took so many events for so much time ends with a cycle, and one more would take too many.
func (c calendar) isLast(measured time.Duration, events, most uint64) bool {
	if c.cycle == 0 || measured == 0 || measured%c.cycle != 0 {
		return false
	}
	return events+events/uint64(measured/c.cycle) > most
}

// Hours is what the windows of a resource come to.
type Hours struct {
	Text  string    `json:"text"`
	Begin time.Time `json:"begin"` // of each run, before the warm-up
	// Open is the share of the simulated time in which a window is open.
	Open float64 `json:"open_share"`
	// Operations are those of the whole group in an hour in which a window is open.
	Operations float64 `json:"operations_per_open_hour"`
	// Wait is Report.Wait without the time in which no window is open: what the members wait for each other. Nil where
	// nobody ran.
	Wait *Spread `json:"open_wait_s"`
}

// hours reports what the windows come to, nil without any.
func (r *Request) hours(a *total) *Hours {
	if len(r.Windows) == 0 {
		return nil
	}
	h := &Hours{Text: r.Windows.String(), Begin: r.begin().UTC(), Wait: a.openWaits.report(a.openWaited/float64(a.served), a.served)}
	if a.time > 0 {
		h.Open = a.open.Seconds() / a.time.Seconds()
	}
	if a.open > 0 {
		h.Operations = float64(a.stats.Operations) / a.open.Hours()
	}
	return h
}
