package window_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/window"
)

var errUnknown = errors.New("unknown zone")

// rules are those of some places, as the database of time zones had them in 2026. What the law says later makes no difference here.
var rules = map[string]string{
	"Europe/Rome":         "CET-1CEST,M3.5.0,M10.5.0/3",
	"Europe/London":       "GMT0BST,M3.5.0/1,M10.5.0",
	"America/New_York":    "EST5EDT,M3.2.0,M11.1.0",
	"America/Santiago":    "<-04>4<-03>,M9.1.6/24,M4.1.6/24",
	"America/St_Johns":    "NST3:30NDT,M3.2.0,M11.1.0",
	"America/Havana":      "CST5CDT,M3.2.0/0,M11.1.0/1",
	"Australia/Sydney":    "AEST-10AEDT,M10.1.0,M4.1.0/3",
	"Australia/Lord_Howe": "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
	"Pacific/Chatham":     "<+1245>-12:45<+1345>,M9.5.0/2:45,M4.1.0/3:45",
	"Asia/Kolkata":        "IST-5:30",
	"Asia/Jerusalem":      "IST-2IDT,M3.4.4/26,M10.5.0",
	"Asia/Beirut":         "EET-2EEST,M3.5.0/0,M10.5.0/0",
	"Europe/Dublin":       "IST-1GMT0,M10.5.0,M3.5.0/1",
	"America/Nuuk":        "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
	"Asia/Gaza":           "EET-2EEST,M3.4.4/50,M10.4.4/50",
	"Julian":              "AAA3BBB,J60/1,J300",
	"Numbered":            "AAA-9BBB,59,300/30",
}

func lookup(name string) (window.Zone, error) {
	if text, ok := rules[name]; ok {
		return window.ParseZone(text)
	}
	return window.Zone{}, errUnknown
}

func parse(t require.TestingT, text string) window.Window {
	w, err := window.Parse(text, lookup)
	require.NoError(t, err, text)
	return w
}

func at(t require.TestingT, text string) time.Time {
	when, err := time.Parse(time.RFC3339, text)
	require.NoError(t, err)
	return when
}

func TestParseZone_Invalid_Refused(t *testing.T) {
	for _, text := range []string{
		"", "CET", "C-1", "-1", "CET-1CEST", "CET-25", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0",
		"CET-1CEST,M3.0.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,M3.5.0/168,M10.5.0", "CET-1CEST,J0,J365", "CET-1CEST,J1,J366",
		"CET-1CEST,366,0", "CET-1 ", "CET-1CEST,M3.5.0,M10.5.0,", "<+01-1", "<é>-1", "CET-1:60", "CET-0001", "CET-1CEST,M3.5.0,M10.5.0/3x",
		strings.Repeat("C", window.MaxZone) + "-1", ":Europe/Rome", "CET-1CEST;M3.5.0;M10.5.0",
	} {
		_, err := window.ParseZone(text)
		assert.ErrorIs(t, err, window.ErrZone, text)
	}
}

// TestZone_AllYearDaylight_OneOffset: RFC 8536, section 3.3.1, has such a rule. Its end is the next beginning.
func TestZone_AllYearDaylight_OneOffset(t *testing.T) {
	z, err := window.ParseZone("XXX-2<+01>-1,0/0,J365/23")
	require.NoError(t, err)
	for when := at(t, "2023-12-25T00:00:00Z"); when.Year() < 2030; when = when.Add(time.Hour) {
		require.Equal(t, 3600, z.Offset(when), when)
	}
}

func TestZone_Zero_IsUTC(t *testing.T) {
	assert.Equal(t, "UTC0", window.Zone{}.String())
	assert.Zero(t, window.Zone{}.Offset(at(t, "2026-07-01T00:00:00Z")))
}

// TestZone_EachRule_AsTheStandardLibrary compares with package time, which has an implementation of its own.
func TestZone_EachRule_AsTheStandardLibrary(t *testing.T) {
	for name, text := range rules {
		t.Run(name, func(t *testing.T) {
			z, err := window.ParseZone(text)
			require.NoError(t, err)
			assert.Equal(t, text, z.String())
			loc := onlyRule(t, text)
			for _, span := range []struct{ from, to int }{{2023, 2029}, {2035, 2039}, {2099, 2105}} { // of leap years 2100 is none
				for when := time.Date(span.from, 12, 25, 0, 0, 0, 0, time.UTC); when.Year() < span.to; when = when.Add(time.Hour - time.Second) {
					_, want := when.In(loc).Zone()
					require.Equal(t, want, z.Offset(when), when)
				}
			}
		})
	}
}

