package cluster

import (
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/wire"
)

// friend passes tokens to some members only: it lets its member believe that all others refuse
// them.
type friend struct {
	meek
	n     *node
	likes func(ident.Member) bool
}

// newFriend makes a member that likes others of its kind.
func newFriend(n *node) badness {
	return &friend{n: n, likes: func(id ident.Member) bool {
		o := n.c.find(id)
		return o != nil && o.kind == n.kind
	}}
}

func (f *friend) sends(e effect.Send) []effect.Send {
	m, ok := e.Message.(*wire.Offer)
	if !ok || f.likes(e.To) {
		return []effect.Send{e}
	}
	f.n.c.taint(m.Token)
	body, err := wire.Encode(&wire.Refuse{Token: m.Token, Hop: m.Hop, Reason: wire.RefuseBusy})
	must(err)
	life := f.n.life
	f.n.after(f.n.c.net.delay, func() {
		if f.n.life == life {
			f.n.put(member.Received{From: e.To, Body: body})
		}
	})
	return nil
}
