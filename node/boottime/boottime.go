// Package boottime reads and waits on the clock that grants are measured on: it
// never jumps, and it goes on while the machine is suspended, so that a laptop
// that slept past its deadline finds the deadline passed.
//
// That is CLOCK_BOOTTIME on Linux, CLOCK_MONOTONIC on darwin (which counts
// sleep there) and the biased tick count on Windows. On other systems it is
// CLOCK_MONOTONIC, which may stop during a suspend; nobody should hold grants
// on a machine of theirs that sleeps.
package boottime

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
)

// pollInterval is how often an alarm looks at the clock where the system has no
// timer that counts suspended time: a Go timer stands still during a suspend,
// so it must not be set for longer than an alarm may come late after a resume.
const pollInterval = 250 * time.Millisecond

// virtual is that this process follows the clock of package time: see FollowTime.
var virtual atomic.Bool

// virtualID is the ID of a process that follows package time: of no boot, as its readings can be compared with those of no other process.
const virtualID = "package time"

// FollowTime has this process read and wait on the clock of package time from now on, which a bubble of testing/synctest replaces and no system
// call knows of. It is for tests of programs (package wandertest): that clock stands still while a machine is suspended. Call it before
// anything else reads a clock.
func FollowTime() { virtual.Store(true) }

// Now is the current reading. Readings of different boots are not comparable:
// see ID.
func Now() clock.Instant {
	if virtual.Load() {
		return clock.Instant(time.Now().UnixNano())
	}
	return now()
}

// ID names the running boot, so that two processes know whether they speak of
// the same clock. It is empty where the system does not tell.
func ID() string {
	if virtual.Load() {
		return virtualID
	}
	return bootID()
}

// Alarm fires once, when an instant has come.
type Alarm struct {
	// C is closed when the instant has come. It stays open after Stop.
	C    <-chan struct{}
	quit chan struct{}
	once sync.Once
}

// NewAlarm returns an alarm for the instant at. One that has passed already
// fires at once, and clock.Never does not fire. Release its resources with
// Stop.
func NewAlarm(at clock.Instant) *Alarm {
	fired := make(chan struct{})
	a := &Alarm{C: fired, quit: make(chan struct{})}
	switch {
	case at == clock.Never:
	case !Now().Before(at):
		close(fired)
	case virtual.Load():
		go a.waitVirtual(at.Sub(Now()), fired)
	default:
		a.start(at, fired)
	}
	return a
}

// Stop releases the alarm. It may be called more than once, also after the
// alarm has fired.
func (a *Alarm) Stop() { a.once.Do(func() { close(a.quit) }) }

func (a *Alarm) start(at clock.Instant, fired chan<- struct{}) {
	if t := newSystemTimer(at); t != nil {
		go a.waitSystem(t, fired)
		return
	}
	go a.waitPolling(at, fired)
}

// systemTimer is a timer of the operating system that counts suspended time.
type systemTimer interface {
	// wait returns when the timer has fired (true) or was closed (false).
	wait() bool
	close()
}

func (a *Alarm) waitSystem(t systemTimer, fired chan<- struct{}) {
	done := make(chan bool, 1)
	go func() { done <- t.wait() }()
	select {
	case ok := <-done:
		t.close()
		if ok {
			close(fired)
		}
	case <-a.quit:
		t.close()
		<-done
	}
}

func (a *Alarm) waitVirtual(left time.Duration, fired chan<- struct{}) {
	t := time.NewTimer(left)
	defer t.Stop()
	select {
	case <-t.C:
		close(fired)
	case <-a.quit:
	}
}

func (a *Alarm) waitPolling(at clock.Instant, fired chan<- struct{}) {
	for left := at.Sub(now()); left > 0; left = at.Sub(now()) {
		t := time.NewTimer(min(left, pollInterval))
		select {
		case <-t.C:
		case <-a.quit:
			t.Stop()
			return
		}
	}
	close(fired)
}
