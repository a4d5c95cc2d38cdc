package driver

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"

	core "github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/gate/wire"
)

// tunnel has the open sessions and their streams to the target. It is safe for concurrent use.
type tunnel struct {
	targets map[string]Target
	soft    bool            // the target is to end the connections of a session: there is no close hook
	ctx     context.Context // ends with the gate

	mu       sync.Mutex
	strict   bool                         // nothing goes in beside the sessions: the gate does not observe
	sessions map[core.Connection]*passage // open
	bySlot   map[int]core.Connection
	severed  map[int]*passage // the last one of each slot: the target may not have ended it yet

	streams  atomic.Int64
	opened   atomic.Uint64
	in, out  atomic.Uint64 // bytes to and from the target
	failures atomic.Uint64 // dials to the target
}

// passage is what an open session may use: all streams of it.
type passage struct {
	slot    int
	closing bool
	limit   int
	links   map[*link]struct{}
	gone    chan struct{} // closed when it is closing and the last link has ended
}

// link is one stream with its connection to the target.
type link struct {
	stream *quic.Stream
	target net.Conn // nil until it is dialled
	cancel context.CancelFunc
	soft   bool // the target is to end it: tunnel.soft, but for what is only observed
	hard   bool // it belongs to a session: when that is cut, nothing more goes to the target
}

func newTunnel(ctx context.Context, targets map[string]Target, soft bool) *tunnel {
	return &tunnel{targets: targets, soft: soft, ctx: ctx, sessions: make(map[core.Connection]*passage), bySlot: make(map[int]core.Connection), severed: make(map[int]*passage)}
}

// open lets the streams of a sign-in's session through.
func (t *tunnel) open(slot int, of core.Connection) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sessions[of] = newPassage(slot)
	t.bySlot[slot] = of
}

// has reports whether streams of a session at the slot are let through.
func (t *tunnel) has(slot int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.bySlot[slot]
	return ok
}

func newPassage(slot int) *passage {
	return &passage{slot: slot, limit: MaxStreams, links: make(map[*link]struct{}), gone: make(chan struct{})}
}

// sever ends all streams of the slot's session: when it has returned, nothing more of them reaches the target. If the tunnel is soft, the gate
// says to the target that nothing more comes, and lets the target end the connections; what it still writes is dropped. gone is closed when all
// connections to the target have ended, those of a close that has not confirmed among them.
func (t *tunnel) sever(slot int) (gone <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	id, ok := t.bySlot[slot]
	p := t.sessions[id]
	if before := t.severed[slot]; (!ok || p == nil) && before != nil {
		return before.gone
	}
	if !ok || p == nil {
		done := make(chan struct{})
		close(done)
		return done
	}
	delete(t.bySlot, slot)
	delete(t.sessions, id)
	t.severed[slot] = p
	p.end()
	return p.gone
}

// end needs tunnel.mu.
func (p *passage) end() {
	p.closing = true
	for l := range p.links {
		l.cut()
	}
	if len(p.links) == 0 {
		close(p.gone)
	}
}

// cut needs tunnel.mu.
func (l *link) cut() {
	l.cancel()
	l.stream.CancelRead(quic.StreamErrorCode(wire.StreamCut))
	l.stream.CancelWrite(quic.StreamErrorCode(wire.StreamCut))
	if l.target == nil {
		return
	}
	if !l.soft {
		if tcp, ok := l.target.(*net.TCPConn); ok && l.hard {
			_ = tcp.SetLinger(0) // what the system still has to send does not go, either
		}
		l.target.Close()
		return
	}
	// Nothing more is written: not by the copy that is at it, either.
	_ = l.target.SetWriteDeadline(time.Unix(1, 0))
	closeWrite(l.target)
}

func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
		return
	}
	c.Close()
}

// refusal is why a stream is refused.
type refusal wire.StreamCode

func (r refusal) Error() string { return "stream refused" }

