package cluster

import (
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// dropper takes tokens, and its member knows nothing of them: it answers each question as
// one that never had them.
type dropper struct {
	meek
	n       *node
	quiet   bool // answers no transfer
	every   int  // drops one of so many transfers
	dropped map[ident.Hash]bool
	seen    int // transfers
	count   int // that it dropped
}

func newDropper(n *node) badness { return makeDropper(n, false, 1) }

func newDropperQuiet(n *node) badness { return makeDropper(n, true, 1) }

func newDropperHalf(n *node) badness { return makeDropper(n, false, 2) }

func makeDropper(n *node, quiet bool, every int) badness {
	return &dropper{n: n, quiet: quiet, every: every, dropped: make(map[ident.Hash]bool)}
}

// hears keeps transfers from the member, and signs receipts in its place.
func (d *dropper) hears(from ident.Member, m wire.Message) bool {
	t, ok := m.(*wire.Transfer)
	if !ok {
		return true
	}
	b, hash, err := token.PeekTransfer(d.n.c.group.ID(), t.Transfer)
	if err != nil || b.To != d.n.id {
		return true
	}
	drops, known := d.dropped[hash]
	if !known {
		d.seen++
		drops = d.seen%d.every == 0
		d.dropped[hash] = drops
		if drops {
			d.count++
			d.n.c.taint(b.Token)
		}
	}
	if drops && !d.quiet {
		answer, err := token.AnswerBody{
			Transfer: hash, Token: b.Token, Hop: b.Hop, Signer: d.n.id, Incarnation: b.Incarnation,
		}.Sign(d.n.c.group.ID(), token.Receipt, d.n.key)
		must(err)
		d.n.adds(from, &wire.Receipt{Receipt: answer.Raw()})
	}
	return !drops
}
