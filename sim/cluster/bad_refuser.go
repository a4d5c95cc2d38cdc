package cluster

import (
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// refuser wants turns as an honest member does, and takes no token: it refuses each offer, answers none, or accepts
// each and declines the transfer.
type refuser struct {
	meek
	n      *node
	how    refusal
	untook int // tokens, by offers and transfers
}

// refusal is how a refuser takes no token.
type refusal int

const (
	refuses  refusal = iota // an offer
	ignores                 // it
	declines                // the transfer
)

func newRefuser(n *node) badness  { return &refuser{n: n, how: refuses} }
func newIgnorer(n *node) badness  { return &refuser{n: n, how: ignores} }
func newDecliner(n *node) badness { return &refuser{n: n, how: declines} }

func (r *refuser) hears(from ident.Member, m wire.Message) bool {
	switch m := m.(type) {
	case *wire.Offer:
		if r.how == refuses {
			r.n.bad.adds(from, &wire.Refuse{Token: m.Token, Hop: m.Hop, Reason: wire.RefuseBusy})
		}
		if r.how != declines {
			r.untook++
			return false
		}
	case *wire.Transfer:
		b, hash, err := token.PeekTransfer(r.n.c.group.ID(), m.Transfer)
		if r.how != declines || err != nil || b.To != r.n.id {
			return true
		}
		r.untook++
		r.n.c.taint(b.Token) // when the driver is good again its member may take this very transfer
		body := token.AnswerBody{Transfer: hash, Token: b.Token, Hop: b.Hop, Signer: r.n.id, Incarnation: b.Incarnation}
		answer, err := body.Sign(r.n.c.group.ID(), token.Void, r.n.key)
		must(err)
		r.n.bad.adds(from, &wire.Void{Void: answer.Raw()})
		return false
	}
	return true
}
