// Package clock is how time enters the pure core: as an argument.
//
// Nothing below node/ reads a clock. A driver hands in a Reading with every
// input, and the core answers with the deadline at which it wants to be called
// again.
package clock

import "time"

// Instant is a point on a clock that never jumps and that counts the time a
// machine is suspended (CLOCK_BOOTTIME on Linux), as the span since that
// clock's origin. Instants of different boots are not comparable.
type Instant time.Duration

// Never is an Instant that does not come: the deadline of a machine that waits
// for nothing.
const Never = Instant(1<<63 - 1)

// Add moves the instant by d, saturating at Never.
func (i Instant) Add(d time.Duration) Instant {
	if d > 0 && i > Never-Instant(d) {
		return Never
	}
	return i + Instant(d)
}

// Sub is the span from o to i.
func (i Instant) Sub(o Instant) time.Duration { return time.Duration(i - o) }

// Before reports whether i comes earlier than o.
func (i Instant) Before(o Instant) bool { return i < o }

// Reading is one look at both clocks of a machine.
type Reading struct {
	// Boot drives every timeout, deadline and interval.
	Boot Instant
	// Wall decides certificate validity and stamps what auditors read. A wrong
	// wall clock never stops a token from moving.
	Wall time.Time
}

// Millis is the wall clock in milliseconds since 1970 UTC, the unit in which
// signed objects and journal records carry time. Times before 1970 read as 0.
func (r Reading) Millis() uint64 {
	ms := r.Wall.UnixMilli()
	if ms < 0 {
		return 0
	}
	return uint64(ms)
}

// Micros is the wall clock in microseconds since 1970 UTC, the unit of journal
// records. Times before 1970 read as 0.
func (r Reading) Micros() uint64 {
	return uint64(max(0, r.Wall.UnixMicro()))
}

// Millis is a span of ms milliseconds, saturating at about 292 years.
func Millis(ms uint64) time.Duration {
	return time.Duration(min(ms, uint64(Never)/uint64(time.Millisecond))) * time.Millisecond
}

// FromMillis is the inverse of Reading.Millis.
func FromMillis(ms uint64) time.Time {
	const maxMillis = 1 << 53 // the year 287396: far beyond any certificate
	return time.UnixMilli(int64(min(ms, maxMillis))).UTC()
}
