package cluster

import (
	"maps"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/wire"
)

const (
	// dialTime is how long a dial takes that fails.
	dialTime = 2 * time.Second
	// maxWaiting bounds the frames that wait for a connection, as the daemon's
	// queues are bounded.
	maxWaiting = 64
	// meetAgain is how often a member that has no connection looks for one.
	meetAgain = time.Second
)

// ending is how a connection ended, as its ends see it.
type ending uint8

const (
	orderly ending = iota // it was closed
	silent                // nothing came any more, however long one waited
	failed                // it broke, which says nothing about who was at the other end
)

// input is what an end tells its member.
func (e ending) input(peer ident.Member) member.Input {
	if e == orderly {
		return member.Disconnected{Peer: peer}
	}
	return member.Unreachable{Peer: peer, Silent: e == silent}
}

// conn is a connection between two members, as long as both think so.
type conn struct {
	ends    [2]*node
	broken  bool
	helloAt [2]time.Duration // nothing that an end has sent arrives earlier
	usedAt  time.Duration    // when the last message was sent
	bytes   int              // of all messages since the last look
}

func (k *conn) other(n *node) (int, *node) {
	if k.ends[0] == n {
		return 0, k.ends[1]
	}
	return 1, k.ends[0]
}

// send hands a message to the network.
func (n *node) send(to ident.Member, m wire.Message) {
	body, err := wire.Encode(m)
	if err != nil {
		n.c.problem(Machinery, n, "message not encoded: %v", err)
		return
	}
	if n.c.manual && isGossip(m.Type()) {
		return // the scripts are about handoffs
	}
	if t := n.c.tracer; t != nil && !t.hides(m.Type()) {
		n.c.log(n, "send %s to %s", t.message(m), t.member(to))
	}
	n.c.count.messages++
	if k := n.conns[to]; k != nil {
		n.c.transmit(k, n, body, m.Type())
		return
	}
	if n.c.manual {
		n.c.log(n, "has no connection to %s", n.c.tracer.member(to))
		n.put(member.Unreachable{Peer: to, Silent: true})
		return
	}
	queue, dialling := n.waiting[to]
	if len(queue) < maxWaiting {
		n.waiting[to] = append(queue, body)
	}
	if !dialling {
		n.dial(to)
	}
}

// dial tries to reach a member.
func (n *node) dial(to ident.Member) {
	if n.waiting[to] == nil {
		n.waiting[to] = [][]byte{}
	}
	target := n.c.find(to)
	life := n.life
	reach := func() bool {
		return target != nil && target.member != nil && !target.asleep && n.locates(target) && !n.c.cuts.between(n, target)
	}
	refused := func() bool {
		return n.c.net.refused > 0 && target != nil && target.member == nil && n.locates(target) && !n.c.cuts.between(n, target)
	}
	wait := dialTime
	if refused() {
		wait = n.c.net.refused
	}
	if reach() {
		wait = 2*n.c.net.delay + n.c.exponential(n.c.net.jitter)
	}
	n.after(wait, func() {
		if n.life != life || n.member == nil {
			return
		}
		queue := n.waiting[to]
		delete(n.waiting, to)
		k := n.conns[to] // the other one may have been quicker
		if k == nil && !reach() {
			n.c.log(n, "cannot reach %s", n.c.name(to))
			n.put(member.Unreachable{Peer: to, Silent: true, Absent: refused()})
			return
		}
		if reach() && (k == nil || k.broken) {
			k = n.c.connect(n, target)
		}
		for _, body := range queue {
			if n.member != nil && n.conns[to] == k {
				kind, _ := wire.PeekType(body)
				n.c.transmit(k, n, body, kind)
			}
		}
	})
}

// locates reports whether a member knows where another one is: by its endpoint
// record, or from the operator.
func (n *node) locates(o *node) bool {
	return o.address != "" && (slices.Contains(n.known(), o) || slices.Contains(n.member.Addresses(o.id), o.address))
}

// known are the members whose addresses the operator has given to this one.
func (n *node) known() []*node {
	if n.contacts != nil {
		return n.contacts
	}
	return n.c.nodes
}

// find is the node that answers for a member.
func (c *cluster) find(id ident.Member) *node {
	var found *node
	for _, n := range c.byID[id] {
		if found == nil || found.member == nil {
			found = n
		}
	}
	return found
}

