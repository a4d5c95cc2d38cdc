package transport

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/wire"
)

// conn is one connection whose peer has been identified.
type conn struct {
	p      *peer
	quic   *quic.Conn
	stream *quic.Stream
	cert   certificate.Certificate // that was shown
	made   time.Duration           // since the transport's start

	peerDone chan struct{} // closed when the peer has ended its half of the stream

	muted   atomic.Bool  // no frame is handled any more
	lastUse atomic.Int64 // the last frame either way, nanoseconds since the start
	asked   atomic.Int64 // the first frame sent since something was known to have come, likewise; 0: none
	busy    atomic.Int64 // when the reader last needed a large buffer, likewise; 0: long ago

	// By peer.mu.
	Link
	newest    certificate.Certificate // of the peer, as far as it had to be known
	keep      bool                    // not closed for idleness
	opening   bool                    // Connected has not returned yet: frames wait
	finishing bool                    // somebody has taken it on to finish the connection
	broken    bool                    // a write stopped within a frame
	writing   chan struct{}           // closed when the writer is done; nil without one
	wroteAt   time.Duration           // when the writer last got on
	hearing   hearing
	doubted   bool   // the peer is dialled because nothing has come
	heardThen uint64 // hearing.received when that began
	lost      error  // why it was closed here: ErrUnresponsive, ErrAbsent; or nil
	unsynced  int    // bytes given to QUIC since it was last known to have sent all
}

func (t *Transport) newConn(p *peer, q *quic.Conn, s *quic.Stream, cert certificate.Certificate) *conn {
	c := &conn{p: p, quic: q, stream: s, cert: cert, newest: cert, made: t.now(),
		keep: t.cfg.DialOnly, peerDone: make(chan struct{})}
	c.lastUse.Store(int64(c.made))
	return c
}

// isBusy reports whether the reader has lately needed a large buffer.
func (c *conn) isBusy(now time.Duration) bool {
	busy := time.Duration(c.busy.Load())
	return busy != 0 && now-busy < largeFor
}

// trim makes a reader that waits with a large buffer go on with a small one.
func (c *conn) trim(now time.Duration) {
	if busy := c.busy.Load(); busy != 0 && !c.isBusy(now) && c.busy.CompareAndSwap(busy, 0) {
		c.stream.SetReadDeadline(time.Now())
	}
}

// close ends the connection at once.
func (c *conn) close(code Code) {
	c.quic.CloseWithError(quic.ApplicationErrorCode(code), "")
}

// sent counts frames that were handed to QUIC.
func (c *conn) sent(frames, bytes int) {
	t := c.p.t
	t.counters.framesSent.Add(uint64(frames))
	t.counters.bytesSent.Add(uint64(bytes))
	now := int64(t.now())
	c.lastUse.Store(now)
	if c.asked.Load() == 0 {
		c.asked.Store(now)
	}
}

// writePreamble writes this side's preamble. Needs peer.mu; the stream must be
// new.
func (c *conn) writePreamble() error {
	t := c.p.t
	body, err := preamble{Process: t.process, Ordinal: t.ordinal.Add(1), Keep: t.cfg.DialOnly}.encode()
	if err != nil {
		return err
	}
	return c.stream.TryWriteAll(wire.AppendFrame(nil, body))
}

// confirm takes in the peer's preamble. Needs peer.mu.
func (c *conn) confirm(b preamble) {
	c.Link.confirm(b)
	c.keep = c.keep || b.Keep
}

// run serves an attached connection to its end: it announces it, hands over
// frames, and announces the end. When another connection has taken its place
// meanwhile, or the member was expelled, it only waits for the end.
func (c *conn) run() {
	if c.announce() {
		c.open()
	}
	c.end(c.read())
}

// announce tells the handler of the connection, or reports false when another
// one has taken its place.
func (c *conn) announce() bool {
	p := c.p
	p.call.Lock()
	defer p.call.Unlock()
	p.mu.Lock()
	stale, known := p.current != c, p.announced == c
	if !stale && !known {
		p.out.greet()
	}
	p.mu.Unlock()
	if stale || known { // known: it came back before the one between was announced
		return !stale
	}
	if old := p.announced; old != nil {
		p.mu.Lock()
		err := &CloseError{Code: CodeReplaced, Alive: c.sharesProcess(old)}
		p.mu.Unlock()
		p.t.cfg.Handler.Disconnected(p.id, err)
	}
	p.announced = c
	p.t.cfg.Handler.Connected(c.cert)
	return true
}

// open lets frames out: those that the handler sent in Connected first, then
// those that had waited for the connection.
func (c *conn) open() {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current != c {
		return
	}
	c.opening = false
	p.out.greeted()
	p.pump()
}

