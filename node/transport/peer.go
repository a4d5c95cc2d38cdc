package transport

import (
	"errors"
	"sync"

	"github.com/quic-go/quic-go"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// peer is what is known of one other member: its connection, what waits for
// it, and when it may be dialled again.
type peer struct {
	t  *Transport
	id ident.Member

	call      sync.Mutex // held while the handler is called about this peer
	announced *conn      // by call: the connection that the handler knows of

	mu       sync.Mutex
	current  *conn // the connection in use, or nil
	spare    *conn // dialled here and not answered yet; another one is or was used meanwhile
	out      outbound
	dirty    bool // in Transport.dirty
	dialling bool
	stopDial func() // while dialling
	redial   redial
	hints    hintTrust

	unready    []*quic.Conn // accepted, without preamble, the oldest first
	users      int          // goroutines that hold this peer
	complained bool         // a call of Unreachable is in progress
	gone       bool         // no longer in Transport.peers
}

// Send gives a frame with this body (1 to wire.MaxFrame bytes, which are
// copied) to the connection with a member, and dials when there is none. It
// never waits for the network. The frame may be lost.
func (t *Transport) Send(to ident.Member, class Class, body []byte) {
	t.send(to, class, body, false)
}

// Queue is Send for one of several frames: the frame may stay here until the
// next Send to the same member, or Flush. What is flushed together shares
// packets.
func (t *Transport) Queue(to ident.Member, class Class, body []byte) {
	t.send(to, class, body, true)
}

// Flush sends what Queue has kept.
func (t *Transport) Flush() {
	t.mu.Lock()
	dirty := t.dirty
	t.dirty, t.spare = t.spare, nil
	t.mu.Unlock()
	for _, p := range dirty {
		p.mu.Lock()
		p.dirty = false
		p.pump()
		p.mu.Unlock()
	}
	clear(dirty)
	t.mu.Lock()
	t.spare = dirty[:0]
	t.mu.Unlock()
}

func (t *Transport) send(to ident.Member, class Class, body []byte, hold bool) {
	if len(body) == 0 || len(body) > wire.MaxFrame || class >= classes {
		t.notices.note(errOversized, "peer", to, "bytes", len(body))
		return
	}
	t.watches.sends(to)
	p := t.lock(to)
	if p == nil {
		return
	}
	defer p.mu.Unlock()
	full := p.out.charged > 0 && t.queued.Load() > MaxQueuedTotal
	if full || !p.out.push(class, body) {
		t.counters.dropped[class].Add(1)
		t.notices.note(errOverflow, "peer", to, "class", class)
		return
	}
	if hold && p.current != nil {
		p.markDirty()
		return
	}
	p.pump()
}

func (p *peer) markDirty() {
	if p.dirty {
		return
	}
	p.dirty = true
	p.t.mu.Lock()
	p.t.dirty = append(p.t.dirty, p)
	p.t.mu.Unlock()
}

// pump moves what waits as far as it goes without waiting: into the
// connection, or else it starts a dial. Needs p.mu.
func (p *peer) pump() {
	if c := p.current; c != nil && !c.opening && c.writing == nil {
		p.flush(c)
	}
	if !p.engaged() && p.out.queue.size() > 0 {
		p.dial()
	}
	p.out.charge(&p.t.queued)
}

// flush hands what waits to QUIC, from this goroutine as long as QUIC takes it
// at once, and from a writer goroutine otherwise. Needs p.mu.
func (p *peer) flush(c *conn) {
	for _, class := range byUrgency {
		l := &p.out.queue.lanes[class]
		if l.frames == 0 {
			continue
		}
		waiting := l.waiting()
		err := quic.ErrWouldBlock
		if c.unsynced+len(waiting) <= directBytes {
			err = c.stream.TryWriteAll(waiting)
		}
		switch {
		case err == nil:
			c.unsynced += len(waiting)
			c.sent(l.frames, len(waiting))
			l.reset()
		case errors.Is(err, quic.ErrWouldBlock):
			p.startWriter(c)
			return
		default: // the connection is dead, or the peer refuses our half of the stream
			p.detach(c)
			c.close(CodeProtocol)
			return
		}
	}
}

// startWriter begins to write a backlog. Needs p.mu.
func (p *peer) startWriter(c *conn) {
	done := make(chan struct{})
	if p.t.spawn(func() { p.write(c, done) }) {
		c.writing = done
		c.wroteAt = p.t.now()
	}
}

// write writes the backlog until it is gone or c is no longer in use.
func (p *peer) write(c *conn, done chan struct{}) {
	var chunk []byte
	for {
		p.mu.Lock()
		var frames int
		chunk, frames = chunk[:0], p.out.queue.frames()
		if p.current == c {
			chunk = p.out.queue.next(chunk, writeChunk)
			frames -= p.out.queue.frames()
			p.out.charge(&p.t.queued)
		}
		if len(chunk) == 0 {
			c.unsynced = 0
			c.writing = nil
			close(done)
			p.mu.Unlock()
			return
		}
		c.wroteAt = p.t.now()
		p.mu.Unlock()
		if _, err := c.stream.Write(chunk); err != nil {
			p.mu.Lock()
			c.broken = true
			c.writing = nil
			close(done)
			if p.current == c { // else finish has set a deadline, and goes on
				p.detach(c)
				c.close(CodeProtocol)
			}
			p.mu.Unlock()
			return
		}
		c.sent(frames, len(chunk))
	}
}

// engaged reports whether a connection is in use, or held: then this side dials no
// other. Needs p.mu.
func (p *peer) engaged() bool { return p.current != nil || p.spare != nil }

// detach ends the use of c, if it is in use or held. Whoever calls it sees to it
// that the connection is closed, now or by finish. One that is held beside the
// connection in use ends with it. Needs p.mu.
func (p *peer) detach(c *conn) {
	if p.current == c {
		p.release(CodeNormal)
	}
	p.part(c)
}

// part is detach when the peer has closed c for another connection: it may be about to
// answer on the one that is held. Needs p.mu.
func (p *peer) part(c *conn) {
	if p.spare == c {
		p.spare = nil
	}
	if p.current != c {
		return
	}
	p.current = nil
	p.t.counters.drop(p.out.ungreet(&p.t.queued))
	p.t.mu.Lock()
	p.t.conns--
	p.t.mu.Unlock()
}

// attach makes c the connection in use. Another one that is in use is held, or else
// closed with CodeReplaced. Needs p.mu; false when the transport is closing.
func (p *peer) attach(c *conn, hold bool) bool {
	old := p.current
	p.t.mu.Lock()
	if p.t.closing {
		p.t.mu.Unlock()
		return false
	}
	if old == nil {
		p.t.conns++
	}
	p.t.mu.Unlock()
	if p.spare == c {
		p.spare = nil
	}
	p.current = c
	c.opening = true
	if old != nil {
		p.t.counters.replaced.Add(1)
		if old.Confirmed && c.Confirmed && old.Process != c.Process {
			p.hints.restore()
		}
		if hold {
			p.spare = old
		} else {
			old.close(CodeReplaced)
		}
	}
	p.t.counters.drop(p.out.ungreet(&p.t.queued))
	if p.stopDial != nil {
		p.stopDial()
	}
	return true
}

// answered takes in the peer's preamble on a connection that this side has dialled.
// It reports whether the connection was held and is now the one in use.
func (p *peer) answered(c *conn, b preamble) (back bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.confirm(b)
	if p.spare != c {
		return false
	}
	if p.current != nil && Choose(p.smaller(), p.current.Link, c.Link) == KeepOld || !p.attach(c, false) {
		p.release(CodeReplaced)
		return false
	}
	return true
}

// release closes the connection that is held, if there is one. Needs p.mu.
func (p *peer) release(code Code) {
	if c := p.spare; c != nil {
		p.spare = nil
		c.muted.Store(true)
		c.close(code)
	}
}

// smaller reports whether this side's id is below the peer's.
func (p *peer) smaller() bool { return p.t.self.Compare(p.id) < 0 }

// dropAll drops what waits. Needs p.mu.
func (p *peer) dropAll() {
	p.t.counters.drop(p.out.clear(&p.t.queued))
}

// Expel closes the connection with a member, if there is one: with CodeRevoked
// after handing it this frame body, or none when it is empty. Nothing that the
// member sends is handled from now on, and its queue is dropped.
// Config.Revocation must already know of it, or the member finds a way back.
func (t *Transport) Expel(member ident.Member, frame []byte) {
	p := t.lock(member)
	if p == nil {
		return
	}
	defer p.mu.Unlock()
	p.dropAll()
	p.release(CodeRevoked)
	c := p.current
	if c == nil {
		return
	}
	t.notices.note(ErrRevoked, "peer", member, "remote", c.quic.RemoteAddr())
	var last []byte
	if len(frame) > 0 && len(frame) <= wire.MaxFrame {
		last = wire.AppendFrame(nil, frame)
	}
	p.dismiss(c, CodeRevoked, last)
}

// dismiss ends the use of a connection whose peer is not heard any more, and closes it
// when the peer has read last, encoded frames. Needs p.mu.
func (p *peer) dismiss(c *conn, code Code, last []byte) {
	c.muted.Store(true)
	c.finishing = true
	p.detach(c)
	p.t.spawn(func() { c.finish(code, last, c.peerDone) })
}

// shutDown closes the connection for good, after what waits has been written.
func (p *peer) shutDown() {
	p.mu.Lock()
	p.release(CodeShuttingDown)
	c := p.current
	if p.stopDial != nil {
		p.stopDial()
	}
	if c == nil {
		p.mu.Unlock()
		return
	}
	c.finishing = true
	p.detach(c)
	last := p.out.take(&p.t.queued)
	p.mu.Unlock()
	c.finish(CodeShuttingDown, last, c.peerDone)
}
