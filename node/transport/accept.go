package transport

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/wandertoken/wander/protocol/wire"
)

// acceptLoop takes in connections whose handshake has succeeded.
func (t *Transport) acceptLoop() {
	for {
		q, err := t.listener.Accept(t.ctx)
		if err != nil {
			return
		}
		if !t.spawn(func() { t.welcome(q) }) {
			return
		}
	}
}

// welcome serves an inbound connection from the end of its handshake on.
func (t *Transport) welcome(q *quic.Conn) {
	a := q.Context().Value(admissionKey{}).(*admission)
	a.done()
	if q.ConnectionState().TLS.NegotiatedProtocol == backALPN {
		t.backs.serve(q, a.cert.Member())
		return
	}
	p := t.lock(a.cert.Member())
	if p == nil {
		q.CloseWithError(quic.ApplicationErrorCode(CodeShuttingDown), "")
		return
	}
	p.await(q)
	p.users++
	p.mu.Unlock()
	defer p.leave()
	c, b, err := t.greet(p, q, a)
	p.mu.Lock()
	p.unready = slices.DeleteFunc(p.unready, func(o *quic.Conn) bool { return o == q })
	p.mu.Unlock()
	if err != nil {
		code := t.ungreeted(p, a, err)
		q.CloseWithError(quic.ApplicationErrorCode(code), "")
		return
	}
	if p.take(c, b) {
		t.counters.accepted.Add(1)
		p.start(c)
	}
}

// await notes that a preamble is to come on a connection. Of more than MaxUnready the
// oldest is closed: a process that dies again and again before its preamble must not
// keep the next one out. Needs p.mu.
func (p *peer) await(q *quic.Conn) {
	p.unready = append(p.unready, q)
	if len(p.unready) <= MaxUnready {
		return
	}
	oldest := p.unready[0]
	p.unready = slices.Delete(p.unready, 0, 1)
	p.t.notices.note(errUnready, "peer", p.id, "remote", oldest.RemoteAddr())
	oldest.CloseWithError(quic.ApplicationErrorCode(CodeOverload), "")
}

// ungreeted takes in why an inbound connection brought no preamble, and returns
// the code to close it with.
func (t *Transport) ungreeted(p *peer, a *admission, err error) Code {
	if t.ctx.Err() != nil {
		return CodeShuttingDown
	}
	if app, ok := errors.AsType[*quic.ApplicationError](err); ok && !app.Remote {
		return CodeProtocol // it was the oldest of too many, and has been counted
	}
	a.ended(ErrProtocol, err, "peer", p.id)
	return CodeProtocol // no effect when the dialler has closed the connection
}

// greet waits for the stream that the dialler opens, and for its preamble.
func (t *Transport) greet(p *peer, q *quic.Conn, a *admission) (*conn, preamble, error) {
	ctx, cancel := context.WithTimeout(t.ctx, PreambleTimeout)
	defer cancel()
	s, err := q.AcceptStream(ctx)
	if err != nil {
		return nil, preamble{}, err
	}
	s.SetReadDeadline(time.Now().Add(PreambleTimeout))
	var buf [maxPreamble]byte
	body, err := wire.ReadFrame(s, buf[:])
	if err != nil {
		return nil, preamble{}, err
	}
	s.SetReadDeadline(time.Time{})
	b, err := parsePreamble(body)
	return t.newConn(p, q, s, a.cert), b, err
}

// take makes an inbound connection the one in use, and answers its preamble,
// unless another one stays.
func (p *peer) take(c *conn, b preamble) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.confirm(b)
	choice := TakeNew
	if p.current != nil {
		choice = Choose(p.smaller(), p.current.Link, c.Link)
	}
	if choice == KeepOld {
		c.close(CodeReplaced)
		return false
	}
	if err := c.writePreamble(); err != nil {
		c.close(CodeInternal)
		return false
	}
	if !p.attach(c, choice == TakeNewHoldOld) {
		c.close(CodeShuttingDown)
		return false
	}
	return true
}

// start serves a connection that has just been attached, on a goroutine of its
// own: the one that has shaken hands has grown a stack four times as large,
// which the connection would keep.
func (p *peer) start(c *conn) {
	p.hold()
	if !p.t.spawn(func() { defer p.leave(); c.serve() }) {
		p.leave()
	}
}

// serve runs a connection to its end.
func (c *conn) serve() {
	t := c.p.t
	t.evict(c)
	if frame, revoked := t.cfg.Revocation(c.p.id); revoked {
		t.Expel(c.p.id, frame)
	}
	c.run()
}

// hold keeps a peer from being forgotten until leave.
func (p *peer) hold() {
	p.mu.Lock()
	p.users++
	p.mu.Unlock()
}

// leave gives a peer back.
func (p *peer) leave() {
	p.mu.Lock()
	p.users--
	p.mu.Unlock()
}
