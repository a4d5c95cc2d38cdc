package member

import (
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/permit"
)

// PermitOf is the encoded permit of a token that a member holds at a hop, or nil: it holds it no more, or does not know the
// certificate of somebody who signed it.
func PermitOf(m *Member, t ident.Token, hop uint64) []byte {
	title, ok := m.circ.custody.handoff.Title(t, hop)
	if !ok {
		return nil
	}
	certificate := func(id ident.Member) []byte { return []byte(m.dir.RawCertificate(id)) }
	raw, err := permit.New(m.cfg.Group.ID(), title, m.circ.custody.handoff.Before(t, hop), certificate).Encode()
	if err != nil {
		return nil
	}
	return raw
}
