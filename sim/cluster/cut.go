package cluster

import (
	"slices"
	"time"
)

// silence is how long a daemon waits for a sign of life from the other end of a
// connection before it takes it for broken: the transport's DefaultSilence, which
// a test holds it to.
const silence = 4 * time.Second

// idleTimeout is how long a daemon keeps a connection on which nothing is sent:
// the transport's DefaultIdleTimeout.
const idleTimeout = 30 * time.Second

// cut is a line through the network. Those inside reach each other, and so do
// those outside, but nothing gets across, or only in one direction. No connection
// can be made across it, and one that was there ends: it takes both directions.
type cut struct {
	inside map[*node]bool
	way    way
}

// way is what gets through a cut.
type way uint8

const (
	closed  way = iota // nothing
	inward             // what goes to those inside
	outward            // what comes from them
)

func (x *cut) parts(a, b *node) bool { return x.inside[a] != x.inside[b] }

// stops reports whether the line is in the way from one member to another.
func (x *cut) stops(from, to *node) bool {
	return x.parts(from, to) && (x.way == closed || x.inside[from] == (x.way == inward))
}

// cuts are the lines that there are now.
type cuts []*cut

// between reports whether there is a line between two members, so that neither can
// dial the other.
func (l cuts) between(a, b *node) bool {
	return slices.ContainsFunc(l, func(x *cut) bool { return x.parts(a, b) })
}

// stop reports whether a line is in the way from one member to another.
func (l cuts) stop(from, to *node) bool {
	return slices.ContainsFunc(l, func(x *cut) bool { return x.stops(from, to) })
}

// separate draws a line around some members. A connection across it is taken
// for broken after so long, unless the line is gone by then.
func (c *cluster) separate(inside []*node, noticed time.Duration) *cut {
	return c.part(&cut{inside: make(map[*node]bool)}, inside, noticed)
}

func (c *cluster) part(x *cut, inside []*node, noticed time.Duration) *cut {
	for _, n := range inside {
		x.inside[n] = true
		c.log(n, "is cut off")
	}
	c.cuts = append(c.cuts, x)
	c.count.cuts++
	across := c.nodes.across(x)
	c.after(noticed, func() {
		if !slices.Contains(c.cuts, x) {
			return
		}
		for _, k := range across {
			c.breakOff(k, silent)
		}
	})
	return x
}

// across are the connections that a line goes through.
func (l crowd) across(x *cut) (list []*conn) {
	for _, n := range l {
		for _, k := range n.links() {
			if x.parts(k.ends[0], k.ends[1]) {
				list = append(list, k)
			}
		}
	}
	return list
}

// heal takes a line away.
func (c *cluster) heal(x *cut) {
	i := slices.Index(c.cuts, x)
	if i < 0 {
		return
	}
	c.cuts = append(c.cuts[:i:i], c.cuts[i+1:]...)
	for _, n := range c.nodes {
		if len(x.inside) > 1 || x.inside[n] {
			c.walk.here(n)
		}
	}
	c.log(nil, "a cut heals")
}
