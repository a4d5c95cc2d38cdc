package member

import (
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/handoff"
)

// convicted makes proof that anybody can check of two objects that convict
// their signer. The journal has the objects already.
func (m *Member) convicted(n *handoff.Notice) {
	g := m.cfg.Group
	var own []byte
	if c, ok := m.dir.Certificate(n.Peer); ok {
		own = c.Raw()
	}
	e, err := evidence.New(g.ID(), g.Statements(), own, n.Objects[0], n.Objects[1])
	if err != nil {
		// Its certificate is by a CA key of which this member has no statement any
		// more, or is very large. An auditor can still make evidence of the journal.
		m.emit(effect.Report{Kind: "evidence not complete", About: n.Peer, Detail: err.Error()})
		return
	}
	raw, err := e.Encode()
	if err != nil {
		m.emit(effect.Report{Kind: "evidence not complete", About: n.Peer, Detail: err.Error()})
		return
	}
	m.emit(effect.Evidence{Kind: e.Kind.String(), Accused: e.Accused, ID: e.ID(), Encoded: raw})
}
