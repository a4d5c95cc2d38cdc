package transport

import (
	"time"
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
				p.sweep(now)
			}
		case <-t.ctx.Done():
			return
		}
	}
}

// sweep looks at one peer, and forgets it when there is nothing to remember.
func (p *peer) sweep(now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.current; c != nil {
		c.trim(now)
		p.judge(c, now)
	}
	p.queue.release()
	if p.current == nil && p.users == 0 && p.queue.size() == 0 && now >= p.retryAt && !p.dirty {
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
	if !c.dialled {
		idle += acceptorGrace
	}
	switch {
	case c.writing != nil && now-c.wroteAt > StallTimeout:
		t.notices.note(errStalled, "peer", p.id, "remote", c.quic.RemoteAddr())
		p.end(c, CodeOverload)
	case !c.confirmed && now-c.made > PreambleTimeout:
		p.end(c, CodeProtocol)
	case c.cert.ValidAt(t.cfg.Now()) != nil || !t.verify.trusts(c.cert.Authority()):
		t.counters.lapsed.Add(1)
		p.end(c, CodeProtocol)
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
