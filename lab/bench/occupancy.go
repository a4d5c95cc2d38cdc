package main

import (
	"sync"
	"time"
)

// occupancy notes, by one clock, when operations run anywhere in the group. It
// counts between open and close, and is safe for concurrent use.
type occupancy struct {
	mu      sync.Mutex
	opened  time.Time // zero: nothing is counted
	running int
	since   time.Time // when running was changed last
	ended   time.Time // when the last one of all that ran had ended; zero: not since open

	operations    int
	idle, overlap time.Duration // with none, and with more than one
	gaps          []float64     // seconds from the end of an operation to the start of the next
}

// open begins to count.
func (o *occupancy) open(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.opened, o.since = now, now
}

// close ends it, and says how long it was.
func (o *occupancy) close(now time.Time) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pass(now)
	took := now.Sub(o.opened)
	o.opened = time.Time{}
	return took
}

// begin notes the start of an operation.
func (o *occupancy) begin(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pass(now)
	if o.running == 0 && !o.ended.IsZero() && !o.opened.IsZero() {
		o.gaps = append(o.gaps, now.Sub(o.ended).Seconds())
	}
	o.running++
}

// end notes the end of one.
func (o *occupancy) end(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pass(now)
	if o.running--; o.opened.IsZero() {
		return
	}
	o.operations++
	if o.running == 0 {
		o.ended = now
	}
}

// pass counts the time up to now. Needs mu.
func (o *occupancy) pass(now time.Time) {
	if o.opened.IsZero() {
		return
	}
	switch span := now.Sub(o.since); {
	case o.running == 0:
		o.idle += span
	case o.running > 1:
		o.overlap += span
	}
	o.since = now
}
