// Package await is how tests of real processes and connections wait for what comes
// sooner or later.
package await

import (
	"testing"
	"time"
)

// patience is for how long a test looks before it fails; it decides nothing else. It
// is counted in looks, not by the clock as testify's Eventually has it: while the
// machine is busy with others, or asleep, what is waited for does not get on either.
const patience = 2 * time.Minute

// pause is the usual one between two looks.
const pause = 2 * time.Millisecond

// Until looks again and again until something holds, and fails the test when that
// never happens. Like t.FailNow it is for the test's own goroutine.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	if !Holds(pause, holds) {
		t.Fatal("never happened: " + what)
	}
}

// Holds looks with this pause (above zero) between two looks, and reports whether
// something held in the end.
func Holds(pause time.Duration, holds func() bool) bool {
	for range patience / pause {
		if holds() {
			return true
		}
		time.Sleep(pause)
	}
	return holds()
}

// Next is what comes next from a channel, or the zero value when that is closed. The
// test fails when nothing ever comes. Like t.FailNow it is for the test's own
// goroutine.
func Next[T any](t testing.TB, what string, c <-chan T) (v T) {
	t.Helper()
	for range patience / pause {
		select {
		case v = <-c:
			return v
		case <-time.After(pause):
		}
	}
	t.Fatal("never came: " + what)
	return v
}
