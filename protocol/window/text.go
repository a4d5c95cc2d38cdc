package window

import (
	"fmt"
	"strconv"
	"strings"
)

// dayNames are in the order of Days.
var dayNames = [...]string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}

// Parse reads a window as an operator writes it: days, the span of the local day, and the zone, with one space between them. The
// zone is UTC, an offset such as +02:00, a rule as ParseZone reads it, or any other name that lookup knows. Errors: ErrWindow,
// ErrZone and those of lookup.
func Parse(text string, lookup func(name string) (Zone, error)) (Window, error) {
	parts := strings.Split(text, " ")
	if len(parts) != 3 {
		return Window{}, fmt.Errorf("%w: %q is not in the form \"Mon-Fri 22:00-06:00 Europe/Rome\"", ErrWindow, text)
	}
	w := Window{Name: parts[2]}
	var err error
	if w.Days, err = parseDays(parts[0]); err != nil {
		return Window{}, err
	}
	if w.Begin, w.End, err = parseSpan(parts[1]); err != nil {
		return Window{}, err
	}
	if err := w.Validate(); err != nil {
		return Window{}, err
	}
	if w.Zone, err = zoneOf(w.Name, lookup); err != nil {
		return Window{}, err
	}
	return w, nil
}

// zoneOf is the zone with a name.
func zoneOf(name string, lookup func(string) (Zone, error)) (Zone, error) {
	if name == "UTC" {
		return utc, nil
	}
	if name[0] == '+' || name[0] == '-' {
		minutes, err := parseClock(name[1:])
		if err != nil || minutes == minutesPerDay {
			return Zone{}, fmt.Errorf("%w: %q is not an offset such as +02:00", ErrZone, name)
		}
		if name[0] == '-' {
			minutes = -minutes
		}
		return fixed(minutes)
	}
	if z, err := ParseZone(name); err == nil {
		return z, nil
	}
	return lookup(name)
}

// parseDays reads days and ranges of days with commas between them. A range may go over the end of the week.
func parseDays(text string) (days Days, err error) {
	for _, part := range strings.Split(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, to := dayOf(first), dayOf(last)
		if from < 0 || to < 0 {
			return 0, fmt.Errorf("%w: %q is not a day or a range of days, such as Mon or Mon-Fri", ErrWindow, part)
		}
		for d := from; ; d = (d + 1) % len(dayNames) {
			days |= 1 << d
			if d == to {
				break
			}
		}
	}
	return days, nil
}

func dayOf(name string) int {
	for i, d := range dayNames {
		if d == name {
			return i
		}
	}
	return -1
}

// parseSpan reads hh:mm-hh:mm. An end of 24:00 is the next midnight.
func parseSpan(text string) (begin, end int, err error) {
	from, to, ok := strings.Cut(text, "-")
	begin, errBegin := parseClock(from)
	end, errEnd := parseClock(to)
	if !ok || errBegin != nil || errEnd != nil || begin == minutesPerDay {
		return 0, 0, fmt.Errorf("%w: %q is not a span such as 22:00-06:00", ErrWindow, text)
	}
	return begin, end % minutesPerDay, nil
}

// parseClock reads hh:mm, 00:00 to 24:00, in minutes.
func parseClock(text string) (int, error) {
	if len(text) != len("00:00") || text[2] != ':' {
		return 0, ErrWindow
	}
	hours, errHours := strconv.ParseUint(text[:2], 10, 8)
	minutes, errMinutes := strconv.ParseUint(text[3:], 10, 8)
	if n := int(60*hours + minutes); errHours == nil && errMinutes == nil && minutes < 60 && n <= minutesPerDay {
		return n, nil
	}
	return 0, ErrWindow
}

// String returns the days in the form that Parse reads.
func (d Days) String() string {
	var parts []string
	for i := 0; i < len(dayNames); i++ {
		if d&(1<<i) == 0 {
			continue
		}
		last := i
		for last+1 < len(dayNames) && d&(1<<(last+1)) != 0 {
			last++
		}
		switch {
		case last == i:
			parts = append(parts, dayNames[i])
		case last == i+1:
			parts = append(parts, dayNames[i], dayNames[last])
		default:
			parts = append(parts, dayNames[i]+"-"+dayNames[last])
		}
		i = last
	}
	return strings.Join(parts, ",")
}

// String returns the window in the form that Parse reads.
func (w Window) String() string {
	return fmt.Sprintf("%v %02d:%02d-%02d:%02d %s", w.Days, w.Begin/60, w.Begin%60, w.End/60, w.End%60, w.Name)
}

// String returns the windows with semicolons between them.
func (l Windows) String() string {
	texts := make([]string, len(l))
	for i, w := range l {
		texts[i] = w.String()
	}
	return strings.Join(texts, "; ")
}
