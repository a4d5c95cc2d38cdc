package cluster

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// misleader drops each token, and answers each question for a token by something that ends no search: that it is on its
// way at a later hop, or that it was there before a restart.
type misleader struct {
	*dropper
	kind  byte   // of its answers
	asked []byte // the custody of the last question
	hop   uint64 // that it has named
}

func newMisleader(n *node) badness {
	return &misleader{dropper: newDropper(n).(*dropper), kind: keeperWent}
}
func newPretender(n *node) badness {
	return &misleader{dropper: newDropper(n).(*dropper), kind: keeperReturned}
}

// isAnyHop reports whether a custody of an ask stands for each hop of its token, and so tells nothing of how far that has come.
func isAnyHop(custody []byte) bool { return binary.BigEndian.Uint64(custody[32:]) == math.MaxUint64 }

func (l *misleader) hears(from ident.Member, m wire.Message) bool {
	if p, ok := m.(*wire.Policy); ok && keeperKind(p) == keeperAsk && len(p.Body) > custodyLength {
		l.asked = slices.Clone(p.Body[1 : 1+custodyLength])
		if isAnyHop(l.asked) {
			binary.BigEndian.PutUint64(l.asked[32:], l.hop)
		}
	}
	return l.dropper.hears(from, m)
}

func (l *misleader) sends(e effect.Send) []effect.Send {
	m, ok := e.Message.(*wire.Policy)
	if k := keeperKind(e.Message); !ok || k != keeperWent && k != keeperNone || l.asked == nil {
		return []effect.Send{e}
	}
	says, c := *m, slices.Clone(l.asked)
	switch l.hop = max(l.hop, binary.BigEndian.Uint64(c[32:])) + 1; l.kind {
	case keeperWent:
		binary.BigEndian.PutUint64(c[32:], l.hop)
		honest := l.n.c.nodes.honest()
		to := honest[l.hop%uint64(len(honest))].id
		says.Body = slices.Concat([]byte{keeperWent}, c, to[:], []byte{0, 0, 0, 1})
	default: // the token's birth, the process and the serial of a promise
		says.Body = slices.Concat([]byte{keeperReturned}, c, make([]byte, 8+8+4))
	}
	return []effect.Send{{To: e.To, Message: &says}}
}
