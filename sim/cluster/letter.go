package cluster

import (
	"time"

	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/wire"
)

// networkSetting is how bad the network is.
type networkSetting struct {
	delay  time.Duration // least time of a message in transit
	jitter time.Duration // mean of what is added, by which messages overtake each other
	loss   float64       // of messages; a connection whose HELLO is lost breaks
	repeat float64       // of messages: a second copy follows
	// late is the share of messages that take up to lateBy longer, and arrive
	// on whatever connection there is then, but for those of policies.
	late    float64
	lateBy  time.Duration
	deaf    float64       // of directory pages: they are the first to be dropped
	notice  time.Duration // longest time until an end finds its connection broken
	rest    time.Duration // that a member without connections waits before it looks for one
	refused time.Duration // until a dial is given up whose machine refuses it, as the process there has ended; zero: none does
	idle    time.Duration // without a message, after which a connection is closed; zero: never
}

// letter is a message in transit.
type letter struct {
	from, to *node
	body     []byte
	kind     wire.Type
	conn     *conn
	late     bool
}

// transmit puts a message on a connection.
func (c *cluster) transmit(k *conn, from *node, body []byte, kind wire.Type) {
	side, to := k.other(from)
	l := &letter{from: from, to: to, body: body, kind: kind, conn: k}
	if c.manual {
		c.mail = append(c.mail, l)
		return
	}
	k.usedAt = c.now
	k.bytes += len(body)
	c.count.bytes[kind] += len(body)
	net := c.network()
	if c.cuts.stop(from, to) || c.hazards.strikes(faultLoss, net.loss) || kind == wire.TypeMembers && c.hazards.strikes(faultLoss, net.deaf) || c.neverArrives(kind) {
		c.lose(l)
		return
	}
	wait := net.delay + c.exponential(net.jitter)
	if kind == wire.TypeHello {
		k.helloAt[side] = c.now + wait
	} else if wait = max(wait, k.helloAt[side]-c.now); c.hazards.strikes(faultLate, net.late) {
		l.late = true
		c.count.late++
		wait += c.random(net.lateBy)
	}
	c.after(wait, func() { c.arrive(l) })
	if kind != wire.TypeHello && c.hazards.strikes(faultRepeat, net.repeat) {
		c.count.repeated++
		c.after(wait+c.exponential(net.jitter+net.lateBy/8), func() { c.arrive(l) })
	}
}

// lose takes a message. A connection without a greeting is none; that its greeting was
// lost does not make anybody silent (D-48).
func (c *cluster) lose(l *letter) {
	c.count.lost++
	c.log(l.from, "LOST %s to %s", l.kind, l.to.name)
	if l.kind == wire.TypeHello {
		c.breakOff(l.conn, failed)
	}
}

// neverArrives is what the planted bugs of the network take.
func (c *cluster) neverArrives(kind wire.Type) bool {
	return c.calm && (c.bug == NoReceipts && kind == wire.TypeReceipt || c.bug == NoOffers && kind == wire.TypeOffer)
}

// network is how bad the network is now.
func (c *cluster) network() networkSetting {
	if c.calm {
		return networkSetting{delay: c.net.delay, jitter: c.net.jitter / 4}
	}
	return c.net
}

// arrive delivers a message, if its connection still lasts at the receiver;
// a late one on any connection with its sender.
func (c *cluster) arrive(l *letter) {
	if l.to.member == nil {
		return
	}
	if l.to.asleep {
		c.lose(l)
		return
	}
	if k := l.to.conns[l.from.id]; k == nil || k != l.conn && (!l.late || l.kind == wire.TypePolicy) {
		return // what a policy says counts on the order of a stream (T-7); a handoff counts on nothing
	}
	if c.cuts.stop(l.from, l.to) {
		c.lose(l)
		return
	}
	l.to.put(member.Received{From: l.from.id, Body: l.body})
}

// isGossip reports whether a message is about who is a member.
func isGossip(kind wire.Type) bool {
	switch kind {
	case wire.TypeGossip, wire.TypeSummary, wire.TypeMembers, wire.TypeProbe, wire.TypeNews:
		return true
	}
	return false
}
