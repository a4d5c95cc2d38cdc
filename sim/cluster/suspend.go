package cluster

import (
	"time"

	"github.com/wandertoken/wander/protocol/member"
)

// wakingTime is the longest until a program that should have ended while its
// machine slept is ended: its killer wakes up at the same instant.
const wakingTime = 50 * time.Millisecond

// suspend puts a machine to sleep. Its boot clock goes on; neither its member nor
// the programs on it see anything, and what is sent to it is lost.
func (c *cluster) suspend(n *node, d time.Duration) {
	for _, p := range c.running {
		if p.node == n {
			c.ran.add(p, c.now)
		}
	}
	during := n.sleep()
	c.log(n, "is suspended for %v", d)
	c.gates.misses(n)
	c.after(silence, func() {
		if during() {
			for _, k := range n.links() {
				c.breakOff(k, silent)
			}
		}
	})
	c.after(d, func() {
		if during() {
			c.wake(n)
		}
	})
}

// wake lets a machine go on.
func (c *cluster) wake(n *node) {
	if !n.asleep {
		return
	}
	c.log(n, "wakes up")
	for _, p := range c.running {
		if p.node == n {
			c.ran.add(p, c.now)
			p.since = c.now
		}
	}
	n.asleep, n.wokeAt = false, c.now
	n.put(member.Late{By: c.now - n.sleptAt})
	c.walk.here(n)
	list := n.deferred
	n.deferred = nil
	for _, do := range list {
		n.whenAwake(do)
	}
}
