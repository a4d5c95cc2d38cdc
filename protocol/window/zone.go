package window

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"
)

// MaxZone bounds the text of a zone and its name, in bytes: the longest rule of the database of time zones has 51, the longest
// name 32.
const MaxZone = 64

// The ranges of RFC 8536, section 3.3.1.
const (
	maxOffsetHours = 24
	maxRuleHours   = 167
	minAbbreviated = 3 // letters of an abbreviation
)

// ErrZone says that a text is no time zone: not the rule of a POSIX TZ variable, or too long.
var ErrZone = errors.New("invalid time zone")

// Zone is a time zone: an offset from UTC, and perhaps another one for a part of each year. The zero value is UTC.
type Zone struct {
	text               string
	standard, daylight int       // seconds east of UTC
	names              [2]string // of standard and daylight saving time
	begins, ends       rule
	changes            bool // there is a daylight saving time
}

// ruleKind says how a rule counts days.
type ruleKind uint8

const (
	byWeek       ruleKind   = iota // Mm.w.d
	byJulian                       // Jn: 1 to 365, without 29 February
	byDayOfYear                    // n: 0 to 365
	defaultClock = 2 * 3600        // of a rule without a time
)

// rule is the moment of a year at which the offset changes.
type rule struct {
	kind             ruleKind
	month, week, day int
	seconds          int // of the local day, which may be before or after that day
}

// utc is the zone without an offset.
var utc = Zone{text: "UTC0", names: [2]string{"UTC"}}

// String returns the rule as it was written.
func (z Zone) String() string {
	if z.text == "" {
		return utc.text
	}
	return z.text
}

// fixed is the zone that is so far east of UTC, in minutes.
func fixed(minutes int) (Zone, error) {
	sign, back, m := '+', "-", minutes
	if m < 0 {
		sign, back, m = '-', "", -m
	}
	text := fmt.Sprintf("<%c%02d%02d>%s%d", sign, m/60, m%60, back, m/60)
	if m%60 != 0 {
		text += fmt.Sprintf(":%02d", m%60)
	}
	return ParseZone(text)
}

// ParseZone reads the rule of a POSIX TZ variable, with the longer times of RFC 8536. A zone with a daylight saving time
// has to say when it begins and ends. Error: ErrZone.
func ParseZone(text string) (Zone, error) {
	if len(text) > MaxZone {
		return Zone{}, fmt.Errorf("%w: %d bytes, permitted are %d", ErrZone, len(text), MaxZone)
	}
	r := reader{rest: text}
	z := Zone{text: text}
	z.names[0] = r.abbreviation()
	z.standard = -r.clock(maxOffsetHours)
	if !r.bad && r.rest != "" {
		z.changes, z.daylight = true, z.standard+3600
		z.names[1] = r.abbreviation()
		if !r.bad && !strings.HasPrefix(r.rest, ",") {
			z.daylight = -r.clock(maxOffsetHours)
		}
		z.begins, z.ends = r.rule(), r.rule()
	}
	if r.bad || r.rest != "" {
		return Zone{}, fmt.Errorf("%w: %q is no rule such as CET-1CEST,M3.5.0,M10.5.0/3", ErrZone, text)
	}
	return z, nil
}

// Offset returns by how many seconds the local clock is ahead of UTC at an instant.
func (z Zone) Offset(at time.Time) int {
	offset, _ := z.at(at)
	return offset
}

// Local returns an instant as the local clock shows it.
func (z Zone) Local(at time.Time) time.Time {
	offset, name := z.at(at)
	return at.In(time.FixedZone(name, offset))
}

// at is by how many seconds the local clock is ahead of UTC, and the name of its time.
func (z Zone) at(at time.Time) (offset int, name string) {
	standard := cmp.Or(z.names[0], "UTC")
	if !z.changes {
		return z.standard, standard
	}
	now := at.Unix()
	offset, name = z.standard, standard
	last := int64(-1) << 62
	for year := at.UTC().Year() - 1; year <= at.UTC().Year()+1; year++ {
		// An end that is the next beginning changes nothing, so the beginning comes last.
		if t := z.ends.in(year) - int64(z.daylight); t <= now && t >= last {
			last, offset, name = t, z.standard, standard
		}
		if t := z.begins.in(year) - int64(z.standard); t <= now && t >= last {
			last, offset, name = t, z.daylight, z.names[1]
		}
	}
	return offset, name
}

