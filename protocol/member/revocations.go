package member

import (
	"cmp"
	"errors"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/protocol/wire"
)

// learnRevocations takes in revocations. Whoever is newly revoked is handed
// the revocation and expelled, and every peer is told: a revocation waits for
// no token.
func (m *Member) learnRevocations(from ident.Member, list [][]byte) error {
	var news [][]byte
	var faulty error
	for _, raw := range list {
		fresh, err := m.dir.LearnRevocation(raw)
		if err != nil {
			err = m.unlearned(from, "revocation", err)
			faulty = cmp.Or(err, faulty)
			if err != nil && !errors.Is(err, certificate.ErrUnknownCA) {
				break
			}
		}
		if !fresh {
			continue
		}
		news = append(news, raw)
		m.persist(&journal.Known{What: journal.KnownRevocation, Object: raw}, false)
		if r, err := certificate.PeekRevocation(m.cfg.Group.ID(), raw); err == nil { // it has just been verified
			m.spread(update.Key{Kind: update.KindRevocation, Subject: r.Member}, update.Revocation(raw))
		}
	}
	if len(news) == 0 {
		return faulty
	}
	m.changed = true
	m.expelRevoked()
	for _, id := range m.peers.list() {
		if id != from {
			m.tellRevoked(id, news)
		}
	}
	return faulty
}

// tellRevoked tells a peer of those of some revocations that it has not shown to
// know.
func (m *Member) tellRevoked(id ident.Member, news [][]byte) {
	var list [][]byte
	for _, raw := range news {
		r, err := certificate.PeekRevocation(m.cfg.Group.ID(), raw)
		if err == nil && r.Version > m.peers.of(id).revocations {
			list = append(list, raw)
		}
	}
	for _, chunk := range bundles(list) {
		m.send(id, &wire.Revocations{Revocations: chunk})
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
			m.handoff.PeerDown(id)
		}
	}
}