// onlyRule is a location of package time with a rule and nothing else.
func onlyRule(t *testing.T, text string) *time.Location {
	header := func(types, letters byte) string {
		return "TZif2" + strings.Repeat("\x00", 15+19) + string([]byte{types, 0, 0, 0, letters})
	}
	data := []byte(header(1, 4) + "\x00\x00\x00\x00\x00\x00UTC\x00" + header(1, 4) + "\x00\x00\x00\x00\x00\x00UTC\x00\n" + text + "\n")
	loc, err := time.LoadLocationFromTZData(text, data)
	require.NoError(t, err)
	return loc
}

func TestParse_Text_ReadAndWritten(t *testing.T) {
	for _, test := range []struct{ text, back string }{
		{"Mon-Fri 22:00-06:00 Europe/Rome", ""},
		{"Sat,Sun 00:00-24:00 UTC", "Sat,Sun 00:00-00:00 UTC"},
		{"Fri-Mon 01:30-02:00 +05:45", "Mon,Fri-Sun 01:30-02:00 +05:45"},
		{"Sun,Mon,Wed 23:59-00:00 -03:00", "Mon,Wed,Sun 23:59-00:00 -03:00"},
		{"Mon-Sun 08:00-18:00 EST5EDT,M3.2.0,M11.1.0", ""},
	} {
		w := parse(t, test.text)
		if test.back == "" {
			test.back = test.text
		}
		assert.Equal(t, test.back, w.String())
		assert.Equal(t, w, parse(t, w.String()))
	}
	assert.Equal(t, "<+0545>-5:45", parse(t, "Mon 01:00-02:00 +05:45").Zone.String())
	assert.Equal(t, "<-0300>3", parse(t, "Mon 01:00-02:00 -03:00").Zone.String())
	assert.Equal(t, rules["Europe/Rome"], parse(t, "Mon 01:00-02:00 Europe/Rome").Zone.String())
}

func TestParse_Invalid_Refused(t *testing.T) {
	for text, want := range map[string]error{
		"":                             window.ErrWindow,
		"Mon-Fri 22:00-06:00":          window.ErrWindow,
		"Mon-Fri  22:00-06:00 UTC":     window.ErrWindow,
		"mon 22:00-06:00 UTC":          window.ErrWindow,
		"Mon- 22:00-06:00 UTC":         window.ErrWindow,
		"Mon, 22:00-06:00 UTC":         window.ErrWindow,
		"Mon 24:00-06:00 UTC":          window.ErrWindow,
		"Mon 22:00-24:01 UTC":          window.ErrWindow,
		"Mon 22:60-23:00 UTC":          window.ErrWindow,
		"Mon 22:00 UTC":                window.ErrWindow,
		"Mon +2:00-06:00 UTC":          window.ErrWindow,
		"Mon 22:00-06:00 +2":           window.ErrZone,
		"Mon 22:00-06:00 +24:00":       window.ErrZone,
		"Mon 22:00-06:00 ":             window.ErrZone,
		"Mon 22:00-06:00 Rom\u00e9":    window.ErrZone,
		"Mon 22:00-06:00 Europe/Paris": errUnknown,
		"Mon 22:00-06:00 " + strings.Repeat("a", window.MaxZone+1): window.ErrZone,
	} {
		_, err := window.Parse(text, lookup)
		assert.ErrorIs(t, err, want, text)
	}
}

func TestWindow_Impossible_Invalid(t *testing.T) {
	good := window.Window{Days: 1, Begin: 0, End: 1439, Name: "UTC"}
	require.NoError(t, good.Validate())
	for what, edit := range map[string]func(*window.Window){
		"no day": func(w *window.Window) { w.Days = 0 }, "an eighth day": func(w *window.Window) { w.Days = 1 << 7 },
		"before midnight": func(w *window.Window) { w.Begin = -1 }, "after midnight": func(w *window.Window) { w.End = 1440 },
		"no name": func(w *window.Window) { w.Name = "" }, "a space": func(w *window.Window) { w.Name = "a b" },
	} {
		w := good
		edit(&w)
		assert.Error(t, w.Validate(), what)
	}
}

