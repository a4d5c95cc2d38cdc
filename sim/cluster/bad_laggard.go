package cluster

import (
	"time"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// laggard is a hoarder that gives account to each member less often than others expect, so that it is never late: it
// has answered, and is given up only.
type laggard struct {
	*hoarder
	gave map[ident.Member]time.Duration // when it gave an account last
	kept int                            // accounts that it did not give
}

// laggardPause is from one account of a laggard to the next, to each member.
const laggardPause = 40 * time.Second

func newLaggard(n *node) badness {
	return &laggard{hoarder: makeHoarder(n), gave: make(map[ident.Member]time.Duration)}
}

func (l *laggard) sends(e effect.Send) []effect.Send {
	switch keeperKind(e.Message) {
	case keeperStill, keeperSent, keeperNever, keeperInstead, keeperProof:
		if at, gave := l.gave[e.To]; gave && l.n.c.now < at+laggardPause {
			l.kept++
			return nil
		}
		l.gave[e.To] = l.n.c.now
	}
	return l.hoarder.sends(e)
}

// ender is an evader that has more custodies to name than a keeper remembers: it passes tokens on for a while, and
// then names each custody of them before the last one, also those of other members. The receipt of its last pass ends
// each inquest.
type ender struct {
	*evader
	last hop // the last custody that it has passed on
}

func newEnder(n *node) badness {
	v := &ender{evader: newEvader(n).(*evader)}
	v.claims = v.earlier
	return v
}

func (v *ender) sends(e effect.Send) []effect.Send {
	if m, ok := e.Message.(*wire.Transfer); ok && v.runs() {
		b, _, err := token.PeekTransfer(v.n.c.group.ID(), m.Transfer)
		must(err)
		v.last = hop{b.Token, b.Hop - 1}
	}
	return v.evader.sends(e)
}

// earlier says that a program runs under the token at the next one of its earlier hops.
func (v *ender) earlier() wire.Message {
	v.told++
	return v.has(hop{v.last.token, 1 + uint64(v.told)%max(1, v.last.number)})
}
