package member

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// pageBytes bounds the entries of one page of the directory, so that the
// message fits a frame.
const pageBytes = wire.MaxFrame - 1024

// knownKept is how many members a checkpoint carries forward: enough to find
// the group again after a restart, about 2 MB of journal.
const knownKept = 4096

// gossipWhole is up to how many members a directory is asked for as a whole
// each time: 16 pages, about 400 kB.
const gossipWhole = 1024

// endpointPause is how often a member's endpoint record is journalled at most. A
// newer one that is not is asked for again after a restart.
const endpointPause = 10 * time.Minute

// learn takes in what the operator's files say.
func (m *Member) learn(in Learn) {
	if len(in.Configuration) > 0 {
		m.learnConfiguration(in.Configuration)
	}
	m.learnRevocations(in.Revocations)
	m.learnCertificates(in.Certificates)
	for _, raw := range in.Endpoints {
		m.learnEndpoint(raw)
	}
}

func (m *Member) learnCertificates(list [][]byte) {
	for _, raw := range list {
		m.learnCertificate(raw)
	}
}

// learnCertificate takes in one certificate. News is journalled, lazily, so
// that after a restart this member finds its peers without anybody's help.
func (m *Member) learnCertificate(raw []byte) (ident.Member, bool) {
	c, news, err := m.dir.Learn(raw)
	if err != nil {
		m.reject("certificate")
		return ident.Member{}, false
	}
	if news {
		m.ring.due = true
		m.persist(&journal.Known{What: journal.KnownCertificate, Object: raw}, false)
	}
	return c.Member(), true
}

// learnEndpoint takes in one endpoint record. Its member can sign as many as it
// likes, so not all of them are journalled.
func (m *Member) learnEndpoint(raw []byte) {
	news, err := m.dir.LearnEndpoint(raw)
	if err != nil {
		m.reject("endpoint record")
		return
	}
	m.ring.due = m.ring.due || news
	id, _ := certificate.EndpointSigner(m.cfg.Group.ID(), raw) // of what verified
	if last, ok := m.located[id]; news && (!ok || id == m.self || m.now.Boot.Sub(last) >= endpointPause) {
		m.located[id] = m.now.Boot
		m.persist(&journal.Known{What: journal.KnownEndpoint, Object: raw}, false)
	}
}

// knowledge is what a checkpoint carries of the group: its configuration, all
// revocations, and as many members as knownKept.
func (m *Member) knowledge() []journal.Record {
	known := func(what journal.Knowledge, raw []byte) journal.Record {
		return &journal.Known{What: what, Object: raw}
	}
	var list []journal.Record
	list = append(list, known(journal.KnownConfiguration, m.cfg.Group.Config().Raw()))
	revocations, _ := m.dir.Revocations(0, math.MaxInt)
	for _, raw := range revocations {
		list = append(list, known(journal.KnownRevocation, raw))
	}
	entries, _, _ := m.dir.Page(ident.Member{}, ident.LastMember(), knownKept, math.MaxInt)
	for _, e := range entries {
		list = append(list, known(journal.KnownCertificate, e.Certificate))
		if len(e.Endpoint) > 0 {
			list = append(list, known(journal.KnownEndpoint, e.Endpoint))
		}
	}
	return list
}

// learnRevocations takes in revocations. Whoever is newly revoked is handed
// the revocation and expelled, and every peer is told: a revocation waits for
// no token.
func (m *Member) learnRevocations(list [][]byte) {
	var news [][]byte
	for _, raw := range list {
		fresh, err := m.dir.LearnRevocation(raw)
		if err != nil {
			m.reject("revocation")
		}
		if err != nil || !fresh {
			continue
		}
		news = append(news, raw)
		m.persist(&journal.Known{What: journal.KnownRevocation, Object: raw}, false)
	}
	m.ring.due = m.ring.due || len(news) > 0
	m.expelRevoked()
	for chunk := range slices.Chunk(news, wire.MaxPage/4) {
		for _, id := range m.peersInOrder() {
			m.send(id, &wire.Revocations{Revocations: chunk})
		}
	}
}

// expelRevoked ends every connection with a revoked member, and this member
// itself when it is the one.
func (m *Member) expelRevoked() {
	if _, revoked := m.dir.Revocation(m.self); revoked && !m.revoked {
		m.revoked = true
		m.emit(effect.Stop{Reason: ErrRevoked})
	}
	for _, id := range m.peersInOrder() {
		if raw, revoked := m.dir.Revocation(id); revoked {
			m.emit(effect.Expel{Member: id, Revocation: raw})
			m.disconnected(id)
			m.handoff.PeerDown(id)
		}
	}
}

