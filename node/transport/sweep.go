package transport

import (
	"time"

	"github.com/wandertoken/wander/protocol/certificate"
)

// sweepInterval is how often connections are looked at, and so how exact the
// idle timeout is.
const sweepInterval = time.Second

// sweepLoop closes what has had its time.
func (t *Transport) sweepLoop() {
	ticker := time.NewTicker(sweepInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			now := t.now()
			for _, p := range t.allPeers() {
				p.renew()
				p.sweep(now)
			}
			t.cfg.Pulse(sweepInterval)
		case <-t.ctx.Done():
			return
		}
	}
}

// renew finds the certificate that the peer has now, when the one known of it
// counts no more: a connection outlives what was shown when it was made.
func (p *peer) renew() {
	p.mu.Lock()
	c := p.current
	lapsed := c != nil && !p.t.counts(c.newest)
	p.mu.Unlock()
	if !lapsed {
		return
	}
	newest, known := p.t.cfg.Newest(p.id)
	if !known || newest.Member() != p.id || !p.t.counts(newest) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c.newest = newest
}

// counts reports whether a certificate makes a member now.
func (t *Transport) counts(c certificate.Certificate) bool {
	return c.ValidAt(t.cfg.Now()) == nil && t.verify.trusts(c.Authority())
}

// sweep looks at one peer, and forgets it when there is nothing to remember.
func (p *peer) sweep(now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.current; c != nil {
		c.trim(now)
		p.judge(c, now)
	}
	if c := p.spare; c != nil && now-c.made > PreambleTimeout {
		p.release(CodeProtocol)
	}
	p.attend(now)
	p.queue.release()
	if !p.engaged() && p.users == 0 && p.queue.size() == 0 && now >= max(p.retryAt, p.reviveUntil) && !p.dirty {
		p.gone = true
		p.t.mu.Lock()
		delete(p.t.peers, p.id)
		p.t.mu.Unlock()
	}
}

// acceptorGrace is how much longer the accepting side keeps an idle
// connection: the dialler closes it, so that the two do not do it at once.
const acceptorGrace = 5 * time.Second

// judge closes the connection in use when its time has come. Needs p.mu.
func (p *peer) judge(c *conn, now time.Duration) {
	t := p.t
	idle := t.cfg.IdleTimeout
	if !c.Dialled {
		idle += acceptorGrace
	}
	switch {
	case c.writing != nil && now-c.wroteAt > StallTimeout:
		t.notices.note(errStalled, "peer", p.id, "remote", c.quic.RemoteAddr())
		p.end(c, CodeOverload)
	case !c.Confirmed && now-c.made > PreambleTimeout:
		p.end(c, CodeProtocol)
	case !t.counts(c.newest):
		t.counters.lapsed.Add(1)
		p.dismiss(c, CodeProtocol, p.takeWaiting())
	case !c.keep && c.writing == nil && p.queue.size() == 0 && now-time.Duration(c.lastUse.Load()) > idle:
		t.counters.idleClosed.Add(1)
		p.end(c, CodeIdle)
	}
}

// end closes the connection in use. Needs p.mu.
func (p *peer) end(c *conn, code Code) {
	p.detach(c)
	c.close(code)
}

// evict closes the connection that has been without frames for longest, when
// there are more than MaxConnections; never the one that has just been made.
func (t *Transport) evict(made *conn) {
	t.mu.Lock()
	over := t.conns > t.cfg.limits.connections
	t.mu.Unlock()
	if !over {
		return
	}
	var oldest *conn
	for _, p := range t.allPeers() {
		p.mu.Lock()
		if c := p.current; c != nil && c != made && (oldest == nil || c.lastUse.Load() < oldest.lastUse.Load()) {
			oldest = c
		}
		p.mu.Unlock()
	}
	if oldest == nil {
		return
	}
	t.notices.note(errEvicted, "peer", oldest.p.id, "remote", oldest.quic.RemoteAddr())
	oldest.p.mu.Lock()
	defer oldest.p.mu.Unlock()
	if oldest.p.current == oldest {
		oldest.p.end(oldest, CodeOverload)
	}
}
