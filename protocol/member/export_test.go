package member

import "github.com/wandertoken/wander/protocol/ident"

// Shunned reports whether a member is not offered tokens for not answering.
func (m *Member) Shunned(id ident.Member) bool { return m.shunned(id) }
