package cluster

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
)

// bootClock is the boot clock of a machine when it has just started.
const bootClock = clock.Instant(10 * time.Second)

// machine is what a member runs on: its boot clock, and its sleep.
type machine struct {
	time  *virtual
	boots uint64        // how often it was started
	upAt  time.Duration // when it was started last

	asleep   bool          // it is suspended
	naps     int           // how often it was
	sleptAt  time.Duration // when it last began
	wokeAt   time.Duration // when it last woke up
	deferred []func()      // what it does then
}

// boot starts the machine, not the member.
func (m *machine) boot() {
	m.boots++
	m.upAt, m.asleep, m.deferred = m.time.now, false, nil
}

// instant is a virtual time on the machine's clock.
func (m *machine) instant(at time.Duration) clock.Instant {
	return bootClock + clock.Instant(at-m.upAt)
}

// virtual is the virtual time of an instant on the machine's clock.
func (m *machine) virtual(at clock.Instant) time.Duration {
	return m.upAt + time.Duration(at-bootClock)
}

// reading is what both clocks show, the wall clock wrong by so much.
func (m *machine) reading(skew time.Duration) clock.Reading {
	return clock.Reading{Boot: m.instant(m.time.now), Wall: epoch.Add(m.time.now + skew)}
}

// after plans something that the machine does. While it sleeps nothing is done: what
// has come due is done when it wakes up, in the order in which it was due.
func (m *machine) after(d time.Duration, do func()) {
	m.time.after(d, func() { m.whenAwake(do) })
}

func (m *machine) whenAwake(do func()) {
	if m.asleep {
		m.deferred = append(m.deferred, do)
		return
	}
	do()
}

// sleep begins a nap. during reports whether it lasts.
func (m *machine) sleep() (during func() bool) {
	m.asleep, m.sleptAt = true, m.time.now
	m.naps++
	nap := m.naps
	return func() bool { return m.asleep && m.naps == nap }
}
