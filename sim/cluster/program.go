package cluster

import (
	"time"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
)

// killMargin is how long before its deadline a program is killed.
const killMargin = time.Millisecond

// program is a local program that runs under a grant.
type program struct {
	node     *node
	grant    ident.Grant
	token    ident.Token
	resource string
	from     time.Duration
	since    time.Duration // when it began, or its machine last woke up
	ends     time.Duration
	deadline time.Duration
	across   bool // it is the restart of its machine, and so goes on when that starts
}

// demand makes a program ask for a resource.
func (n *node) demand(resource string, maxHold time.Duration) {
	if n.member == nil || n.asleep {
		return
	}
	n.requests++
	request := n.requests
	n.c.log(n, "demand %d for %s", request, resource)
	n.put(member.Demand{Request: request, Resource: resource, MaxHold: maxHold})
	if n.c.chance(0.1) {
		life := n.life
		n.after(n.c.random(10*time.Second), func() {
			if n.life == life {
				n.put(member.Withdraw{Request: request})
			}
		})
	}
}

// isConfigured sees to it that a member grants only what its configuration has at that
// moment. The program may start later, when the grant is durable.
func (n *node) isConfigured(effects []effect.Effect) {
	for _, e := range effects {
		g, ok := e.(effect.Grant)
		if !ok {
			continue
		}
		if r, ok := n.member.Group().Config().Resource(g.Resource); !ok || g.Slot >= uint64(r.Slots) {
			n.c.problem(Exclusion, n, "grant of slot %d of %s, which its configuration lacks", g.Slot, g.Resource)
		}
	}
}

// granted starts a program, unless the deadline has come already.
func (n *node) granted(e effect.Grant) {
	c := n.c
	if c.waiting != nil {
		c.waiting.granted(n, e.Resource)
	}
	deadline := n.virtual(e.Deadline)
	if c.now >= deadline {
		c.log(n, "grant came too late")
		n.put(member.Ended{Grant: e.Grant})
		return
	}
	c.gates.granted(n, e)
	if n.isBad() && !n.bad.kind.runs() {
		c.log(n, "is BAD: pretends that a program runs")
		n.bad.pretends(e)
		return
	}
	if other := c.running[e.Token]; other != nil && !c.tainted[e.Token] {
		c.problem(Exclusion, n, "operation begins while the one of %s runs under the same token", other.node.name)
	}
	c.count.grants++
	p := &program{node: n, grant: e.Grant, token: e.Token, resource: e.Resource, from: c.now, since: c.now, deadline: deadline, across: n.across}
	p.ends = max(deadline-killMargin, c.now)
	if run := c.length(n, e); !c.manual {
		if n.isBad() {
			run = n.bad.kind.lasts(e, run)
		}
		p.ends = min(p.ends, c.now+run)
	}
	c.running[e.Token] = p
	if fencesGrow(n.member.Group().Config(), e.Resource) && !c.tainted[e.Token] {
		if greatest, out := c.fences.show(e, c.nodes.circulates); out {
			c.log(n, "is locked out: fence %d, the greatest is %d", e.Fence, greatest)
		}
	}
	if len(c.running) > 1 {
		c.walk.together++
	}
	c.log(n, "program starts, until %v", p.ends)
	if c.manual {
		return
	}
	silent := c.lasts == nil && c.waiting == nil && c.chance(0.1)
	n.after(p.ends-c.now, func() {
		if c.now == p.ends {
			c.finish(p, silent)
			return
		}
		c.after(c.random(wakingTime), func() { n.whenAwake(func() { c.finish(p, silent) }) })
	})
}

// length is how long a program runs if nothing stops it.
func (c *cluster) length(n *node, e effect.Grant) time.Duration {
	if c.lasts != nil {
		return c.lasts(n)
	}
	return c.random(3 * e.Length / 2)
}

// finish ends a program. Its end is reported to whatever process the member
// has then, or not at all.
func (c *cluster) finish(p *program, silent bool) {
	if c.running[p.token] != p {
		return
	}
	delete(c.running, p.token)
	c.ran.add(p, c.now)
	if late := c.now - p.deadline; late > 0 && c.now-p.node.wokeAt > wakingTime {
		c.problem(Deadlines, p.node, "a program runs %v longer than its grant", late)
	}
	silent = p.node.isBad() && !p.node.bad.kind.ends(p) || silent
	c.log(p.node, "program ends (reported: %v)", !silent)
	if !silent {
		p.node.put(member.Ended{
			Grant: p.grant, Operated: true, SeenFrom: p.node.instant(p.from), SeenTo: p.node.instant(c.now),
		})
	}
}

// killPrograms ends what runs on a machine that stops.
func (c *cluster) killPrograms(n *node) {
	for t, p := range c.running {
		if p.node == n && !p.across {
			delete(c.running, t)
			c.ran.add(p, c.now)
		}
	}
}
