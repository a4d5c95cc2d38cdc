package cluster

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// hoarder takes each token, and lets none go. It runs nothing, and tells all who look for a
// token that a program runs under the one that it took last, as often as they bear.
type hoarder struct {
	meek
	n      *node
	took   hop // the token that it took last
	taken  int
	askers []ident.Member      // who has looked for a token
	says   *wire.Policy        // a keeper's message, of which the others are made
	next   time.Duration       // when it tells them again
	claims func() wire.Message // what it says: that it has this token
}

// hoarderTells is how often a hoarder tells those who look for a token.
const hoarderTells = time.Second

func newHoarder(n *node) badness { return makeHoarder(n) }

func makeHoarder(n *node) *hoarder {
	h := &hoarder{n: n}
	h.claims = func() wire.Message { return h.has(h.took) }
	return h
}

func (h *hoarder) runs() bool { return false }

func (h *hoarder) sends(e effect.Send) []effect.Send {
	switch m := e.Message.(type) {
	case *wire.Offer, *wire.Transfer:
		return nil
	case *wire.Receipt:
		b, err := peekReceipt(h.n.c.group.ID(), m.Receipt)
		must(err)
		h.n.c.taint(b.Token)
		h.took = hop{b.Token, b.Hop}
		h.taken++
	case *wire.Policy:
		switch keeperKind(m) {
		case keeperHave, keeperRest, keeperReturned, keeperWent, keeperNone:
			h.says = m
			if h.taken > 0 {
				return []effect.Send{{To: e.To, Message: h.claims()}}
			}
		}
	}
	return []effect.Send{e}
}

// has says that a program runs under a token for as long as one may.
func (h *hoarder) has(c hop) wire.Message {
	return keeperSays(h.says, c.token, c.number, uint32(h.n.c.resources[0].MaxHold.Milliseconds()))
}

func (h *hoarder) hears(from ident.Member, m wire.Message) bool {
	if k := keeperKind(m); (k == keeperAsk || k == keeperWant) && !slices.Contains(h.askers, from) {
		h.askers = append(h.askers, from)
	}
	return true
}

func (h *hoarder) ticks() {
	if h.says == nil || h.taken == 0 || h.n.c.now < h.next {
		return
	}
	h.next = h.n.c.now + hoarderTells
	for _, id := range h.askers {
		h.n.bad.adds(id, h.claims())
	}
}
