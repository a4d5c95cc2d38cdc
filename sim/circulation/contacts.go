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

// meet notes that a member sends another one something.
func (c *contacts) meet(a, b int32, now clock.Instant, traffic *Traffic) {
	pair := [2]int32{min(a, b), max(a, b)}
	last, known := c.used[pair]
	if !known || now.Sub(last) > c.idle {
		traffic.Connections++
		traffic.Connected += c.idle
	} else {
		traffic.Connected += now.Sub(last)
	}
	c.used[pair] = now
	if len(c.used) > c.sweep {
		c.forget(now)
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
