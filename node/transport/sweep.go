package transport

import (
	"time"

	"github.com/wandertoken/wander/protocol/certificate"
)

const (
	// sweepInterval is how often connections are looked at while something is awaited
	// from one of them.
	sweepInterval = time.Second

	// minSweep is the shortest pause between two looks.
	minSweep = 10 * time.Millisecond
)

// sweepLoop closes what has had its time.
func (t *Transport) sweepLoop() {
	timer := time.NewTimer(sweepInterval)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-t.awake:
		case <-t.ctx.Done():
			return
		}
		next := t.sweep()
		timer.Reset(next)
		t.cfg.Pulse(next)
	}
}

// wakes has the connections looked at now, as something has come, if half of the longest
// time between two looks has passed: it saves a wake-up of the process. The others' packets
// have it look twice as often at most.
func (t *Transport) wakes(now time.Duration) {
	if now-time.Duration(t.swept.Load()) < t.rest()/2 {
		return
	}
	select {
	case t.awake <- struct{}{}:
	default:
	}
}

// sweep looks at all peers, and returns after what time to look again.
func (t *Transport) sweep() (next time.Duration) {
	now := t.now()
	t.swept.Store(int64(now))
	next = t.rest()
	for _, p := range t.allPeers() {
		p.renew()
		next = min(next, p.sweep(now))
	}
	return next
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

// sweep looks at one peer, and forgets it when there is nothing to remember. It
// returns after what time to look again.
func (p *peer) sweep(now time.Duration) (next time.Duration) {
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
	p.out.queue.release()
	if !p.engaged() && p.users == 0 && p.out.queue.size() == 0 && p.redial.isOver(now) && !p.dirty {
		p.gone = true
		p.t.mu.Lock()
		delete(p.t.peers, p.id)
		p.t.mu.Unlock()
	}
	return p.nextSweep(now)
}

// nextSweep is after what time to look at the peer again. Needs p.mu.
func (p *peer) nextSweep(now time.Duration) time.Duration {
	c, rest, limit := p.current, p.t.rest(), p.t.silence()
	if c == nil {
		if p.spare != nil || p.dialling || p.out.queue.size() > 0 || p.redial.revives(now) {
			return sweepInterval
		}
		return rest
	}
	switch {
	case c.isSilent():
		return max(minSweep, min(sweepInterval, limit-c.hearing.unanswered))
	case p.spare != nil || !c.Confirmed || c.writing != nil || c.busy.Load() != 0 || p.out.queue.size() > 0:
		return min(sweepInterval, rest)
	case c.hearing.unanswered > 0:
		return max(minSweep, min(rest, p.t.doubtAfter()-c.hearing.unanswered))
	case c.keep:
		return rest
	}
	return max(minSweep, min(rest, c.idleEnd()-now))
}

// idleEnd is when the connection is to be closed for idleness, if no frame comes.
func (c *conn) idleEnd() time.Duration {
	idle := c.p.t.cfg.IdleTimeout
	if !c.Dialled {
		idle += acceptorGrace
	}
	return time.Duration(c.lastUse.Load()) + idle + 1
}

// acceptorGrace is how much longer the accepting side keeps an idle
// connection: the dialler closes it, so that the two do not do it at once.
const acceptorGrace = 5 * time.Second

// judge closes the connection in use when its time has come. Needs p.mu.
func (p *peer) judge(c *conn, now time.Duration) {
	t := p.t
	switch {
	case c.writing != nil && now-c.wroteAt > StallTimeout:
		t.notices.note(errStalled, "peer", p.id, "remote", c.quic.RemoteAddr())
		p.end(c, CodeOverload)
	case !c.Confirmed && now-c.made > PreambleTimeout:
		p.end(c, CodeProtocol)
	case !t.counts(c.newest):
		t.counters.lapsed.Add(1)
		p.dismiss(c, CodeProtocol, p.out.take(&p.t.queued))
	case !c.keep && c.writing == nil && p.out.queue.size() == 0 && now >= c.idleEnd():
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