// changesIn are the instants of a year at which the offset of a zone that has two may change, in seconds since 1970.
func (z Zone) changesIn(year int) [2]int64 {
	return [2]int64{z.begins.in(year) - int64(z.standard), z.ends.in(year) - int64(z.daylight)}
}

// in is the moment in a year, in seconds since 1970 by the local clock.
func (r rule) in(year int) int64 {
	var day time.Time
	switch r.kind {
	case byJulian:
		day = time.Date(year, 1, r.day, 0, 0, 0, 0, time.UTC)
		if leap := time.Date(year, 2, 29, 0, 0, 0, 0, time.UTC).Month() == time.February; leap && r.day >= 60 {
			day = day.AddDate(0, 0, 1)
		}
	case byDayOfYear:
		day = time.Date(year, 1, 1+r.day, 0, 0, 0, 0, time.UTC)
	default:
		first := time.Date(year, time.Month(r.month), 1, 0, 0, 0, 0, time.UTC)
		day = first.AddDate(0, 0, (r.day-int(first.Weekday())+7)%7+7*(r.week-1))
		for day.Month() != first.Month() { // the fifth one of a month that has four is the last one
			day = day.AddDate(0, 0, -7)
		}
	}
	return day.Unix() + int64(r.seconds)
}

// reader reads the parts of a rule. Once something is not as expected, it is bad for good.
type reader struct {
	rest string
	bad  bool
}

// take takes a byte if it comes next.
func (r *reader) take(c byte) bool {
	if r.rest == "" || r.rest[0] != c {
		return false
	}
	r.rest = r.rest[1:]
	return true
}

// want takes a byte that has to come next.
func (r *reader) want(c byte) { r.bad = !r.take(c) || r.bad }

// abbreviation reads the name of a time, such as CEST or <+0330>.
func (r *reader) abbreviation() (name string) {
	quoted := r.take('<')
	n := 0
	for n < len(r.rest) && (isLetter(r.rest[n]) || quoted && (isDigit(r.rest[n]) || r.rest[n] == '+' || r.rest[n] == '-')) {
		n++
	}
	r.bad = r.bad || n < minAbbreviated
	name, r.rest = r.rest[:n], r.rest[n:]
	if quoted {
		r.want('>')
	}
	return name
}

// number reads a number of at most three digits.
func (r *reader) number(low, high int) int {
	n, digits := 0, 0
	for digits < len(r.rest) && digits < 3 && isDigit(r.rest[digits]) {
		n = 10*n + int(r.rest[digits]-'0')
		digits++
	}
	r.rest = r.rest[digits:]
	r.bad = r.bad || digits == 0 || n < low || n > high
	return n
}

// clock reads [+|-]hh[:mm[:ss]], in seconds.
func (r *reader) clock(hours int) int {
	sign := 1
	if r.take('-') {
		sign = -1
	} else {
		r.take('+')
	}
	seconds := 3600 * r.number(0, hours)
	if r.take(':') {
		seconds += 60 * r.number(0, 59)
		if r.take(':') {
			seconds += r.number(0, 59)
		}
	}
	return sign * seconds
}

// rule reads a comma and the moment of a change.
func (r *reader) rule() rule {
	r.want(',')
	x := rule{seconds: defaultClock}
	switch {
	case r.take('M'):
		x.month = r.number(1, 12)
		r.want('.')
		x.week = r.number(1, 5)
		r.want('.')
		x.day = r.number(0, 6)
	case r.take('J'):
		x.kind, x.day = byJulian, r.number(1, 365)
	default:
		x.kind, x.day = byDayOfYear, r.number(0, 365)
	}
	if r.take('/') {
		x.seconds = r.clock(maxRuleHours)
	}
	return x
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
