package member

import (
	"time"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/protocol/wire"
)

// membership keeps the directory: which members there are. It keeps it equal to those of
// others. Verified objects come in through learner, configuration and revocations, and
// go out through dissemination; exchange and repairs find what has been missed.
type membership struct {
	*core
	live        *liveness
	faults      *faults
	records     *records
	news        *dissemination
	snapshots   *snapshots
	greeter     *greeter
	endpoints   *endpoints
	learner     *learner
	revocations *revocations
	configs     *configuration
	repairs     *repairs
	exchange    *exchange
}

// owner is what membership has done by the member around it.
type owner interface {
	// hasForgotten compares a position that this member has signed with its journal, and
	// gives up its memory if the journal has gone back.
	hasForgotten(p token.Position) bool
	// reconfigure makes the slots of the group configuration, and has everything follow it.
	reconfigure() error
	// expelRevoked ends all connections with revoked members.
	expelRevoked()
}

func newMembership(c *core, live *liveness, s *snapshots, g *greeter, owner owner) *membership {
	m := &membership{core: c, live: live, snapshots: s, greeter: g}
	m.faults = &faults{core: c, byMember: make(map[ident.Member]*faulty)}
	m.records = &records{core: c, written: newPacer(writePause, maxJournalled)}
	m.news = &dissemination{core: c, list: update.NewList(), passed: newPacer(tellPause, maxTold)}
	m.endpoints = newEndpoints(c, m.records, m.news, g, live.detector, owner)
	m.revocations = &revocations{core: c, faults: m.faults, records: m.records, news: m.news, owner: owner}
	m.learner = &learner{
		core: c, faults: m.faults, records: m.records, news: m.news, endpoints: m.endpoints,
		revocations: m.revocations, detector: live.detector, snapshots: s,
	}
	m.configs = &configuration{core: c, faults: m.faults, records: m.records, endpoints: m.endpoints, owner: owner}
	m.repairs = &repairs{core: c, faults: m.faults, learner: m.learner, snapshots: s}
	m.exchange = &exchange{
		core: c, snapshots: s, greeter: g, detector: live.detector, repairs: m.repairs, configs: m.configs,
		at: c.now.Boot, aloneAt: c.now.Boot,
	}
	live.detector.publish = func(statement []byte) { _ = m.learner.failure(m.self, statement) }
	return m
}

// admit takes in the certificate of a peer that has proved its identity.
func (m *membership) admit(c certificate.Certificate) {
	if m.dir.Admit(c) {
		m.records.known(journal.KnownCertificate, c.Raw())
	}
	m.dir.Connected(c.Member(), true)
}

// connected notes that a member has a connection with this one; it is not the first where
// another connection has taken the place of one.
func (m *membership) connected(id ident.Member, first bool) {
	if first {
		m.exchange.pause = 0
	}
	m.endpoints.connected(id)
}

// disconnected notes that a member has no connection with this one any more.
func (m *membership) disconnected(id ident.Member) {
	m.dir.Connected(id, false)
	m.endpoints.disconnected(id)
	m.configs.assemblies.drop(id)
	m.changed = true
}

// tick does what is due.
func (m *membership) tick() {
	m.endpoints.tick()
	m.exchange.tick()
}

// next is when tick has something to do.
func (m *membership) next() clock.Instant {
	return min(m.exchange.at, m.endpoints.attachAt, m.endpoints.signAt)
}

// ignores reports whether a message is not looked at as its peer has been at fault too
// often of late. What GOSSIP and WANT ask for is answered nonetheless.
func (m *membership) ignores(from ident.Member, msg wire.Message) bool {
	switch msg.(type) {
	case *wire.Configuration, *wire.Revocations:
		return m.faults.ignored(from)
	}
	return false
}

// message takes in a message about members, and reports whether it is one.
func (m *membership) message(from ident.Member, p *peer, msg wire.Message) (is bool) {
	switch msg := msg.(type) {
	case *wire.Gossip:
		m.exchange.onGossip(from, p, msg)
	case *wire.Want:
		m.exchange.onWant(from, msg)
	case *wire.Summary:
		m.repairs.onSummary(from, p, msg)
	case *wire.Members:
		m.repairs.onMembers(from, p, msg)
	case *wire.Probe:
		m.live.detector.onProbe(msg)
	case *wire.News:
		m.learner.updates(from, msg.Updates)
	case *wire.Configuration:
		m.configs.onMessage(from, msg)
	case *wire.Revocations:
		m.revocations.onMessage(from, msg)
	default:
		return false
	}
	return true
}

// learn takes in what the operator's files say.
func (m *membership) learn(in Learn) {
	if len(in.Configuration) > 0 {
		m.configs.learn(ident.Member{}, in.Configuration, in.Authorities)
	} else {
		m.configs.learnAuthorities(in.Authorities)
	}
	_ = m.revocations.learn(ident.Member{}, in.Revocations)
	for _, raw := range in.Certificates {
		_ = m.learner.certificate(ident.Member{}, raw, m.dir.Learn)
	}
	for _, raw := range in.Endpoints {
		_ = m.learner.endpoint(ident.Member{}, raw)
	}
	for _, raw := range in.Leaves {
		// The CA tells of members that this one need not know: of times before it.
		if id, err := certificate.LeaveSigner(m.cfg.Group.ID(), raw); err != nil || m.dir.Key(id) != nil {
			_ = m.learner.leave(ident.Member{}, raw)
		}
	}
}

// renew puts a newer certificate of this member into force. It is the same
// member: nothing else changes.
func (m *membership) renew(c certificate.Certificate) {
	if c.Member() != m.self {
		m.reject("certificate of another member")
		return
	}
	m.cfg.Certificate = c
	if m.dir.Admit(c) {
		m.records.known(journal.KnownCertificate, c.Raw())
	}
	if u, ok := m.news.joinOf(m.self); ok {
		m.news.disseminate(update.Key{Kind: update.KindJoin, Subject: m.self}, u)
	}
}

// died is when a member's last certificate ended, or when it was revoked.
func (m *membership) died(id ident.Member) (at time.Time, dead bool) {
	if raw, revoked := m.dir.Revocation(id); revoked {
		r, err := certificate.ParseRevocation(m.cfg.Group.ID(), raw, m.cfg.Group)
		if err != nil {
			return time.Time{}, false
		}
		return time.UnixMilli(int64(r.Body().Time)), true
	}
	c, known := m.dir.Certificate(id)
	if !known {
		return time.Time{}, false
	}
	return c.Body().NotAfter, true
}

// behind reports whether the CA has published, according to certificates it has
// signed, what is not known here yet.
func (m *membership) behind() bool {
	configuration, revocations := m.dir.Expected()
	return configuration > m.settings.Version || revocations > m.dir.RevocationVersion()
}
