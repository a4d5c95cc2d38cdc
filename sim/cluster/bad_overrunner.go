package cluster

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/effect"
)

// overrunner runs each program on when others think that it has ended: it says so to its member, which passes the token on, or
// never says anything, so that its member passes the token on at the deadline of the grant, as that of one whose daemon was killed.
// No message shows that.
type overrunner struct {
	meek
	n      *node
	silent bool
	over   []span // in which a program ran that others think has ended
}

// span is a time from one moment to another one.
type span struct{ from, to time.Duration }

// overrunFor is how many max_hold longer an overrunner's program runs.
const overrunFor = 2

func newOverrunner(n *node) badness       { return &overrunner{n: n} }
func newOverrunnerSilent(n *node) badness { return &overrunner{n: n, silent: true} }

func (o *overrunner) lasts(_ effect.Grant, run time.Duration) time.Duration {
	if o.silent {
		return math.MaxInt64 - o.n.c.now
	}
	return run
}

func (o *overrunner) ends(p *program) bool {
	longest := time.Duration(0)
	for _, r := range o.n.c.resources {
		if r.Name == p.resource {
			longest = r.MaxHold
		}
	}
	o.n.c.log(o.n, "is BAD: its program runs on")
	o.over = append(o.over, span{o.n.c.now, o.n.c.now + overrunFor*longest})
	return !o.silent
}

// beside is for how long programs ran during these spans, which may overlap each other.
func beside(spans []span, list []ran) (total time.Duration) {
	for _, s := range united(spans) {
		var in []span
		for _, r := range list {
			if from, to := max(r.from, s.from), min(r.to, s.to); from < to {
				in = append(in, span{from, to})
			}
		}
		for _, i := range united(in) {
			total += i.to - i.from
		}
	}
	return total
}

// united are the same moments in spans that do not overlap.
func united(spans []span) (list []span) {
	spans = slices.SortedFunc(slices.Values(spans), func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for _, s := range spans {
		if last := len(list) - 1; last >= 0 && s.from <= list[last].to {
			list[last].to = max(list[last].to, s.to)
			continue
		}
		list = append(list, s)
	}
	return list
}
