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

// port is where a member's machine meets the network: its connections, and what waits for one.
type port struct {
	n        *node // whose it is
	conns    map[ident.Member]*conn
	waiting  map[ident.Member][][]byte // frames, by the peer that is being dialled
	meets    uint64                    // the life in which it is going to look for somebody
	contacts []*node                   // whom the operator lets it meet; nil: everybody
}

// send hands a message to the network.
func (p *port) send(to ident.Member, m wire.Message) {
	body, err := wire.Encode(m)
	if err != nil {
		p.n.c.problem(Machinery, p.n, "message not encoded: %v", err)
		return
	}
	if p.n.c.manual && isGossip(m.Type()) {
		return // the scripts are about handoffs
	}
	if t := p.n.c.tracer; t != nil && !t.hides(m.Type()) {
		p.n.c.log(p.n, "send %s to %s", t.message(m), t.member(to))
	}
	p.n.c.count.messages++
	if k := p.conns[to]; k != nil {
		p.n.c.transmit(k, p.n, body, m.Type())
		return
	}
	if p.n.c.manual {
		p.n.c.log(p.n, "has no connection to %s", p.n.c.tracer.member(to))
		p.n.put(member.Unreachable{Peer: to, Silent: true})
		return
	}
	queue, dialling := p.waiting[to]
	if len(queue) < maxWaiting {
		p.waiting[to] = append(queue, body)
	}
	if !dialling {
		p.dial(to)
	}
}

// dial tries to reach a member.
func (p *port) dial(to ident.Member) {
	if p.waiting[to] == nil {
		p.waiting[to] = [][]byte{}
	}
	target := p.n.c.find(to)
	life := p.n.life
	reach := func() bool {
		return target != nil && target.member != nil && !target.asleep && p.locates(target) && !p.n.c.cuts.between(p.n, target)
	}
	refused := func() bool {
		return p.n.c.net.refused > 0 && target != nil && target.member == nil && p.locates(target) && !p.n.c.cuts.between(p.n, target)
	}
	wait := dialTime
	if refused() {
		wait = p.n.c.net.refused
	}
	if reach() {
		wait = 2*p.n.c.net.delay + p.n.c.exponential(p.n.c.net.jitter)
	}
	p.n.after(wait, func() {
		if p.n.life != life || p.n.member == nil {
			return
		}
		queue := p.waiting[to]
		delete(p.waiting, to)
		k := p.conns[to] // the other one may have been quicker
		if k == nil && !reach() {
			p.n.c.log(p.n, "cannot reach %s", p.n.c.name(to))
			p.n.put(member.Unreachable{Peer: to, Silent: true, Absent: refused()})
			return
		}
		if reach() && (k == nil || k.broken) {
			k = p.n.c.connect(p.n, target)
		}
		for _, body := range queue {
			if p.n.member != nil && p.conns[to] == k {
				kind, _ := wire.PeekType(body)
				p.n.c.transmit(k, p.n, body, kind)
			}
		}
	})
}

// locates reports whether a member knows where another one is: by its endpoint
// record, or from the operator.
func (p *port) locates(o *node) bool {
	return o.address != "" && (slices.Contains(p.known(), o) || slices.Contains(p.n.member.Addresses(o.id), o.address))
}

// known are the members whose addresses the operator has given to this one.
func (p *port) known() []*node {
	if p.contacts != nil {
		return p.contacts
	}
	return p.n.c.nodes
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
func (p *port) detach(k *conn, how ending) {
	_, peer := k.other(p.n)
	if p.n.member == nil || p.conns[peer.id] != k {
		return
	}
	delete(p.conns, peer.id)
	p.n.put(how.input(peer.id))
	p.meetLater(p.n.c.net.rest)
}

// expel hands a revoked member its revocation as the last thing that it hears here.
func (p *port) expel(e effect.Expel) {
	k := p.conns[e.Member]
	if k == nil {
		return
	}
	body, err := wire.Encode(&wire.Revocations{Revocations: [][]byte{e.Revocation}})
	must(err)
	_, peer := k.other(p.n)
	delete(p.conns, peer.id)
	p.n.c.log(p.n, "expels %s", peer.name)
	life := peer.life
	p.n.c.after(p.n.c.net.delay, func() {
		switch {
		case peer.life != life || peer.member == nil:
		case p.n.c.cuts.stop(p.n, peer) || peer.asleep:
			p.n.c.breakOff(k, silent)
		default:
			if !k.broken {
				peer.put(member.Received{From: p.n.id, Body: body})
			}
			k.broken = true
			peer.detach(k, orderly)
		}
	})
}

// hangUp ends every connection of a member whose process has ended.
func (p *port) hangUp(how ending) {
	for _, k := range p.links() {
		p.n.c.breakOff(k, how)
	}
	p.conns, p.waiting = nil, nil
}

// links are the connections of a member, in the order of the peers' ids.
func (p *port) links() []*conn {
	list := make([]*conn, 0, len(p.conns))
	for _, id := range slices.SortedFunc(maps.Keys(p.conns), ident.Member.Compare) {
		list = append(list, p.conns[id])
	}
	return list
}

// meetSomebody dials members at random until there is a connection: the
// bootstrap of a daemon.
func (p *port) meetSomebody() {
	if p.n.member == nil || len(p.conns) > 0 || p.n.c.manual {
		return
	}
	if list := p.known(); len(list) > 0 {
		o := list[p.n.c.rng.IntN(len(list))]
		if _, dialling := p.waiting[o.id]; !dialling && o != p.n {
			p.dial(o.id)
		}
	}
	p.meetLater(meetAgain + p.n.c.random(meetAgain))
}

// meetLater looks for somebody after a while, unless that is planned already.
func (p *port) meetLater(wait time.Duration) {
	if wait == 0 {
		p.meetSomebody()
		return
	}
	if p.meets == p.n.life {
		return
	}
	life := p.n.life
	p.meets = life
	p.n.after(wait, func() {
		if p.n.life == life {
			p.meets = 0
			p.meetSomebody()
		}
	})
}
