package boottime

import (
	"golang.org/x/sys/windows"

	"github.com/wandertoken/wander/protocol/clock"
)

// now ticks every 10 to 16 ms, which is fine enough for deadlines.
func now() clock.Instant { return clock.Instant(windows.DurationSinceBoot()) }

func bootID() string { return "" }

func newSystemTimer(clock.Instant) systemTimer { return nil }
