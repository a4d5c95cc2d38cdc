package transport

import "time"

const (
	// silentAfter is how long a connection may bring nothing before its path is tried
	// out: the dialler's keep-alive was due a second ago, and was sent again since.
	silentAfter = KeepAlive + time.Second

	// unansweredSweeps is after how many looks in a row, at which the connection had
	// sent something and received nothing since the one before, the same is done. One
	// look may fall between a packet and its acknowledgement.
	unansweredSweeps = 2

	// reviveFor is how long a member that was lost because this machine could not
	// send is dialled again, at each look: until there is a network again.
	reviveFor = 15 * time.Second
)

// hearing is what has come and gone on a connection, as of the last look.
type hearing struct {
	received, sent uint64 // packets
	at             time.Duration
	unanswered     int // looks in a row, see unansweredSweeps
}

// listen looks at the packets of a connection, and reports whether it is silent though
// it should not be. Needs peer.mu.
func (c *conn) listen(now time.Duration) (silent bool) {
	s, h := c.quic.ConnectionStats(), &c.hearing
	switch {
	case s.PacketsReceived != h.received || h.at == 0:
		h.at, h.unanswered = now, 0
	case s.PacketsSent != h.sent:
		h.unanswered++
	default:
		h.unanswered = 0
	}
	h.received, h.sent = s.PacketsReceived, s.PacketsSent
	return now-h.at > silentAfter || h.unanswered >= unansweredSweeps
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
			p.backOff, p.retryAt = 0, 0
			p.tryOut(c)
		} else if now < p.reviveUntil {
			p.backOff, p.retryAt = 0, 0
			p.dial()
		}
		p.mu.Unlock()
	}
}

// attend looks after the path to the peer: a connection that has fallen silent is tried
// out, and one that was lost because nothing could be sent is dialled again. Needs
// p.mu.
func (p *peer) attend(now time.Duration) {
	c := p.current
	switch {
	case c != nil && c.listen(now) && c.Confirmed:
		p.tryOut(c)
	case c == nil && p.spare == nil && now < p.reviveUntil && now >= p.retryAt:
		p.dial()
	}
}

// tryOut dials the peer although a connection is in use. When the handshake is done
// and nothing has come on that one meanwhile, the new one takes its place. Needs p.mu.
func (p *peer) tryOut(c *conn) {
	if !p.dialling {
		p.dial()
		c.doubted = p.dialling
	}
}

// giveWay ends the use of a connection that was tried out and is still silent: the
// peer answers elsewhere. Needs p.mu.
func (p *peer) giveWay() {
	c := p.current
	if c == nil || !c.doubted || c.quic.ConnectionStats().PacketsReceived != c.hearing.received {
		return
	}
	p.t.counters.moved.Add(1)
	p.detach(c)
	c.close(CodeReplaced)
}
