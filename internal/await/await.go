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

// The pause between two looks grows with what has been waited: what comes soon is seen soon,
// and what takes seconds is not asked for hundreds of times a second.
const (
	leastPause = 2 * time.Millisecond
	mostPause  = 20 * time.Millisecond
	pauseShare = 20 // the pause is this part of what has been waited
)

// Until looks again and again until something holds, and fails the test when that
// never happens. Like t.FailNow it is for the test's own goroutine.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for waited := time.Duration(0); waited < patience; {
		if holds() {
			return
		}
		pause := min(max(leastPause, waited/pauseShare), mostPause)
		time.Sleep(pause)
		waited += pause
	}
	if !holds() {
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
	for range patience / leastPause {
		select {
		case v = <-c:
			return v
		case <-time.After(leastPause):
		}
	}
	t.Fatal("never came: " + what)
	return v
}
