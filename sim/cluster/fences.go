package cluster

import (
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/wandering"
)

// fenced is a resource's slot whose guard keeps the greatest fence that it was shown, and
// refuses each program with a lower one.
type fenced struct {
	greatest uint64
	token    ident.Token // under which that program ran

	locked ident.Token // was refused last, with nobody left who has the token above
	since  uint64      // its hop at that time
}

// fencedSlot names it.
type fencedSlot struct {
	resource string
	slot     uint64
}

// showFence shows a program's fence to the guard of its slot. Who is refused while the
// token of the greatest fence is with somebody is late, as it should be. If nobody has
// that any more, it is the rightful holder that is refused: that may be so until the
// token has been passed on once.
func (c *cluster) showFence(n *node, e effect.Grant) {
	if !c.fencesGrow(n, e.Resource) || c.tainted[e.Token] {
		return
	}
	k := fencedSlot{e.Resource, e.Slot}
	f := c.fences[k]
	if f == nil {
		f = &fenced{}
		c.fences[k] = f
	}
	switch {
	case e.Fence >= f.greatest:
		*f = fenced{greatest: e.Fence, token: e.Token}
		return
	case c.circulates(f.token):
		c.count.refusedLate++
		f.locked = ident.Token{}
		return
	case f.locked != e.Token:
		f.locked, f.since = e.Token, e.Hop
	}
	c.count.refusedRightful++
	if e.Hop > f.since+1 {
		c.count.lockedOut++
		c.log(n, "is locked out: fence %d, the greatest is %d", e.Fence, f.greatest)
	}
}

// fencesGrow reports whether fences of the resource grow over all its tokens: under the
// policies of which the later one of two tokens stays.
func (c *cluster) fencesGrow(n *node, resource string) bool {
	r, ok := n.member.Group().Config().Resource(resource)
	return ok && (r.Policy == catalog.Ring ||
		r.Policy == catalog.Wandering && (r.Preset == wandering.Fair || r.Preset == wandering.Light))
}

// circulates reports whether a member that works has a token, or has passed it on and has
// no answer yet.
func (c *cluster) circulates(t ident.Token) bool {
	for _, n := range c.nodes {
		if n.member == nil || n.asleep {
			continue
		}
		for h, held := range n.guard.ledger.held {
			if held && h.token == t {
				return true
			}
		}
		for _, p := range n.guard.ledger.sent {
			if p.hop.token == t {
				return true
			}
		}
	}
	return false
}
