package driver

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/certificate"
	core "github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/permit"
	"github.com/wandertoken/wander/protocol/token"
)

// visitors are the connections of members, and what they share. It is safe for concurrent use.
type visitors struct {
	gate     *Gate
	larges   chan struct{} // one place for each large frame that is read
	verifies chan struct{} // one place for each sign-in that is verified
	signers  certificates
	seen     *token.Memory // of permits: the last one's transfer is the one before in the next

	mu      sync.Mutex
	list    []*visitor // the oldest first
	closing bool
}

func newVisitors(g *Gate) *visitors {
	return &visitors{gate: g, larges: make(chan struct{}, maxLarge), verifies: make(chan struct{}, runtime.GOMAXPROCS(0)), seen: token.NewMemory(g.cfg.Group.ID())}
}

// enter makes room for a connection.
func (s *visitors) enter(q *quic.Conn, cert certificate.Certificate) (*visitor, error) {
	state := q.ConnectionState().TLS
	value, err := state.ExportKeyingMaterial(wire.ExporterLabel, nil, permit.ExporterSize)
	if err != nil {
		return nil, err
	}
	g := s.gate
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closing:
		return nil, transport.ErrShuttingDown
	case g.known.isRevoked(cert.Member()): // here, so that expel finds whoever comes before
		return nil, transport.ErrRevoked
	}
	var own []*visitor
	for _, v := range s.list {
		if v.member == cert.Member() && !v.gone() {
			own = append(own, v)
		}
	}
	if len(own) >= MaxPerMember {
		s.evict(own[0])
	} else if len(s.list) >= MaxConnections && !s.makeRoom() {
		g.counts.evicted.Add(1)
		g.notes.note("too many connections", "member", cert.Member())
		return nil, transport.ErrOverload
	}
	v := &visitor{
		gate: g, quic: q, cert: cert, member: cert.Member(), exporter: [permit.ExporterSize]byte(value),
		out: make(chan wire.Frame, outRoom), live: make(map[uint64]core.Connection), passage: newPassage(-1),
	}
	v.heard.Store(time.Now().UnixNano())
	s.list = append(s.list, v)
	g.counts.accepted.Add(1)
	return v, nil
}

// evict closes a connection for another one. It needs mu.
func (s *visitors) evict(v *visitor) {
	s.gate.counts.evicted.Add(1)
	s.gate.notes.note("connection closed for another one", "member", v.member)
	v.drop(transport.ErrOverload)
	s.remove(v)
}

// makeRoom closes the connection without a sign-in that has been silent for longest. It needs mu.
func (s *visitors) makeRoom() bool {
	var idlest *visitor
	for _, v := range s.list {
		if v.living.Load() == 0 && (idlest == nil || v.heard.Load() < idlest.heard.Load()) {
			idlest = v
		}
	}
	if idlest == nil {
		return false
	}
	s.evict(idlest)
	return true
}

// remove needs mu.
func (s *visitors) remove(v *visitor) {
	s.list = slices.DeleteFunc(s.list, func(o *visitor) bool { return o == v })
}

func (s *visitors) leave(v *visitor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(v)
}

func (s *visitors) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.list)
}

// expel closes the connections of members that are revoked, behind what the machine says to them.
func (s *visitors) expel() {
	s.mu.Lock()
	var out []*visitor
	for _, v := range s.list {
		if s.gate.known.isRevoked(v.member) {
			out = append(out, v)
		}
	}
	s.mu.Unlock()
	for _, v := range out {
		s.gate.engine.put(s.gate.ctx, func() { v.drop(transport.ErrRevoked) })
	}
}

// enforce cuts what has come in while the gate observed.
func (s *visitors) enforce() {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*passage
	for _, v := range s.list {
		list = append(list, v.passage)
	}
	s.gate.tunnel.enforce(list)
}

// shut closes all connections, and lets nobody in any more.
func (s *visitors) shut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing = true
	for _, v := range s.list {
		v.drop(transport.ErrShuttingDown)
	}
}

// large waits for a place for a large frame of a stream, or for the end of its connection. The frame has to come soon: others wait for the place.
func (s *visitors) large(ctx context.Context, control *quic.Stream) (done func()) {
	select {
	case s.larges <- struct{}{}:
		_ = control.SetReadDeadline(time.Now().Add(largeTimeout))
		return func() {
			_ = control.SetReadDeadline(time.Time{})
			<-s.larges
		}
	case <-ctx.Done():
	case <-s.gate.ctx.Done():
	}
	return func() {}
}

// verifying waits for a place to verify a sign-in.
func (s *visitors) verifying() (done func()) {
	s.verifies <- struct{}{}
	return func() { <-s.verifies }
}
