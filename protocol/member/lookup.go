package member

import "github.com/wandertoken/wander/protocol/ident"

// ResourceOf is the resource of a token that is here, or was here not long ago; empty if that is not known.
func ResourceOf(m *Member, t ident.Token) string {
	for _, s := range m.circ.slots.order {
		for _, v := range s.visits {
			if v.Token == t {
				return s.key.resource
			}
		}
	}
	for _, h := range m.circ.custody.holds {
		if h.token == t {
			return h.slot.key.resource
		}
	}
	return ""
}
