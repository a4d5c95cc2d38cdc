package cluster

import (
	"time"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/wire"
)

// tardy wants turns, and accepts each token when it is for another member already: the ACCEPT counts, and each of its turns costs the
// others the time of an offer in vain.
type tardy struct {
	meek
	n    *node
	kept map[hop]bool // offers whose answer it keeps back, or has kept back
	late int          // answers that have left
}

// tardyAfter is when it answers: a holder that has asked it three times asks another member by then.
const tardyAfter = 4 * time.Second

func newTardy(n *node) badness { return &tardy{n: n, kept: make(map[hop]bool)} }

func (t *tardy) sends(e effect.Send) []effect.Send {
	m, ok := e.Message.(*wire.Accept)
	if !ok {
		return []effect.Send{e}
	}
	if offer := (hop{m.Token, m.Hop}); !t.kept[offer] {
		t.kept[offer] = true
		life := t.n.life
		t.n.c.after(tardyAfter, func() {
			if t.n.isBad() && t.n.member != nil && t.n.life == life {
				t.late++
				t.n.bad.adds(e.To, m)
			}
		})
	}
	return nil
}
