package cluster

import (
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// stonewaller drops each token, and answers no question for a token in a way that counts: a
// stonewaller answers nothing, and a ghost that it has the first token that it ever had. Both say all
// else as an honest member does, so that they look alive.
type stonewaller struct {
	*dropper
	ghost bool
	first hop // the first token that it had; zero: none yet
	asked int // questions that it has not answered, or falsely
}

func newStonewaller(n *node) badness { return &stonewaller{dropper: newDropper(n).(*dropper)} }
func newGhost(n *node) badness {
	return &stonewaller{dropper: newDropper(n).(*dropper), ghost: true}
}

// idler is a stonewaller that looks for no token as a keeper, and says all the same to each member that wants one
// that it has noted that. It keeps the tokens that its member makes.
type idler struct {
	*stonewaller
	noted int // wants that it has only noted
}

func newIdler(n *node) badness { return &idler{stonewaller: newStonewaller(n).(*stonewaller)} }

func (i *idler) sends(e effect.Send) []effect.Send {
	switch e.Message.(type) {
	case *wire.Offer, *wire.Transfer:
		return nil
	}
	switch keeperKind(e.Message) {
	case keeperAsk:
		return nil
	case keeperNoted:
		i.noted++
	}
	return i.stonewaller.sends(e)
}

func (s *stonewaller) hears(from ident.Member, m wire.Message) bool {
	if t, ok := m.(*wire.Transfer); ok && s.first == (hop{}) {
		if b, _, err := token.PeekTransfer(s.n.c.group.ID(), t.Transfer); err == nil && b.To == s.n.id {
			s.first = hop{b.Token, b.Hop}
		}
	}
	return s.dropper.hears(from, m)
}

func (s *stonewaller) sends(e effect.Send) []effect.Send {
	m, ok := e.Message.(*wire.Policy)
	switch keeperKind(e.Message) {
	case keeperHave, keeperRest, keeperReturned, keeperWent, keeperNone:
	default:
		ok = false
	}
	switch {
	case !ok || s.first == (hop{}):
		return []effect.Send{e}
	case s.ghost:
		s.asked++
		return []effect.Send{{To: e.To, Message: keeperSays(m, s.first.token, s.first.number, 0)}}
	default:
		s.asked++
		return nil
	}
}
