package cluster

import (
	"slices"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/wire"
)

// coy wants turns, as it tells keepers, and tells each holder that asks it that it wants none. So it alone waits, and a holder
// finds nobody that does.
type coy struct {
	meek
	told int // holders
}

func newCoy(*node) badness { return &coy{} }

// The answer of a member that is asked by a holder under the preset fair (package wandering), and what it says.
const (
	fairAnswer     = 4
	fairAnswerSize = 1 + 16 + 4 + 1
	fairWilling    = 1
	fairUnwilling  = 2
)

func (c *coy) sends(e effect.Send) []effect.Send {
	p, is := e.Message.(*wire.Policy)
	if !is || len(p.Body) != fairAnswerSize || p.Body[0] != fairAnswer || p.Body[fairAnswerSize-1] != fairWilling {
		return []effect.Send{e}
	}
	c.told++
	lie := *p
	lie.Body = slices.Clone(p.Body)
	lie.Body[fairAnswerSize-1] = fairUnwilling
	e.Message = &lie
	return []effect.Send{e}
}
