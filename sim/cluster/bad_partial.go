package cluster

import (
	"slices"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// newFavourer makes a member that passes tokens to the second half of the members only, who are honest
// and know nothing of that.
func newFavourer(n *node) badness {
	return &friend{n: n, likes: func(id ident.Member) bool {
		at := slices.IndexFunc(n.c.nodes, func(o *node) bool { return o.id == id })
		return 2*at >= len(n.c.nodes)
	}}
}

// swallower keeps from its member what the policies of others say, and sends nothing of it on: so it
// swallows the requests of a ring. What keepers say comes through.
type swallower struct {
	meek
	count int
}

func newSwallower(*node) badness { return &swallower{} }

func (s *swallower) hears(_ ident.Member, m wire.Message) bool {
	if _, ok := m.(*wire.Policy); !ok || keeperKind(m) != 0 {
		return true
	}
	s.count++
	return false
}
