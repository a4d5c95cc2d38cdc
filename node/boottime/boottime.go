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
	"time"

	"github.com/wandertoken/wander/protocol/clock"
)

// pollInterval is how often an alarm looks at the clock where the system has no
// timer that counts suspended time: a Go timer stands still during a suspend,
// so it must not be set for longer than an alarm may come late after a resume.
const pollInterval = 250 * time.Millisecond

// Now is the current reading. Readings of different boots are not comparable:
// see ID.
func Now() clock.Instant { return now() }

// ID names the running boot, so that two processes know whether they speak of
// the same clock. It is empty where the system does not tell.
func ID() string { return bootID() }

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
	case !now().Before(at):
		close(fired)
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
