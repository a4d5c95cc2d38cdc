package window

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Max bounds the windows of one resource: one for each day of the week, and one more.
const Max = 8

// A day of the local clock.
const (
	minutesPerDay = 24 * 60
	secondsPerDay = 60 * minutesPerDay
)

// lookAhead is how many days NextChange looks ahead. A window of one day of the week may be in minutes that the local clock skips
// in one year's spring, so that it opens a week later.
const lookAhead = 22

// ErrWindow says that something is no window: it has no day, its times are out of range, or its text is not in the form of a window.
var ErrWindow = errors.New("invalid window")

// Days is a set of days of the week. Bit 0 is Monday.
type Days uint8

// AllDays are all days of the week.
const AllDays Days = 1<<7 - 1

// day is the set of a day of the week.
func day(d time.Weekday) Days { return 1 << ((int(d) + 6) % 7) }

// Window is a span of the local day on some days of the week.
type Window struct {
	Days  Days // on which it begins
	Begin int  // minute of the local day, 0 to 1439
	End   int  // minute of the local day; one that is not after Begin is on the next day
	Zone  Zone
	Name  string // of the zone, as the operator wrote it
}

// Windows are those of a resource. It is open while one of them is; without any it is always open.
type Windows []Window

// Validate returns ErrWindow or ErrZone if the window cannot be.
func (w Window) Validate() error {
	switch {
	case w.Days == 0 || w.Days > AllDays:
		return fmt.Errorf("%w: days are %#x, permitted are 1 to %#x", ErrWindow, uint8(w.Days), uint8(AllDays))
	case w.Begin < 0 || w.Begin >= minutesPerDay || w.End < 0 || w.End >= minutesPerDay:
		return fmt.Errorf("%w: minutes %d to %d, permitted are 0 to %d", ErrWindow, w.Begin, w.End, minutesPerDay-1)
	case len(w.Name) == 0 || len(w.Name) > MaxZone || slices.ContainsFunc([]byte(w.Name), func(c byte) bool { return c <= ' ' || c > '~' }):
		return fmt.Errorf("%w: the name %q is not 1 to %d visible characters", ErrZone, w.Name, MaxZone)
	}
	return nil
}

// Length is how long the window is on a day on which the local clock is not set.
func (w Window) Length() time.Duration {
	n := w.End - w.Begin
	if n <= 0 {
		n += minutesPerDay
	}
	return time.Duration(n) * time.Minute
}

// open reports whether the local clock shows a minute of the window.
func (w Window) open(at time.Time) bool {
	local := at.UTC().Add(time.Duration(w.Zone.Offset(at)) * time.Second)
	minute := 60*local.Hour() + local.Minute()
	today, yesterday := day(local.Weekday()), day(local.Weekday()+6)
	if w.Begin < w.End {
		return w.Days&today != 0 && w.Begin <= minute && minute < w.End
	}
	return w.Days&today != 0 && w.Begin <= minute || w.Days&yesterday != 0 && minute < w.End
}

// Open reports whether one of the windows is open at an instant, or there is none.
func (l Windows) Open(at time.Time) bool {
	return len(l) == 0 || slices.ContainsFunc(l, func(w Window) bool { return w.open(at) })
}

// NextChange returns the first instant after another one from which on the windows are open and were closed before, or the
// reverse. There is none if they never close.
func (l Windows) NextChange(after time.Time) (at time.Time, ok bool) {
	if len(l) == 0 {
		return time.Time{}, false
	}
	from := after.Unix() // windows open and close on whole seconds
	until := from + lookAhead*secondsPerDay
	all := l.timetables(from, until)
	now := openUntil(all, from)
	if now == from {
		now = opens(all, from, until)
	}
	if now >= until {
		return time.Time{}, false
	}
	return time.Unix(now, 0).UTC(), true
}

// openUntil is the first instant, from one on, at which none of the windows is open, or the end of the timetables.
func openUntil(all []timetable, now int64) int64 {
	for {
		until := now
		for i := range all {
			until = max(until, all[i].openUntil(now))
		}
		if until == now {
			return now
		}
		now = until
	}
}

// opens is the first instant after one at which all windows are closed, at which one of them is open, or the end of the timetables.
func opens(all []timetable, now, until int64) int64 {
	for i := range all {
		until = min(until, all[i].opens(now, until))
	}
	return until
}

// Local returns an instant as the clock shows it in the zone of a window that is open then, or of the first one.
func (l Windows) Local(at time.Time) time.Time {
	for _, w := range l {
		if w.open(at) {
			return w.Zone.Local(at)
		}
	}
	if len(l) > 0 {
		return l[0].Zone.Local(at)
	}
	return at.UTC()
}

// Span is from when until when a resource is open.
type Span struct{ From, To time.Time }

// Next returns the next spans, at most most, that end after an instant. The first one begins at it if the windows are
// open then. A span without an end has a zero To.
func (l Windows) Next(at time.Time, most int) (spans []Span) {
	from := at
	for is := l.Open(at); len(spans) < most; is = !is {
		next, ok := l.NextChange(from)
		if is {
			spans = append(spans, Span{from, next})
		}
		if !ok {
			break
		}
		from = next
	}
	return spans
}