// learnConfiguration puts a newer group configuration into force. A lower
// version is refused and reported; the same one is no news.
func (m *Member) learnConfiguration(raw []byte) {
	if bytes.Equal(raw, m.cfg.Group.Config().Raw()) {
		return
	}
	if err := m.adopt(raw); err != nil {
		m.reject("configuration")
		m.emit(effect.Report{Kind: "configuration", Detail: err.Error()})
		return
	}
	m.persist(&journal.Known{What: journal.KnownConfiguration, Object: raw}, false)
	m.emit(effect.Reconfigure{Configuration: raw})
	for _, id := range m.peersInOrder() {
		m.send(id, &wire.Configuration{Configuration: raw})
	}
}

// gossip asks a random peer for its directory, once each gossip_interval, so
// that members that joined elsewhere become known on connections that last.
func (m *Member) gossip() {
	if m.now.Boot < m.gossipAt {
		return
	}
	m.gossipAt = m.now.Boot.Add(m.settings.GossipInterval)
	peers := m.peersInOrder()
	if len(peers) == 0 || m.dir.Len() > gossipWhole {
		return
	}
	id := peers[rand.New(m.sources.member).IntN(len(peers))]
	m.exchanges++
	m.askMembers(id, ident.Member{})
}

// askMembers asks a peer for a page of its directory. Only pages that were asked
// for are read: checking what is in one costs milliseconds.
func (m *Member) askMembers(id, from ident.Member) {
	p := m.peers[id]
	p.cursor = from
	p.asked++
	m.send(id, &wire.Want{Topic: wire.WantMembers, From: from, Through: ident.LastMember()})
}

// adopt puts a configuration into force if it is newer and this build knows
// its policies.
func (m *Member) adopt(raw []byte) error {
	config, err := group.ParseConfig(m.cfg.Group.ID(), raw, m.cfg.Group)
	if err != nil {
		return err
	}
	newer, err := m.cfg.Group.WithConfig(config)
	if err != nil {
		return err
	}
	old := m.cfg.Group
	m.cfg.Group = newer
	fresh, err := m.configure()
	if err != nil {
		m.cfg.Group = old
		return err
	}
	for _, s := range fresh {
		m.resumeSlot(s)
	}
	return nil
}

func (m *Member) announce(endpoint []byte) {
	m.endpoint = slices.Clone(endpoint)
	m.learnEndpoint(m.endpoint)
}

// directoryMessage answers questions about the directory and takes in answers.
func (m *Member) directoryMessage(from ident.Member, msg wire.Message) {
	switch msg := msg.(type) {
	case *wire.Want:
		m.want(from, msg)
	case *wire.Members:
		m.members(from, msg)
	case *wire.Configuration:
		m.learnConfiguration(msg.Configuration)
	case *wire.Revocations:
		before := m.dir.RevocationVersion()
		m.learnRevocations(msg.Revocations)
		// Only a page that advances asks for the next: no peer can keep this up.
		if after := m.dir.RevocationVersion(); msg.More && after > before {
			m.send(from, &wire.Want{Topic: wire.WantRevocations, Version: after})
		}
	}
}

func (m *Member) want(from ident.Member, msg *wire.Want) {
	switch msg.Topic {
	case wire.WantMembers:
		m.send(from, m.page(msg))
	case wire.WantConfiguration:
		m.send(from, &wire.Configuration{Configuration: m.cfg.Group.Config().Raw()})
	case wire.WantRevocations:
		list, more := m.dir.Revocations(msg.Version, wire.MaxPage/4)
		m.send(from, &wire.Revocations{Revocations: list, More: more})
	}
}

// page is one page of the directory.
func (m *Member) page(asked *wire.Want) *wire.Members {
	entries, last, more := m.dir.Page(asked.From, asked.Through, wire.MaxPage, pageBytes)
	return &wire.Members{Entries: entries, Through: last, More: more}
}

// members takes in one page of a peer's directory and asks for the next. A
// page that does not advance ends it, so that no peer can keep this up.
func (m *Member) members(from ident.Member, msg *wire.Members) {
	p := m.peers[from]
	if p == nil || p.asked == 0 {
		m.reject("not asked for")
		return
	}
	p.asked--
	for _, e := range msg.Entries {
		if _, ok := m.learnCertificate(e.Certificate); ok && len(e.Endpoint) > 0 {
			m.learnEndpoint(e.Endpoint)
		}
	}
	if next := msg.Through.Next(); msg.More && next.Compare(p.cursor) > 0 {
		m.askMembers(from, next)
	}
}

// reasonOf is the metric label of a dropped message.
func reasonOf(err error) string {
	for _, r := range []struct {
		err  error
		name string
	}{
		{token.ErrUnknownSigner, "unknown signer"}, {token.ErrSignature, "signature"},
		{token.ErrSigner, "signer"}, {token.ErrChain, "chain"}, {token.ErrField, "policy field"},
		{token.ErrMalformed, "malformed object"}, {handoff.ErrAddress, "address"}, {handoff.ErrUnsettled, "unsettled"},
	} {
		if errors.Is(err, r.err) {
			return r.name
		}
	}
	return "other"
}