// TestOpen_EachMoment has a night, each end of it, and the nights in which the clock is set.
func TestOpen_EachMoment(t *testing.T) {
	for _, test := range []struct {
		window string
		at     string
		open   bool
	}{
		{"Mon-Fri 22:00-06:00 UTC", "2026-11-27T21:59:59Z", false}, // a Friday
		{"Mon-Fri 22:00-06:00 UTC", "2026-11-27T22:00:00Z", true},
		{"Mon-Fri 22:00-06:00 UTC", "2026-11-28T05:59:59Z", true},
		{"Mon-Fri 22:00-06:00 UTC", "2026-11-28T06:00:00Z", false},
		{"Mon-Fri 22:00-06:00 UTC", "2026-11-28T23:00:00Z", false},
		{"Mon-Fri 22:00-06:00 UTC", "2026-11-30T05:00:00Z", false}, // the night of Sunday
		{"Sun 22:00-06:00 UTC", "2026-11-30T05:00:00Z", true},
		{"Sat 00:00-24:00 UTC", "2026-11-28T23:59:59Z", true},
		{"Sat 00:00-24:00 UTC", "2026-11-29T00:00:00Z", false},
		{"Mon 22:00-06:00 Europe/Rome", "2026-11-30T21:00:00Z", true},
		{"Mon 22:00-06:00 Europe/Rome", "2026-11-30T20:59:59Z", false},
		{"Mon 22:00-06:00 Europe/Rome", "2026-06-29T20:00:00Z", true},
		// 29 March 2026: 02:00 to 03:00 is skipped.
		{"Sun 02:00-02:30 Europe/Rome", "2026-03-29T00:59:59Z", false},
		{"Sun 02:00-02:30 Europe/Rome", "2026-03-29T01:00:00Z", false},
		{"Sun 02:30-04:00 Europe/Rome", "2026-03-29T00:59:59Z", false},
		{"Sun 02:30-04:00 Europe/Rome", "2026-03-29T01:00:00Z", true},
		// 25 October 2026: 02:00 to 03:00 is shown twice.
		{"Sun 02:00-02:30 Europe/Rome", "2026-10-25T00:15:00Z", true},
		{"Sun 02:00-02:30 Europe/Rome", "2026-10-25T00:45:00Z", false},
		{"Sun 02:00-02:30 Europe/Rome", "2026-10-25T01:15:00Z", true},
		{"Sun 02:00-02:30 Europe/Rome", "2026-10-25T01:45:00Z", false},
	} {
		l := window.Windows{parse(t, test.window)}
		assert.Equal(t, test.open, l.Open(at(t, test.at)), "%s at %s", test.window, test.at)
	}
	assert.True(t, window.Windows{}.Open(time.Time{}), "without windows")
}

