package transport

import "time"

const (
	// overdue is how much longer than the dialler's keep-alive waits a connection may
	// bring nothing before its path is tried out: the keep-alive was sent again since.
	overdue = time.Second

	// maxUnanswered is for how long a connection may bring nothing after a frame was
	// sent on it before the same is done, or half of the silence if that is less.
	maxUnanswered = 2 * time.Second

	// reviveFor is how long a member that was lost because this machine could not
	// send is dialled again, at each look: until there is a network again.
	reviveFor = 15 * time.Second
)

// SetSilence changes for how long a connection may bring nothing although something was
// sent on it, from the next look on.
func (t *Transport) SetSilence(d time.Duration) { t.patience.Store(int64(d)) }

// silence is for how long a connection may bring nothing although something was sent on
// it: then its peer counts as unresponsive.
func (t *Transport) silence() time.Duration {
	return min(time.Duration(t.patience.Load()), MaxSilence)
}

// rest is after what time the connections are looked at while nothing is awaited. Each
// look wakes the process. What is left of the silence is the time to try a connection out
// before it is given up.
func (t *Transport) rest() time.Duration { return min(MaxRest, t.silence()*5/8) }

// doubtAfter is for how long a connection may bring nothing after a frame was sent on it
// before it is tried out.
func (t *Transport) doubtAfter() time.Duration { return min(maxUnanswered, t.silence()/2) }

// hearing is what has come on a connection, as of the last look. Of the time between two
// looks no more than Transport.rest counts: while this process does not run, what has come
// is not read.
type hearing struct {
	received   uint64        // packets
	looked     time.Duration // when the last look was
	quiet      time.Duration // for how long nothing has come
	unanswered time.Duration // for how long nothing has come after a frame was sent; 0: none was
}

// listen looks at the packets of a connection. What counts as sent are frames: an
// acknowledgement, which may be all that QUIC has sent, asks for no answer. Needs peer.mu.
func (c *conn) listen(now time.Duration) {
	h, received := &c.hearing, c.quic.ConnectionStats().PacketsReceived
	passed := min(now-h.looked, c.p.t.rest())
	asked := time.Duration(c.asked.Load())
	switch {
	case received != h.received || h.looked == 0:
		h.quiet, h.unanswered = 0, 0
		c.asked.Store(0)
	case h.unanswered > 0:
		h.quiet += passed
		h.unanswered += passed
	default:
		h.quiet += passed
		if asked != 0 {
			h.unanswered = max(1, min(passed, now-asked))
		}
	}
	h.received, h.looked = received, now
}

// isSilent reports whether a connection brings nothing though it should: an answer to a
// frame, or else the dialler's keep-alive. Needs peer.mu.
func (c *conn) isSilent() bool {
	return c.hearing.unanswered >= c.p.t.doubtAfter() || c.hearing.quiet > c.keepAlive()+overdue
}

// isLost reports whether it has been silent for as long as the group waits. Needs peer.mu.
func (c *conn) isLost() bool {
	limit := c.p.t.silence()
	return c.hearing.unanswered >= limit || c.hearing.quiet >= c.keepAlive()+limit
}

// keepAlive is for how long nothing comes on the connection before its dialler sends a
// keep-alive. Needs peer.mu.
func (c *conn) keepAlive() time.Duration {
	if c.keep {
		return KeepAliveOut
	}
	return KeepAlive
}

// Recheck tries out every connection: this machine's addresses may have changed, or it
// has slept. Each peer is dialled anew; where the old connection is heard before that
// is done, it stays. Members that were lost because nothing could be sent are dialled,
// too.
func (t *Transport) Recheck() {
	now := t.now()
	for _, p := range t.allPeers() {
		p.mu.Lock()
		if c := p.current; c != nil {
			c.listen(now)
			p.redial.permit()
			p.tryOut(c)
		} else if p.redial.revives(now) {
			p.redial.permit()
			p.dial()
		}
		p.mu.Unlock()
	}
}

// attend looks after the path to the peer: a connection that has fallen silent is tried
// out, and then given up, and one that was lost because nothing could be sent is
// dialled again. Needs p.mu.
func (p *peer) attend(now time.Duration) {
	c := p.current
	switch {
	case c != nil:
		c.listen(now)
		switch {
		case !c.Confirmed: // see judge
		case c.isLost():
			c.lost = ErrUnresponsive
			p.end(c, CodeOverload)
		case c.isSilent():
			p.tryOut(c)
		}
	case p.spare == nil && p.redial.revives(now) && now >= p.redial.at:
		p.dial()
	}
}

// tryOut dials the peer although a connection is in use. When the handshake is done
// and nothing has come on that one meanwhile, the new one takes its place. Needs p.mu.
func (p *peer) tryOut(c *conn) {
	if !p.dialling {
		p.dial()
		c.doubted, c.heardThen = p.dialling, c.hearing.received
	}
}

// giveWay ends the use of a connection that was tried out and is still silent: the
// peer answers elsewhere. Needs p.mu.
func (p *peer) giveWay() {
	c := p.current
	if c == nil || !c.doubted || c.quic.ConnectionStats().PacketsReceived != c.heardThen {
		return
	}
	p.t.counters.moved.Add(1)
	p.detach(c)
	c.close(CodeReplaced)
}