// enter registers a stream of a sign-in's session, or, when the gate observes, of a connection. The error is a refusal.
func (t *tunnel) enter(of core.Connection, any *passage, observe bool, s *quic.Stream) (*passage, *link, context.Context, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, soft, hard := t.sessions[of], t.soft, true
	if observe && !t.strict {
		p, soft, hard = any, false, false
	}
	switch {
	case p == nil || p.closing:
		return nil, nil, nil, refusal(wire.StreamNotOpen)
	case len(p.links) >= p.limit:
		return nil, nil, nil, refusal(wire.StreamFull)
	}
	ctx, cancel := context.WithCancel(t.ctx)
	l := &link{stream: s, cancel: cancel, soft: soft, hard: hard}
	p.links[l] = struct{}{}
	t.streams.Add(1)
	t.opened.Add(1)
	return p, l, ctx, nil
}

func (t *tunnel) leave(p *passage, l *link) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.target != nil {
		l.target.Close()
	}
	l.cancel()
	delete(p.links, l)
	t.streams.Add(-1)
	if p.closing && len(p.links) == 0 {
		close(p.gone)
	}
}

// carry dials a target and copies until both directions have ended.
func (t *tunnel) carry(ctx context.Context, to Target, p *passage, l *link) {
	defer t.leave(p, l)
	dialling, cancel := context.WithTimeout(ctx, dialTimeout)
	var d net.Dialer
	conn, err := d.DialContext(dialling, to.Network, to.Address)
	cancel()
	if err != nil {
		t.failures.Add(1)
		l.reset(wire.StreamTarget)
		return
	}
	t.mu.Lock()
	if p.closing {
		t.mu.Unlock()
		conn.Close() // nothing was written to it
		return
	}
	l.target = conn
	t.mu.Unlock()
	var out sync.WaitGroup
	out.Go(func() { t.toMember(l) })
	t.toTarget(l)
	out.Wait()
}

func (l *link) reset(code wire.StreamCode) {
	l.stream.CancelRead(quic.StreamErrorCode(code))
	l.stream.CancelWrite(quic.StreamErrorCode(code))
}

// toTarget copies what the member sends. However that ends, the target hears that nothing more comes; that the session has ended is
// for sever to say.
func (t *tunnel) toTarget(l *link) {
	n, err := io.CopyBuffer(struct{ io.Writer }{l.target}, struct{ io.Reader }{l.stream}, make([]byte, copyBuffer))
	t.in.Add(uint64(n))
	if reset := (*quic.StreamError)(nil); err != nil && !errors.As(err, &reset) {
		l.stream.CancelRead(quic.StreamErrorCode(wire.StreamTarget)) // the target takes no more
	}
	closeWrite(l.target)
}

// toMember copies what the target sends, until the target has ended it.
func (t *tunnel) toMember(l *link) {
	n, err := io.CopyBuffer(struct{ io.Writer }{l.stream}, struct{ io.Reader }{l.target}, make([]byte, copyBuffer))
	t.out.Add(uint64(n))
	if err == nil {
		l.stream.Close()
		return
	}
	l.stream.CancelWrite(quic.StreamErrorCode(wire.StreamTarget))
	if l.soft {
		_, _ = io.Copy(io.Discard, l.target) // until the target ends it
		return
	}
	l.target.Close() // the member reads no more
}

// observe lets connections in beside the sessions.
func (t *tunnel) observe() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.strict = false
}

// enforce cuts what came through passages of connections, and lets nothing more through them, also of a stream that has asked before.
func (t *tunnel) enforce(list []*passage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.strict = true
	for _, p := range list {
		for l := range p.links {
			l.cut()
		}
	}
}

// close cuts everything.
func (t *tunnel) close() {
	t.mu.Lock()
	for slot, id := range t.bySlot {
		t.sessions[id].end()
		delete(t.sessions, id)
		delete(t.bySlot, slot)
	}
	t.mu.Unlock()
}
