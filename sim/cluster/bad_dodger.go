package cluster

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// dodger is a hoarder that answers now and then only, so that nobody has heard for twice the silence that it
// still has the token.
type dodger struct {
	*hoarder
	kept int // answers that it did not give
}

// dodgerTalks and dodgerPauses are for how long a dodger answers and for how long it does not, in turn.
const dodgerTalks, dodgerPauses = 6 * time.Second, 3 * time.Second

func newDodger(n *node) badness { return &dodger{hoarder: makeHoarder(n)} }

func (d *dodger) pauses() bool { return d.n.c.now%(dodgerTalks+dodgerPauses) >= dodgerTalks }

func (d *dodger) sends(e effect.Send) []effect.Send {
	list := d.hoarder.sends(e)
	if d.taken > 0 && d.pauses() && keeperKind(e.Message) != 0 {
		d.kept++
		return nil
	}
	return list
}

func (d *dodger) ticks() {
	if !d.pauses() {
		d.hoarder.ticks()
	}
}

// evader passes the first tokens on, as an honest member, and then hoards. It says each time that it has another one
// of those that it had, and ends an inquest about that one by the receipt of its pass.
type evader struct {
	*hoarder
	had  []hop // all custodies that it has passed on, the oldest one first
	told int
}

// evaderPasses is how many tokens an evader passes on before it hoards.
const evaderPasses = 8

func newEvader(n *node) badness {
	v := &evader{hoarder: makeHoarder(n)}
	v.claims = v.another
	return v
}

func (v *evader) runs() bool { return len(v.had) < evaderPasses }

func (v *evader) sends(e effect.Send) []effect.Send {
	if v.runs() {
		if m, ok := e.Message.(*wire.Transfer); ok {
			b, _, err := token.PeekTransfer(v.n.c.group.ID(), m.Transfer)
			must(err)
			if c := (hop{b.Token, b.Hop - 1}); !slices.Contains(v.had, c) {
				v.had = append(v.had, c)
			}
		}
		return []effect.Send{e}
	}
	return v.hoarder.sends(e)
}

// another says that a program runs under the next one of the tokens that it had.
func (v *evader) another() wire.Message {
	c := v.had[v.told%len(v.had)]
	v.told++
	return v.has(c)
}
