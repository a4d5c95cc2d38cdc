package member

import (
	"errors"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
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
		m.peers.add(id, newPeer(m.now.Boot, m.policyBurst))
		m.members.exchange.pause = 0
	} else { // nobody has said how the one before ended
		m.handoff.PeerClosed(id, true)
	}
	m.introduce(id)
	m.tellAnswered(id)
	m.members.connected(id)
	m.remind(id)
}

// introduce sends a HELLO.
func (m *Member) introduce(id ident.Member) {
	hello := &wire.Hello{
		Versions: [2]uint64{ProtocolVersion, ProtocolVersion}, Incarnation: m.incarnation,
		MaxFrame: wire.MaxFrame, Configuration: m.settings.Version,
		Revocations: m.dir.RevocationVersion(), Endpoint: m.members.endpoints.record.Raw(), Time: m.now.Millis(),
		Shown: m.memories.shown(id),
	}
	m.handoff.Introduce(id, hello)
	m.send(id, hello)
}

// maxBroken bounds the members whose broken connections are kept in mind. Without one,
// what was lost with it is said again later.
const maxBroken = 1024

// breaks notes that a connection broke: what was under way is lost.
func (m *Member) breaks(id ident.Member) {
	if len(m.broken) >= maxBroken {
		clear(m.broken)
	}
	m.broken[id] = struct{}{}
}

// remind tells the policies again that somebody wants to run, when a member is there
// again whose connection broke: what they have said may be lost.
func (m *Member) remind(id ident.Member) {
	if _, broken := m.broken[id]; !broken {
		return
	}
	delete(m.broken, id)
	for _, s := range m.order {
		if s.demand {
			m.events.notify(s, policy.Event{Kind: policy.DemandChanged, Demand: true})
		}
	}
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

func (m *Member) message(from ident.Member, p *peer, msg wire.Message) error {
	switch msg := msg.(type) {
	case *wire.Offer:
		m.members.learner.signers(from, msg.Certificates)
		m.handoff.OnOffer(from, msg)
	case *wire.Need:
		m.handoff.OnNeed(from, msg)
	case *wire.Accept:
		m.handoff.OnAccept(from, msg)
	case *wire.Refuse:
		m.handoff.OnRefuse(from, msg)
		m.refused(msg)
	case *wire.Cancel:
		m.handoff.OnCancel(from, msg)
	case *wire.Transfer:
		m.members.learner.signers(from, msg.Certificates)
		m.members.learner.updates(from, msg.Updates)
		err := m.handoff.OnTransfer(from, msg)
		if errors.Is(err, handoff.ErrPaused) {
			m.recall.putOff[from] = true
		}
		return err
	case *wire.Receipt:
		m.members.learner.updates(from, msg.Updates)
		return m.handoff.OnAnswer(from, token.Receipt, msg.Receipt)
	case *wire.Void:
		return m.handoff.OnAnswer(from, token.Void, msg.Void)
	case *wire.Unknown:
		return m.handoff.OnAnswer(from, token.Unknown, msg.Unknown)
	case *wire.Policy:
		m.policyMessage(from, p, msg)
	default:
		m.members.message(from, p, msg)
	}
	return nil
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
	m.clocks.note(m.now.Boot, from, msg.Time)
	m.isShown(from, msg.Shown)
	m.noteGreeting(from)
	m.live.monitors.greeted(from, msg.Incarnation)
	m.policiesGreet(from)
	m.members.news.asNews(func() { _ = m.members.learner.endpoint(from, msg.Endpoint) })
	m.members.exchange.compareVersions(from, p, msg.Configuration, msg.Revocations)
	m.handoff.PeerUp(from, msg)
	m.members.learner.tellFailed(from)
	if len(m.members.snapshots.from) < snapshotsWanted && !m.stopping {
		m.members.greeter.greet(from)
	}
}

// isForRevoked reports whether an effect would talk to a revoked member. Handoffs
// go on asking for what it was sent and has not answered, but nobody dials it: it
// answers nobody any more, and is told why when it comes.
func (m *Member) isForRevoked(e effect.Effect) bool {
	s, ok := e.(effect.Send)
	return ok && m.dir.Revoked(s.To)
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
			m.handoff.PeerDown(id)
		}
	}
}