func TestNextChange_EachKind(t *testing.T) {
	for _, test := range []struct{ windows, from, want string }{
		{"Mon-Fri 22:00-06:00 Europe/Rome", "2026-11-28T12:00:00Z", "2026-11-30T21:00:00Z"},
		{"Mon-Fri 22:00-06:00 Europe/Rome", "2026-11-30T21:00:00Z", "2026-12-01T05:00:00Z"},
		{"Sat 00:00-24:00 UTC;Sun 00:00-12:00 UTC", "2026-11-28T12:00:00Z", "2026-11-29T12:00:00Z"},
		{"Sun 02:00-02:30 Europe/Rome", "2026-03-23T00:00:00Z", "2026-04-05T00:00:00Z"}, // skipped on 29 March
		{"Sun 02:30-04:00 Europe/Rome", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"},
		{"Sun 02:00-02:30 Europe/Rome", "2026-10-25T00:30:00Z", "2026-10-25T01:00:00Z"}, // shown twice
		{"Sat 22:00-04:00 Europe/Rome", "2026-03-28T22:00:00Z", "2026-03-29T02:00:00Z"}, // an hour shorter
		{"Sat 22:00-04:00 Europe/Rome", "2026-10-24T22:00:00Z", "2026-10-25T03:00:00Z"}, // an hour longer
		{"Mon-Sun 00:00-24:00 Europe/Rome", "2026-03-28T12:00:00Z", ""},
		// The beginning of 2026's is on 5 January 2027, at 12:00: the clock skips to 13:00.
		{"Tue 12:30-14:00 AAA0BBB,J365/132,J100", "2027-01-05T00:00:00Z", "2027-01-05T12:00:00Z"},
	} {
		var l window.Windows
		for _, text := range strings.Split(test.windows, ";") {
			l = append(l, parse(t, text))
		}
		got, ok := l.NextChange(at(t, test.from))
		if assert.Equal(t, test.want != "", ok, test.windows) && ok {
			assert.Equal(t, test.want, got.UTC().Format(time.RFC3339), test.windows)
		}
	}
	_, ok := window.Windows{}.NextChange(time.Now())
	assert.False(t, ok)
}

// drawWindows are any windows of a resource.
func drawWindows(t *rapid.T) (l window.Windows) {
	names := append(slices.Sorted(maps.Keys(rules)), "UTC", "+02:00")
	for range rapid.IntRange(1, window.Max).Draw(t, "windows") {
		w := parse(t, "Mon 00:00-01:00 "+rapid.SampledFrom(names).Draw(t, "zone"))
		w.Days = window.Days(rapid.IntRange(1, 127).Draw(t, "days"))
		w.Begin, w.End = rapid.IntRange(0, 1439).Draw(t, "begin"), rapid.IntRange(0, 1439).Draw(t, "end")
		require.NoError(t, w.Validate())
		l = append(l, w)
	}
	return l
}

// drawInstant is any minute of four years, or one in the days before a clock is set.
func drawInstant(t *rapid.T) time.Time {
	if rapid.Bool().Draw(t, "any") {
		return at(t, "2026-01-01T00:00:00Z").Add(time.Duration(rapid.IntRange(0, 4*366*24*60).Draw(t, "minutes")) * time.Minute)
	}
	day := rapid.SampledFrom([]string{"2026-03-08", "2026-03-28", "2026-03-29", "2026-04-04", "2026-09-06", "2026-10-04", "2026-10-25", "2026-11-01"}).Draw(t, "day")
	return at(t, day+"T12:00:00Z").Add(-time.Duration(rapid.IntRange(0, 3*24*60).Draw(t, "minutes")) * time.Minute)
}

// TestNextChange_AnyWindows_FirstChange: nothing changes before the instant that NextChange returns.
func TestNextChange_AnyWindows_FirstChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawWindows(t)
		from := drawInstant(t)
		next, ok := l.NextChange(from)
		until := next
		if !ok {
			until = from.Add(8 * 24 * time.Hour)
		}
		for when := from; when.Before(until); when = when.Add(time.Minute) {
			require.Equal(t, l.Open(from), l.Open(when), "%v: at %v, from %v to %v", l, when, from, next)
		}
		require.Equal(t, ok, l.Open(from) != l.Open(until) && ok)
	})
}