// connect opens a connection. It takes the place of one that an end has with
// the other's id.
func (c *cluster) connect(a, b *node) *conn {
	k := &conn{ends: [2]*node{a, b}, usedAt: c.now}
	for _, n := range k.ends {
		_, peer := k.other(n)
		if old := n.conns[peer.id]; old != nil {
			c.breakOff(old, orderly)
			n.detach(old, orderly)
		}
	}
	if a.member == nil || b.member == nil { // the end of the old one ended a process
		k.broken = true
		return k
	}
	for _, n := range k.ends {
		_, peer := k.other(n)
		n.conns[peer.id] = k
	}
	c.log(a, "connects with %s", b.name)
	c.closeWhenIdle(k)
	for _, n := range [2]*node{b, a} {
		_, peer := k.other(n)
		if n.conns[peer.id] == k {
			n.put(member.Connected{Certificate: peer.certificate})
		}
	}
	return k
}

// closeWhenIdle closes a connection on which nothing is sent for long, but not that of
// a member that only dials out.
func (c *cluster) closeWhenIdle(k *conn) {
	if c.net.idle == 0 || k.ends[0].dialsOut || k.ends[1].dialsOut {
		return
	}
	c.after(k.usedAt+c.net.idle-c.now, func() {
		switch {
		case k.broken:
		case c.now-k.usedAt >= c.net.idle:
			c.breakOff(k, orderly)
		default:
			c.closeWhenIdle(k)
		}
	})
}

// breakOff ends a connection. Each end finds out at a time of its own.
func (c *cluster) breakOff(k *conn, how ending) {
	if k.broken {
		return
	}
	k.broken = true
	c.count.broken++
	for _, n := range k.ends {
		if c.manual {
			continue // the script says when
		}
		life := n.life
		n.after(c.random(c.net.notice), func() {
			if n.life == life {
				n.detach(k, how)
			}
		})
	}
}

// detach tells a member that a connection is over.
func (n *node) detach(k *conn, how ending) {
	_, peer := k.other(n)
	if n.member == nil || n.conns[peer.id] != k {
		return
	}
	delete(n.conns, peer.id)
	n.put(how.input(peer.id))
	n.meetLater(n.c.net.rest)
}

// expel hands a revoked member its revocation as the last thing that it hears here.
func (n *node) expel(e effect.Expel) {
	k := n.conns[e.Member]
	if k == nil {
		return
	}
	body, err := wire.Encode(&wire.Revocations{Revocations: [][]byte{e.Revocation}})
	must(err)
	_, peer := k.other(n)
	delete(n.conns, peer.id)
	n.c.log(n, "expels %s", peer.name)
	life := peer.life
	n.c.after(n.c.net.delay, func() {
		switch {
		case peer.life != life || peer.member == nil:
		case n.c.cuts.stop(n, peer) || peer.asleep:
			n.c.breakOff(k, silent)
		default:
			if !k.broken {
				peer.put(member.Received{From: n.id, Body: body})
			}
			k.broken = true
			peer.detach(k, orderly)
		}
	})
}

// hangUp ends every connection of a member whose process has ended.
func (n *node) hangUp(how ending) {
	for _, k := range n.links() {
		n.c.breakOff(k, how)
	}
	n.conns, n.waiting = nil, nil
}

// links are the connections of a member, in the order of the peers' ids.
func (n *node) links() []*conn {
	list := make([]*conn, 0, len(n.conns))
	for _, id := range slices.SortedFunc(maps.Keys(n.conns), ident.Member.Compare) {
		list = append(list, n.conns[id])
	}
	return list
}

// meetSomebody dials members at random until there is a connection: the
// bootstrap of a daemon.
func (n *node) meetSomebody() {
	if n.member == nil || len(n.conns) > 0 || n.c.manual {
		return
	}
	if list := n.known(); len(list) > 0 {
		o := list[n.c.rng.IntN(len(list))]
		if _, dialling := n.waiting[o.id]; !dialling && o != n {
			n.dial(o.id)
		}
	}
	n.meetLater(meetAgain + n.c.random(meetAgain))
}

// meetLater looks for somebody after a while, unless that is planned already.
func (n *node) meetLater(wait time.Duration) {
	if wait == 0 {
		n.meetSomebody()
		return
	}
	if n.meets == n.life {
		return
	}
	life := n.life
	n.meets = life
	n.after(wait, func() {
		if n.life == life {
			n.meets = 0
			n.meetSomebody()
		}
	})
}
