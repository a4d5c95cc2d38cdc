package cluster

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// prophet has no token, and promises all others that the token rests with it, at a hop that the token has not
// reached. When it is asked for that token it says that it has none, or that another member has it, each time another
// one. It refuses each token.
type prophet struct {
	meek
	n     *node
	says  *wire.Policy // a keeper's message, of which the others are made
	token ident.Token  // that the others use
	hop   uint64       // that it has promised last
	next  time.Duration
	told  int // promises
	names bool
	named int // members
}

const (
	prophetTells = 500 * time.Millisecond // from one promise to the next
	prophetLeaps = 1000                   // hops further than the last promise
)

func newProphet(n *node) badness      { return &prophet{n: n} }
func newProphetNames(n *node) badness { return &prophet{n: n, names: true} }

// learns notes a custody that others speak of.
func (p *prophet) learns(b []byte) {
	if len(b) < custodyLength || isAnyHop(b) {
		return
	}
	if t := ident.Token(b[:32]); t != (ident.Token{}) {
		p.token, p.hop = t, max(p.hop, binary.BigEndian.Uint64(b[32:]))
	}
}

func (p *prophet) hears(from ident.Member, m wire.Message) bool {
	switch m := m.(type) {
	case *wire.Offer:
		p.token, p.hop = m.Token, max(p.hop, m.Hop)
		p.n.bad.adds(from, &wire.Refuse{Token: m.Token, Hop: m.Hop, Reason: wire.RefuseBusy})
		return false
	case *wire.Policy:
		switch keeperKind(m) {
		case keeperHave, keeperAsk, keeperRest, keeperReturned:
			p.learns(m.Body[1:])
		}
	}
	return true
}

func (p *prophet) sends(e effect.Send) []effect.Send {
	m, ok := e.Message.(*wire.Policy)
	if ok {
		p.says = m
	}
	switch keeperKind(e.Message) {
	case keeperHave, keeperRest, keeperReturned, keeperWent, keeperNone:
	default:
		return []effect.Send{e}
	}
	if p.told == 0 {
		return []effect.Send{e}
	}
	says := *m
	says.Body = binary.BigEndian.AppendUint32([]byte{keeperNone}, math.MaxUint32)
	if p.names {
		honest := p.n.c.nodes.honest()
		p.named = (p.named + 1) % len(honest)
		says.Body = binary.BigEndian.AppendUint64(append([]byte{keeperWent}, p.token[:]...), p.hop)
		says.Body = append(says.Body, honest[p.named].id[:]...)
		says.Body = binary.BigEndian.AppendUint32(says.Body, 0)
	}
	return []effect.Send{{To: e.To, Message: &says}}
}

func (p *prophet) ticks() {
	if p.says == nil || p.token == (ident.Token{}) || p.n.c.now < p.next {
		return
	}
	p.next = p.n.c.now + prophetTells
	p.hop += prophetLeaps
	p.told++
	says := *p.says
	says.Body = binary.BigEndian.AppendUint64(append([]byte{keeperRest}, p.token[:]...), p.hop)
	says.Body = binary.BigEndian.AppendUint64(says.Body, 1) // the life of its policy
	says.Body = binary.BigEndian.AppendUint32(says.Body, uint32(p.told))
	for _, n := range p.n.c.nodes.honest() {
		p.n.bad.adds(n.id, &says)
	}
}

// herald refuses each token, or has its turns, and answers each question with the truth. But it tells all others unasked, again and again, that it has passed the
// token on, at the hop that comes next or one soon after, to one honest member after the other. So that member disowns a custody which it may have
// a moment later.
type herald struct {
	meek
	n     *node
	says  *wire.Policy // a keeper's message, of which the others are made
	known hop          // the latest custody of which others have told
	next  time.Duration
	told  int
	turns bool // it takes tokens: its words may come as answers while it has one
}

// heraldTells is from one such word to the next, but for what is drawn at random: a keeper hears one in each silence.
const heraldTells = silence / 8

func newHerald(n *node) badness      { return &herald{n: n} }
func newHeraldTurns(n *node) badness { return &herald{n: n, turns: true} }

func (h *herald) learns(c hop) {
	if c.token != h.known.token || c.number > h.known.number {
		h.known = c
	}
}

func (h *herald) hears(from ident.Member, m wire.Message) bool {
	switch m := m.(type) {
	case *wire.Offer:
		h.learns(hop{m.Token, m.Hop})
		if h.turns {
			return true
		}
		h.n.bad.adds(from, &wire.Refuse{Token: m.Token, Hop: m.Hop, Reason: wire.RefuseBusy})
		return false
	case *wire.Policy:
		switch keeperKind(m) {
		case keeperHave, keeperAsk, keeperRest, keeperReturned:
			if len(m.Body) > custodyLength && ident.Token(m.Body[1:33]) != (ident.Token{}) && !isAnyHop(m.Body[1:]) {
				h.learns(hop{ident.Token(m.Body[1:33]), binary.BigEndian.Uint64(m.Body[33:])})
			}
		}
	}
	return true
}

func (h *herald) sends(e effect.Send) []effect.Send {
	if m, ok := e.Message.(*wire.Policy); ok && keeperKind(m) != 0 {
		h.says = m
	}
	return []effect.Send{e}
}

func (h *herald) ticks() {
	if h.says == nil || h.known == (hop{}) || h.n.c.now < h.next {
		return
	}
	h.next = h.n.c.now + heraldTells + h.n.c.random(heraldTells)
	honest := h.n.c.nodes.honest()
	h.told++
	says := *h.says
	says.Body = binary.BigEndian.AppendUint64(append([]byte{keeperWent}, h.known.token[:]...), h.known.number+uint64(h.told%2))
	says.Body = append(says.Body, honest[h.told/2%len(honest)].id[:]...)
	says.Body = binary.BigEndian.AppendUint32(says.Body, 0)
	for _, n := range honest {
		h.n.bad.adds(n.id, &says)
	}
}
