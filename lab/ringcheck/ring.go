package ringcheck

import (
	"fmt"

	"github.com/wandertoken/wander/protocol/policy/ring"
)

// maxPlayed is the largest ring that can be played: what a link's counters
// hold, as no algorithm has more than n messages on one link.
const maxPlayed = 250

// Ring is a ring of processors, its links, and the one token. Not safe for
// concurrent use.
type Ring struct {
	stations []ring.Station
	links    []link
	at       int  // the token is at this processor, or
	moving   bool // on the link that leaves it
	baton    ring.Baton
}

// link is the requests on the link that leaves a processor. They are all the
// same, so what matters is how many are before the token and how many behind;
// without the token on it all are before.
type link struct{ before, behind uint8 }

// event is what came of a step.
type event struct {
	Asked     bool // somebody began to need the token
	Entered   bool // Processor entered its critical section
	Processor int
	Sent      bool // a message left: a request or the token
	Delivered bool // one arrived
}

// newRing is a quiet ring of n processors with the token at processor 0.
// Error: ErrProcessors.
func newRing(alg ring.Algorithm, n int) (*Ring, error) {
	if n < 2 || n > maxPlayed {
		return nil, fmt.Errorf("%w: %d, a ring has 2 to %d", ErrProcessors, n, maxPlayed)
	}
	r := &Ring{stations: make([]ring.Station, n), links: make([]link, n)}
	for p := range r.stations {
		r.stations[p] = ring.NewStation(alg)
	}
	r.perform(0, r.stations[0].Return(ring.Baton{}, n), &event{})
	return r, nil
}

// Token is where the token is: at a processor, or on the link that leaves it.
func (r *Ring) Token() (processor int, moving bool) { return r.at, r.moving }

// station is a processor, to look at.
func (r *Ring) station(p int) *ring.Station { return &r.stations[p] }

func (r *Ring) carries(p int) bool { return r.moving && r.at == p }

// Enabled reports whether the step can happen now.
func (r *Ring) Enabled(s Step) bool {
	p := s.Processor
	if p < 0 || p >= len(r.stations) {
		return false
	}
	switch s.Action {
	case Ask:
		return !r.stations[p].Waits() && !r.stations[p].Inside()
	case Deliver:
		return r.links[p].before > 0 || r.carries(p)
	case Leave:
		return r.stations[p].Inside()
	case Withdraw:
		return r.stations[p].Waits()
	case Overtake:
		return r.carries(p) && r.links[p] != link{}
	}
	return false
}

// do makes a step that is enabled.
func (r *Ring) do(s Step) event {
	var e event
	p, n := s.Processor, len(r.stations)
	switch s.Action {
	case Ask:
		e.Asked = true
		r.perform(p, r.stations[p].Need(n), &e)
	case Leave:
		r.perform(p, r.stations[p].Exit(n), &e)
	case Withdraw:
		r.perform(p, r.stations[p].Withdraw(n), &e)
	case Deliver:
		r.arrive(p, r.links[p].before > 0, &e)
	case Overtake:
		r.arrive(p, r.links[p].before == 0, &e)
	}
	return e
}

// arrive takes a message off the link that leaves p: a request, the first
// there is, or the token.
func (r *Ring) arrive(p int, request bool, e *event) {
	e.Delivered = true
	n, l := len(r.stations), &r.links[p]
	to := (p + 1) % n
	if !request {
		*l = link{before: l.before + l.behind}
		r.at, r.moving = to, false
		r.perform(to, r.stations[to].Arrive(r.baton, n), e)
		return
	}
	if l.before > 0 {
		l.before--
	} else {
		l.behind--
	}
	r.perform(to, r.stations[to].Request(n), e)
}

// perform does what a processor wants done.
func (r *Ring) perform(p int, out ring.Output, e *event) {
	switch {
	case out.Enter:
		e.Entered, e.Processor = true, p
	case out.Request:
		e.Sent = true
		if r.carries(p) {
			r.links[p].behind++
		} else {
			r.links[p].before++
		}
	case out.Pass:
		e.Sent = true
		r.at, r.moving, r.baton = p, true, out.Baton
	}
}

// inside is how many processors are in their critical section.
func (r *Ring) inside() (count int) {
	for p := range r.stations {
		if r.stations[p].Inside() {
			count++
		}
	}
	return count
}

// waits reports whether anybody waits for the token.
func (r *Ring) waits() bool {
	for p := range r.stations {
		if r.stations[p].Waits() {
			return true
		}
	}
	return false
}

// progresses reports whether anything but a new request can happen.
func (r *Ring) progresses() bool {
	for p := range r.stations {
		if r.Enabled(Step{Deliver, p}) || r.stations[p].Inside() {
			return true
		}
	}
	return false
}

// backlog is the most requests on one side of the token on any link.
func (r *Ring) backlog() (most int) {
	for _, l := range r.links {
		most = max(most, int(l.before), int(l.behind))
	}
	return most
}

// quiet reports whether nobody waits or is inside, no request is in progress and
// the token rests, if it ever does.
func (r *Ring) quiet(alg ring.Algorithm) bool {
	for _, l := range r.links {
		if l != (link{}) {
			return false
		}
	}
	return !r.waits() && r.inside() == 0 && (!r.moving || alg == ring.S)
}
