package member

import (
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/protocol/wire"
)

// leave signs that this member has left the group permanently, and tells every
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
