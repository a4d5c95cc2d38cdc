package circulation

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
)

// contacts are the connections between members: each lives for a while after it
// was last used. Members that are gone close none.
type contacts struct {
	idle  time.Duration // how long; 0: nothing is counted
	used  map[[2]int32]clock.Instant
	sweep int
}

func newContacts(idle time.Duration) contacts {
	return contacts{idle: idle, used: map[[2]int32]clock.Instant{}, sweep: 64}
}

// meet notes that two members send each other something.
func (w *Simulation) meet(a, b int32) {
	c := &w.contacts
	if c.idle == 0 || a == b {
		return
	}
	pair := [2]int32{min(a, b), max(a, b)}
	last, known := c.used[pair]
	if !known || w.now.Sub(last) > c.idle {
		w.traffic.Connections++
		w.traffic.Connected += c.idle
	} else {
		w.traffic.Connected += w.now.Sub(last)
	}
	c.used[pair] = w.now
	if len(c.used) > c.sweep {
		c.forget(w.now)
	}
}

// forget removes the connections that are closed.
func (c *contacts) forget(now clock.Instant) {
	for pair, last := range c.used {
		if now.Sub(last) > c.idle {
			delete(c.used, pair)
		}
	}
	c.sweep = max(64, 2*len(c.used))
}
