package member

import (
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/wire"
)

const (
	// ProtocolVersion is the one version of the protocol spoken here.
	ProtocolVersion = 1

	// helloRate and helloBurst bound the greetings of one peer, per second and
	// at once. One opens a connection, and what waits for the peer is sent
	// again.
	helloRate  = 1
	helloBurst = 10

	// configurationRate and configurationBurst bound the CONFIGURATION of one
	// peer, per second and at once. There is a new one now and then; an older one
	// costs an answer of up to 290 kB.
	configurationRate  = 1
	configurationBurst = 10
)

// peer is a member with a connection.
type peer struct {
	hello         *wire.Hello
	configuration uint64 // the highest version that it has shown or was given
	revocations   uint64 // up to which version it has shown to know all
	repairing     repairing
	late          int // questions about its directory that it has not answered in time

	policies, tells                        rations // POLICY messages from it, and to it
	greetings, news, gossips, probes, work budget  // what it may still do
	questions                              budget  // that it may still be asked
	updates, configurations                budget  // that are looked at
}

func newPeer(now clock.Instant, policies float64) *peer {
	return &peer{
		policies: newRations(policies, now), tells: newRations(policies, now), greetings: budget{helloBurst, now}, news: budget{newsBurst, now},
		gossips: budget{gossipBurst, now}, probes: budget{probeBurst, now}, work: budget{askedWorkBurst, now},
		questions: budget{questionBurst, now}, updates: budget{updateBurst, now},
		configurations: budget{configurationBurst, now},
	}
}

func (m *Member) connected(c certificate.Certificate) {
	id := c.Member()
	if raw, revoked := m.dir.Revocation(id); revoked {
		m.emit(effect.Expel{Member: id, Revocation: raw})
		return
	}
	if m.dir.Admit(c) {
		m.members.records.known(journal.KnownCertificate, c.Raw())
	}
	m.dir.Connected(id, true)
	m.live.connected(id)
	if !m.peers.has(id) {
		m.peers.add(id, newPeer(m.now.Boot, m.circ.messenger.burst))
		m.members.exchange.pause = 0
	} else { // nobody has said how the one before ended
		m.circ.custody.handoff.PeerClosed(id, true)
	}
	m.introduce(id)
	m.circ.messenger.connected(id)
	m.members.connected(id)
	m.circ.remind(id)
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

func (m *Member) disconnected(id ident.Member) {
	m.members.disconnected(id)
	m.live.disconnected(id)
	m.peers.remove(id)
}

// receive turns a frame into a message and hands it to who it is for. What
// does not fit is counted and changes nothing.
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
	switch hello, ok := msg.(*wire.Hello); {
	case ok:
		m.hello(in.From, p, hello)
	case p.hello == nil && msg.Type() != wire.TypeRevocations:
		// Only who has revoked this member says so without a greeting.
		m.reject("before hello")
	default:
		if err := m.message(in.From, p, msg); err != nil {
			m.reject(reasonOf(err))
		}
	}
}

// message routes a message of a peer that has greeted.
func (m *Member) message(from ident.Member, p *peer, msg wire.Message) error {
	switch msg.(type) {
	case *wire.Gossip, *wire.Want, *wire.Summary, *wire.Members, *wire.Probe, *wire.News, *wire.Configuration, *wire.Revocations:
		m.members.message(from, p, msg)
		return nil
	default:
		return m.circ.message(from, p, msg)
	}
}

// hello opens a connection: who has newer knowledge is asked for it.
func (m *Member) hello(from ident.Member, p *peer, msg *wire.Hello) {
	if msg.Versions[0] > ProtocolVersion || msg.Versions[1] < ProtocolVersion {
		m.reject("protocol version")
		return
	}
	if !p.greetings.spend(m.now.Boot, helloRate, helloBurst) {
		m.reject("hello rate")
		return
	}
	p.hello = msg
	m.circ.admission.clocks.note(m.now.Boot, from, msg.Time)
	m.isShown(from, msg.Shown)
	m.circ.recall.greeted(from)
	m.live.monitors.greeted(from, msg.Incarnation)
	m.circ.greeted(from)
	m.members.news.asNews(func() { _ = m.members.learner.endpoint(from, msg.Endpoint) })
	m.members.exchange.compareVersions(from, p, msg.Configuration, msg.Revocations)
	m.circ.custody.handoff.PeerUp(from, msg)
	m.members.learner.tellFailed(from)
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
