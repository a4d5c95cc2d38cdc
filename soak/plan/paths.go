package plan

import (
	"slices"
	"time"
)

// Path is what becomes of the packets from one member to another.
type Path struct {
	Cut   bool
	Loss  float64
	Delay time.Duration
}

// PathUnder is the path from one member to another under steps that are in
// effect.
func PathUnder(steps []Step, from, to int) (p Path) {
	for _, s := range steps {
		fromIn, toIn := slices.Contains(s.Member, from), slices.Contains(s.Member, to)
		switch s.Fault {
		case Cut, Split:
			p.Cut = p.Cut || fromIn != toIn
		case Part:
			p.Cut = p.Cut || fromIn && toIn && (s.Member[0] == from || s.Member[0] == to)
		case PartOneWay:
			p.Cut = p.Cut || fromIn && toIn && s.Member[0] == to
		case OneWay:
			p.Cut = p.Cut || fromIn
		case Deaf:
			p.Cut = p.Cut || toIn
		case Lossy:
			p.Loss, p.Delay = max(p.Loss, s.Loss), max(p.Delay, s.Delay)
		}
	}
	return p
}

// OfNetwork reports whether the fault is one of the network.
func (f Fault) OfNetwork() bool {
	return f == Cut || f == Split || f == Part || f == PartOneWay || f == OneWay || f == Deaf || f == Lossy
}

// OfPaths reports whether the fault is one of the paths between members, so that each of
// them may be served nevertheless.
func (f Fault) OfPaths() bool { return f == Lossy || f == Part || f == PartOneWay }
