package cluster

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
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
	old     bool // its receipts name a position from before all custodies of its opening: it may have forgotten them
	dropped map[ident.Hash]bool
	seen    int // transfers
	count   int // that it dropped
}

func newDropper(n *node) badness { return makeDropper(n, false, 1) }

func newDropperQuiet(n *node) badness { return makeDropper(n, true, 1) }

func newDropperHalf(n *node) badness {
	d := makeDropper(n, false, 2)
	d.old = true
	return d
}

func makeDropper(n *node, quiet bool, every int) *dropper {
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
		body := token.AnswerBody{Transfer: hash, Token: b.Token, Hop: b.Hop, Signer: d.n.id, Incarnation: b.Incarnation}
		if d.old {
			body.Extensions = d.opening().Extensions()
		}
		answer, err := body.Sign(d.n.c.group.ID(), token.Receipt, d.n.key)
		must(err)
		d.n.bad.adds(from, &wire.Receipt{Receipt: answer.Raw()})
	}
	return !drops
}

// opening is that of the member's journal.
func (d *dropper) opening() token.Position {
	raw, _ := d.n.member.Endpoint(d.n.id)
	e, err := certificate.ParseEndpoint(d.n.c.group.ID(), raw, d.n.certificate.Key())
	must(err)
	return token.PositionOf(e.Body().Extensions)
}

// dropperRestart drops each token, and its process ends: whatever it denies it may have forgotten.
type dropperRestart struct {
	*dropper
	ended int // for so many tokens
}

// downFor is how long such a member is down: no longer than others take to find the loss.
const downFor = 500 * time.Millisecond

func newDropperRestart(n *node) badness {
	d := makeDropper(n, false, 1)
	d.old = true
	return &dropperRestart{dropper: d}
}

func (d *dropperRestart) ticks() {
	if d.count == d.ended {
		return
	}
	d.ended = d.count
	n := d.n
	n.crash(false)
	life := n.life
	n.c.after(downFor, func() {
		if n.member == nil && n.life == life {
			n.start(false)
			n.meetSomebody()
			n.requests++
			n.put(member.Demand{Request: n.requests, Resource: n.c.resources[0].Name, MaxHold: n.c.resources[0].MaxHold})
		}
	})
}

// dropperSent drops each token, and names a dead member to which it has passed it.
type dropperSent struct{ *dropper }

func newDropperSent(n *node) badness { return dropperSent{newDropper(n).(*dropper)} }

func (d dropperSent) sends(e effect.Send) []effect.Send {
	m, ok := e.Message.(*wire.Policy)
	if !ok || keeperKind(m) != keeperNever || len(m.Body) < 1+custodyLength {
		return []effect.Send{e}
	}
	says, dead := *m, ident.Member{1}
	says.Body = slices.Concat([]byte{keeperSent}, m.Body[1:1+custodyLength], dead[:], make([]byte, 4))
	return []effect.Send{{To: e.To, Message: &says}}
}
