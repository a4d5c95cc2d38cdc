// Package window says when a resource is open: its windows are spans of the local day on some days of the week, in a time zone.
//
//	w, err := window.Parse("Mon-Fri 22:00-06:00 Europe/Rome", lookup) // from the group's file
//	open := window.Windows{w}.Open(now)
//	at, ok := window.Windows{w}.NextChange(now)
//	spans := window.Windows{w}.Next(now, 3) // the next openings, for people
//
// A time zone is a rule and not a place: the text of a POSIX TZ variable (RFC 8536, section 3.3.1), such as
// "CET-1CEST,M3.5.0,M10.5.0/3". So members need no database of time zones, and all of them compute the same. The name that the
// operator wrote is kept beside it, for people.
//
// # Time zones
//
// A zone has one offset from UTC, or two: then its rule says at which moments of each year the clocks are set forward
// and back. Such a moment is a day and a time of that day, by the clock that is in force until then:
//
//	M3.5.0      the last (fifth) Sunday of March, at 02:00
//	M10.5.0/3   the last Sunday of October, at 03:00
//	J60         1 March, also of a leap year
//	59          the sixtieth day of the year
//	M3.4.4/50   two days and two hours after the beginning of the fourth Thursday of March
//
// [Zone.Offset] looks at the changes of three years, and takes the last one that has come: no year is special, and a rule whose
// daylight saving time lasts all year needs none of its own.
//
// # What is open
//
// A window is open at an instant if the local clock shows a day and a minute of it then. Where the local clock is set forward, the
// minutes that it skips are not shown: a window that lies in them does not open that day, and one that begins in them opens when
// they are over. Where it is set back, it shows minutes twice, and they count both times.
//
// The windows of a resource are one set of minutes: windows that follow one another, or overlap, do not close in between. NextChange
// looks for the first instant at which that set begins or ends. It divides the days ahead into stretches in which the clock of each
// zone has one offset, and goes from the end of one window to that of the next.
//
// # When operations begin
//
// [Windows.Hours] is the rule for operations of a length (P-91): none begins that would not end before the windows close. Members
// and the simulator of policies both follow it.
//
// # Users
//
// Package group has windows in the signed configuration, packages member and sim/circulation follow them, package audit checks
// journals by them. The rules are P-90 to P-93 in spec/policy/common.md.
package window