// end tells the handler that the connection is over.
func (c *conn) end(err error) {
	p := c.p
	p.mu.Lock()
	if c.lost != nil {
		err = c.lost
	}
	if errors.Is(err, ErrRestarted) || errors.Is(err, ErrUnresponsive) {
		p.hints.restore()
	}
	if errors.Is(err, ErrReplaced) {
		err = c.replaced(err)
		p.part(c)
	} else {
		p.detach(c)
	}
	alone, unanswered := !p.engaged(), c.unanswered(err)
	if alone {
		p.settle(unanswered, err)
		if c.Confirmed && errors.Is(err, ErrLost) {
			p.redial.revive(p.t.now())
		}
	}
	p.mu.Unlock()
	p.call.Lock()
	if p.announced == c {
		p.announced = nil
		p.t.cfg.Handler.Disconnected(p.id, err)
	}
	p.call.Unlock()
	if alone && unanswered {
		p.t.counters.dialFailures.Add(1)
		p.unreachable(err)
	}
}

// sharesProcess reports whether the peer's process is known to be the same as on an older
// connection. One on which the peer has said nothing is as good. Needs peer.mu.
func (c *conn) sharesProcess(old *conn) bool {
	return !old.Confirmed || c.Confirmed && c.Process == old.Process
}

// replaced adds to the end of a replaced connection whether the peer's process lives: it
// says so itself by closing the connection, or has the one that is now in use. Needs peer.mu.
func (c *conn) replaced(err error) error {
	closed, ok := errors.AsType[*CloseError](err)
	if !ok {
		return err
	}
	now := c.p.current
	return &CloseError{Code: closed.Code, Remote: closed.Remote, Alive: closed.Remote || now != nil && now.sharesProcess(c)}
}

// unanswered reports whether this was a dial that failed: the peer
// said no preamble, and this side did not end it on purpose. That the peer
// turned it down for another connection is no failure.
func (c *conn) unanswered(err error) bool {
	if !c.Dialled || c.Confirmed || errors.Is(err, ErrReplaced) {
		return false
	}
	closed, ok := errors.AsType[*CloseError](err)
	return !ok || closed.Remote || closed.Code != CodeNormal
}

// settle decides what becomes of a peer whose connection has ended and that
// has no other: when it may be dialled again, and whether that is now, because
// something waits for it. Needs p.mu.
func (p *peer) settle(unanswered bool, err error) {
	turnedAway := unanswered
	for _, bad := range []error{ErrReplaced, ErrRevoked, ErrProtocol, ErrOverload} {
		turnedAway = turnedAway || errors.Is(err, bad)
	}
	if !turnedAway {
		p.redial.permit()
		p.pump()
		return
	}
	p.redial.failed(p.t.now())
	if !p.dialling {
		p.dropAll()
	}
}

// read hands frames to the handler until the connection ends, and says why it
// ended.
func (c *conn) read() error {
	err := newReader(c).run()
	switch {
	case errors.Is(err, io.EOF):
		close(c.peerDone)
		if c.beginEnd() { // the peer closes: say that we have read everything
			c.finish(CodeNormal, nil, nil)
		}
	case errors.Is(err, ErrProtocol):
		c.p.t.notices.note(ErrProtocol, "peer", c.p.id, "remote", c.quic.RemoteAddr(), "error", err)
		c.close(CodeProtocol)
	default:
		c.close(CodeProtocol) // a reset stream; no effect when the connection is closed
	}
	<-c.quic.Context().Done()
	return closeReason(context.Cause(c.quic.Context()))
}

// beginEnd detaches the connection, and reports whether it is for the caller
// to finish it.
func (c *conn) beginEnd() bool {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	first := !c.finishing
	c.finishing = true
	c.p.detach(c)
	return first
}

// finish closes the connection after last, encoded frames, has been read by
// the peer: it ends this side's half of the stream and waits for peerDone,
// which says that the peer has ended its own, but no longer than Linger for
// everything together. The connection must have been detached, and finishing
// set, by the caller.
func (c *conn) finish(code Code, last []byte, peerDone <-chan struct{}) {
	deadline := time.NewTimer(Linger)
	defer deadline.Stop()
	c.stream.SetWriteDeadline(time.Now().Add(Linger))
	if c.lastWords(last) {
		select {
		case <-peerDone:
		case <-c.quic.Context().Done():
		case <-deadline.C:
		}
	}
	c.close(code)
}

// lastWords writes last behind what the writer is writing, and ends this
// side's half of the stream. It reports false when the peer takes no more.
func (c *conn) lastWords(last []byte) bool {
	c.p.mu.Lock()
	writing := c.writing
	c.p.mu.Unlock()
	if writing != nil {
		<-writing // at most until the write deadline
	}
	c.p.mu.Lock()
	broken := c.broken
	c.p.mu.Unlock()
	if broken {
		return false
	}
	if len(last) > 0 {
		if _, err := c.stream.Write(last); err != nil {
			return false
		}
	}
	return c.stream.Close() == nil
}
