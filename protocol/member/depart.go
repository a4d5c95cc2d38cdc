package member

import (
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/protocol/wire"
)

// leave signs that this member is no member any more, for ever, and tells every
// peer. The driver has let it pass on its tokens first, as far as that went, and
// closes it afterwards.
func (m *Member) leave() {
	if m.departed {
		return
	}
	m.shutdown()
	signed, err := certificate.Leave{Member: m.self, Time: m.now.Millis()}.Sign(m.cfg.Group.ID(), m.cfg.Key)
	if err != nil {
		m.emit(effect.Report{Kind: "leave not signed", About: m.self, Detail: err.Error()})
		return
	}
	raw := signed.Raw()
	if _, err := m.dir.LearnLeave(raw); err != nil {
		m.emit(effect.Report{Kind: "leave not taken", About: m.self, Detail: err.Error()})
		return
	}
	m.departed = true
	m.persist(&journal.Known{What: journal.KnownLeave, Object: raw}, true)
	news, err := update.Leave(raw, m.cfg.Certificate.Raw()).Encode()
	if err != nil {
		m.reject("update not encoded")
		return
	}
	for _, id := range m.peers.list() {
		m.send(id, &wire.News{Updates: [][]byte{news}})
	}
}

// depart ends a member that turns out to have left.
func (m *Member) depart() {
	if m.departed {
		return
	}
	m.departed = true
	m.emit(effect.Stop{Reason: ErrLeft})
}

// renew puts a newer certificate of this member into force. It is the same
// member: nothing else changes.
func (m *Member) renew(c certificate.Certificate) {
	if c.Member() != m.self {
		m.reject("certificate of another member")
		return
	}
	m.cfg.Certificate = c
	if m.dir.Admit(c) {
		m.persist(&journal.Known{What: journal.KnownCertificate, Object: c.Raw()}, false)
	}
	if u, ok := m.joinOf(m.self); ok {
		m.spread(update.Key{Kind: update.KindJoin, Subject: m.self}, u)
	}
}
