package member

import (
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// ProtocolVersion is the one version of the protocol spoken here.
const ProtocolVersion = 1

// connected takes in that a peer has proved its identity.
func (m *Member) connected(c certificate.Certificate) {
	id := c.Member()
	if raw, revoked := m.dir.Revocation(id); revoked {
		m.emit(effect.Expel{Member: id, Revocation: raw})
		return
	}
	m.members.admit(c)
	m.live.connected(id)
	first := !m.peers.has(id)
	if first {
		m.peers.add(id, m.newPeer())
	} else { // nobody has said how the one before ended
		m.circ.custody.handoff.PeerClosed(id, true)
	}
	m.introduce(id)
	m.members.connected(id, first)
	m.circ.connected(id)
}

// introduce sends a HELLO.
func (m *Member) introduce(id ident.Member) {
	hello := &wire.Hello{
		Versions: [2]uint64{ProtocolVersion, ProtocolVersion}, Incarnation: m.incarnation,
		MaxFrame: wire.MaxFrame, Configuration: m.settings.Version,
		Revocations: m.dir.RevocationVersion(), Endpoint: m.members.endpoints.record.Raw(), Time: m.now.Millis(),
		Shown: m.circ.book.latest.shown(id),
	}
	m.circ.custody.handoff.Introduce(id, hello)
	m.send(id, hello)
}

// disconnected takes in that a peer has no connection any more.
func (m *Member) disconnected(id ident.Member) {
	m.members.disconnected(id)
	m.live.disconnected(id)
	m.peers.remove(id)
}

// receive decodes a frame and hands the message on. A message that does not fit is counted
// and changes nothing.
func (m *Member) receive(in Received) {
	p := m.peers.of(in.From)
	if p == nil {
		m.reject("not connected")
		return
	}
	m.live.own.heardAt = m.now.Boot
	msg, err := wire.Decode(in.Body)
	if err != nil {
		m.reject("malformed")
		return
	}
	err = m.judge(in.From, p, msg)
	if err == nil {
		err = m.message(in.From, p, msg)
	}
	if err != nil {
		m.reject(reasonOf(err))
	}
}

// judge finds why a message is not looked at, for a reason that does not depend on what
// it is about. Every limit on the messages of a peer is checked here.
func (m *Member) judge(from ident.Member, p *peer, msg wire.Message) (rejected error) {
	hello, greets := msg.(*wire.Hello)
	kind, counts := limitOf(msg)
	switch {
	case greets && (hello.Versions[0] > ProtocolVersion || hello.Versions[1] < ProtocolVersion):
		return rejection("protocol version")
	case !greets && p.hello == nil && msg.Type() != wire.TypeRevocations:
		return rejection("before hello") // only a peer that has revoked this member says so without a greeting
	case m.members.ignores(from, msg):
		return rejection("ignored peer")
	case counts && !m.allows(p, kind):
		return m.limits[kind].exceeded
	}
	return nil
}

// message routes a message.
func (m *Member) message(from ident.Member, p *peer, msg wire.Message) error {
	if hello, ok := msg.(*wire.Hello); ok {
		m.hello(from, p, hello)
		return nil
	}
	if m.members.message(from, p, msg) {
		return nil
	}
	return m.circ.message(from, msg)
}

// hello opens a connection: the side that knows less asks the other one.
func (m *Member) hello(from ident.Member, p *peer, msg *wire.Hello) {
	p.hello = msg
	m.circ.admission.clocks.note(m.now.Boot, from, msg.Time)
	m.isShown(from, msg.Shown)
	m.circ.recall.greeted(from)
	m.live.monitors.greeted(from, msg.Incarnation)
	m.circ.greeted(from)
	m.members.news.asNews(func() { _ = m.members.learner.endpoint(from, msg.Endpoint) })
	m.members.exchange.compareVersions(from, p, msg.Configuration, msg.Revocations)
	m.circ.custody.handoff.PeerUp(from, msg)
	m.members.learner.showFailures(from)
	if len(m.members.snapshots.from) < snapshotsWanted && !m.stopping {
		m.members.greeter.greet(from)
	}
}

// expelRevoked ends every connection with a revoked member, and this member
// itself when it is the one.
func (m *Member) expelRevoked() {
	if _, revoked := m.dir.Revocation(m.self); revoked && !m.revoked {
		m.revoked = true
		m.emit(effect.Stop{Reason: ErrRevoked})
	}
	for _, id := range m.peers.list() {
		if raw, revoked := m.dir.Revocation(id); revoked {
			m.emit(effect.Expel{Member: id, Revocation: raw})
			m.disconnected(id)
			m.circ.custody.handoff.PeerDown(id)
		}
	}
}
