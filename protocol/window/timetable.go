package window

import (
	"slices"
	"time"
)

// stretch is a span of time in which the local clock of a zone has one offset. Instants are seconds since 1970.
type stretch struct{ from, until, offset int64 }

// stretches are those of a zone between two instants, in their order, without gaps.
func (z Zone) stretches(from, until int64) []stretch {
	list := []stretch{{from: from, until: until, offset: int64(z.Offset(time.Unix(from, 0)))}}
	if !z.changes {
		return list
	}
	var changes []int64
	for year := time.Unix(from, 0).UTC().Year() - 1; year <= time.Unix(until, 0).UTC().Year()+1; year++ { // a year's change may come days before or after it
		for _, t := range z.changesIn(year) {
			if t > from && t < until {
				changes = append(changes, t)
			}
		}
	}
	slices.Sort(changes)
	for _, t := range changes {
		last := &list[len(list)-1]
		if offset := int64(z.Offset(time.Unix(t, 0))); offset != last.offset {
			last.until = t
			list = append(list, stretch{from: t, until: until, offset: offset})
		}
	}
	return list
}

// timetable is a window, and how the local clock of its zone runs for some days.
type timetable struct {
	days       Days
	begin, end int64 // seconds since midnight; end is after begin
	stretches  []stretch
}

// timetables are those of all windows between two instants.
func (l Windows) timetables(from, until int64) []timetable {
	list := make([]timetable, len(l))
	for i, w := range l {
		begin := int64(w.Begin) * 60
		list[i] = timetable{days: w.Days, begin: begin, end: begin + int64(w.Length()/time.Second)}
		if i > 0 && w.Zone == l[i-1].Zone {
			list[i].stretches = list[i-1].stretches
		} else {
			list[i].stretches = w.Zone.stretches(from, until)
		}
	}
	return list
}

// openUntil is when the window closes, or the local clock is set, if it is open at an instant, and that instant otherwise.
func (t *timetable) openUntil(now int64) int64 {
	for _, s := range t.stretches {
		if now < s.from || now >= s.until {
			continue
		}
		local := now + s.offset
		today := floor(local)
		for _, midnight := range [...]int64{today, today - secondsPerDay} {
			if t.on(midnight) && midnight+t.begin <= local && local < midnight+t.end {
				return min(midnight+t.end-s.offset, s.until)
			}
		}
	}
	return now
}

// opens is the first instant after one at which the window is closed, and before a limit, at which it is open, or the limit.
func (t *timetable) opens(now, limit int64) int64 {
	for _, s := range t.stretches {
		switch {
		case s.until <= now:
			continue
		case s.from >= limit:
			return limit
		case s.from > now && t.openUntil(s.from) > s.from: // the local clock skips to a minute of the window, or back to one
			return s.from
		}
		local := max(now, s.from) + s.offset
		for midnight := floor(local); midnight+t.begin < min(limit, s.until)+s.offset; midnight += secondsPerDay {
			if t.on(midnight) && midnight+t.begin >= local {
				return midnight + t.begin - s.offset
			}
		}
	}
	return limit
}

// on reports whether the window begins on the local day with this midnight.
func (t *timetable) on(midnight int64) bool {
	const thursday = 3 // the day of the week on which 1970 began, as a bit of Days
	weekday := (midnight/secondsPerDay + thursday) % 7
	return t.days&(1<<((weekday+7)%7)) != 0
}

// floor is the midnight before a local time.
func floor(local int64) int64 {
	n := local / secondsPerDay
	if local%secondsPerDay < 0 {
		n--
	}
	return n * secondsPerDay
}
