package member

import (
	"math"
	"time"
)

const (
	// probeFirst and probeLast bound the pauses between two dials of a gate that does not answer. A dial costs half a millisecond of processor time
	// and a few packets.
	probeFirst = time.Second
	probeLast  = 5 * time.Second

	// probeShare is a pause's part for each member of the group, up to probeMost: up to 300 of them dial less than 10 times a second together, and
	// the first one does so within seconds of the gate's return.
	probeShare = 200 * time.Millisecond
	probeMost  = time.Minute

	// probeSettled is how long a connection has to last before the pauses after it begin anew.
	probeSettled = 10 * time.Second
)

// Probes are the pauses between a member's dials of one gate. The zero value is that of a gate that was not dialled yet.
type Probes struct {
	doubled int  // how often the pause has been doubled
	dialled bool // a dial has failed since the last connection that lasted
}

// Connected notes how long a connection has lasted.
func (p *Probes) Connected(lasted time.Duration) {
	if lasted >= probeSettled {
		*p = Probes{}
	}
}

// Next is the pause before the next dial, by a random number from 0 to 1. A pause is between a half and the whole of one that doubles. The first one is
// what is left of such a pause at a random moment: so members that have lost the gate together dial it from the beginning
// as they will dial it later, one after the other.
func (p *Probes) Next(members int, random float64) time.Duration {
	whole := max(min(probeFirst<<p.doubled, probeLast), min(probeShare*time.Duration(members), probeMost))
	if probeFirst<<p.doubled < probeLast {
		p.doubled++
	}
	part := 0.5 + random/2
	if !p.dialled {
		// Of pauses between a half and the whole, a third of the time that is left is above a half.
		if part = 0.75 * random; part > 0.5 {
			part = 1 - math.Sqrt(0.75*(1-random))
		}
	}
	p.dialled = true
	return time.Duration(part * float64(whole))
}
