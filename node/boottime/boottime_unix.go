//go:build unix && !linux

package boottime

import (
	"golang.org/x/sys/unix"

	"github.com/wandertoken/wander/protocol/clock"
)

func now() clock.Instant {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic("boottime: " + err.Error())
	}
	return clock.Instant(ts.Nano())
}

func bootID() string { return "" }

func newSystemTimer(clock.Instant) systemTimer { return nil }