// TestHours_EachKind has hours of operations that take ten minutes.
func TestHours_EachKind(t *testing.T) {
	never := time.Time{}
	for _, test := range []struct {
		windows, at          string
		closed               bool
		opens, closes, until string
	}{
		{"", "2026-11-30T12:00:00Z", false, "", "", ""},
		{"Mon-Sun 00:00-24:00 Europe/Rome", "2026-11-30T12:00:00Z", false, "", "", ""},
		{"Mon 12:00-13:00 UTC", "2026-11-30T11:00:00Z", true, "2026-11-30T12:00:00Z", "", "2026-11-30T12:00:00Z"},
		{"Mon 12:00-13:00 UTC", "2026-11-30T12:00:00Z", false, "", "2026-11-30T13:00:00Z", "2026-11-30T12:50:00.000000001Z"},
		{"Mon 12:00-13:00 UTC", "2026-11-30T12:50:00Z", false, "", "2026-11-30T13:00:00Z", "2026-11-30T12:50:00.000000001Z"},
		{"Mon 12:00-13:00 UTC", "2026-11-30T12:50:00.000000001Z", true, "2026-12-07T12:00:00Z", "2026-11-30T13:00:00Z", "2026-11-30T13:00:00Z"},
		{"Mon 12:00-13:00 UTC", "2026-11-30T13:00:00Z", true, "2026-12-07T12:00:00Z", "", "2026-12-07T12:00:00Z"},
		{"Mon 12:00-13:00 UTC;Mon 13:00-14:00 UTC", "2026-11-30T12:55:00Z", false, "", "2026-11-30T14:00:00Z", "2026-11-30T13:50:00.000000001Z"},
	} {
		var l window.Windows
		for _, text := range strings.Split(test.windows, ";") {
			if text != "" {
				l = append(l, parse(t, text))
			}
		}
		instant := func(text string) time.Time {
			if text == "" {
				return never
			}
			return at(t, text)
		}
		now := at(t, test.at)
		h := l.Hours(now, 10*time.Minute)
		assert.Equal(t, window.Hours{Closed: test.closed, Opens: instant(test.opens), Closes: instant(test.closes), From: now, Until: instant(test.until)}, h,
			"%s at %s", test.windows, test.at)
		assert.True(t, h.Hold(now))
		assert.False(t, h.Hold(now.Add(-1)))
		assert.Equal(t, h.Until.IsZero(), h.Hold(now.AddDate(1, 0, 0)))
		if !h.Until.IsZero() {
			assert.True(t, h.Hold(h.Until.Add(-1)))
			assert.False(t, h.Hold(h.Until))
		}
	}
}

// TestHours_AnyWindows_HoldUntil: an operation may begin at an instant if the windows stay open for as long as it takes, and hours that
// hold are those of each later instant.
func TestHours_AnyWindows_HoldUntil(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawWindows(t)
		operation := time.Duration(rapid.IntRange(1, 90).Draw(t, "operation")) * time.Minute
		from := drawInstant(t)
		h := l.Hours(from, operation)
		open := make([]bool, 5*24*60) // in each minute
		for i := range open {
			open[i] = l.Open(from.Add(time.Duration(i) * time.Minute))
		}
		n := int(operation / time.Minute)
		for i := 0; i+n <= len(open) && h.Hold(from.Add(time.Duration(i)*time.Minute)); i++ {
			require.Equal(t, !slices.Contains(open[i:i+n], false), !h.Closed, "%v: %d minutes after %v, %+v", l, i, from, h)
		}
	})
}

func TestLocal_EachTime_Named(t *testing.T) {
	l := window.Windows{parse(t, "Mon-Fri 22:00-06:00 Europe/Rome"), parse(t, "Sat 22:00-23:00 +05:30")}
	for when, want := range map[string]string{
		"2026-11-30T21:00:00Z": "Mon 22:00 CET", "2026-06-29T20:00:00Z": "Mon 22:00 CEST", "2026-11-28T16:30:00Z": "Sat 22:00 +0530",
		"2026-11-28T12:00:00Z": "Sat 13:00 CET", // both are closed: the first one's
	} {
		assert.Equal(t, want, l.Local(at(t, when)).Format("Mon 15:04 MST"))
	}
	assert.Equal(t, "UTC", window.Windows{}.Local(time.Now()).Location().String())
	assert.Equal(t, "UTC", window.Zone{}.Local(time.Now()).Location().String())
}

func TestNext_Spans_InOrder(t *testing.T) {
	show := func(spans []window.Span) (text []string) {
		for _, s := range spans {
			text = append(text, fmt.Sprint(s.From.UTC().Format("02 15:04"), " ", s.To.UTC().Format("02 15:04")))
		}
		return text
	}
	l := window.Windows{parse(t, "Mon-Fri 22:00-06:00 Europe/Rome")}
	assert.Equal(t, []string{"30 21:00 01 05:00", "01 21:00 02 05:00", "02 21:00 03 05:00"}, show(l.Next(at(t, "2026-11-28T12:00:00Z"), 3)))
	assert.Equal(t, []string{"30 22:00 01 05:00"}, show(l.Next(at(t, "2026-11-30T22:00:00Z"), 1)))
	always := window.Windows{parse(t, "Mon-Sun 00:00-24:00 UTC")}.Next(at(t, "2026-11-30T22:00:00Z"), 3)
	require.Len(t, always, 1)
	assert.True(t, always[0].To.IsZero())
}
