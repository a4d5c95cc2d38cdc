// Package window says when a resource is open: its windows are spans of the local day on some days of the week, in a time zone.
//
//	w, err := window.Parse("Mon-Fri 22:00-06:00 Europe/Rome", lookup) // from the group's file
//	open := window.Windows{w}.Open(now)
//	at, ok := window.Windows{w}.NextChange(now)
//
// A time zone is a rule and not a place: the text of a POSIX TZ variable (RFC 8536, section 3.3.1), such as
// "CET-1CEST,M3.5.0,M10.5.0/3". So members need no database of time zones, and all of them compute the same. The name that the
// operator wrote is kept beside it, for people.
//
// A window is open at an instant if the local clock shows a day and a minute of it then. Where the local clock is set forward, the
// minutes that it skips are not shown: a window that lies in them does not open that day, and one that begins in them opens when
// they are over. Where it is set back, it shows minutes twice, and they count both times.
package window
