package ringcheck

import (
	"fmt"

	"github.com/wandertoken/wander/protocol/policy/ring"
)

// Report is what all schedules of a ring together show. A Schedule that is nil
// says that there is no such run.
type Report struct {
	Algorithm  ring.Algorithm
	Processors int
	States     int  // different states, apart from where the ring begins
	Steps      int  // between them
	Cut        bool // Options.Backlog left out some

	Exclusion   Schedule // two processors are in their critical section
	Deadlock    Schedule // somebody waits and nothing happens any more
	Circulation Schedule // its last Period steps can be repeated without end, and are deliveries only
	Period      int
	Starvation  Schedule // somebody waits without end while messages travel

	// PerRequest is how many messages are sent for each request at most, over
	// all finite runs and their limits; LongRun over endless runs only. Both
	// are infinite if the token circulates, and zero if the algorithm is not
	// Safe.
	PerRequest, LongRun Ratio
	// Traffic is the service traffic: the messages between a processor's
	// request and its token. Zero if the algorithm is not Safe or starves.
	Traffic Traffic
}

// Ratio is a number of messages for a number of requests, in lowest terms, and
// a run that attains it, or approaches it when its last Period steps are
// repeated.
type Ratio struct {
	Messages, Requests int // Requests 0 is infinity
	Schedule           Schedule
	Period             int
}

// Value is messages per request.
func (r Ratio) Value() float64 { return float64(r.Messages) / float64(r.Requests) }

// String is the value as a fraction.
func (r Ratio) String() string {
	switch r.Requests {
	case 0:
		return "∞"
	case 1:
		return fmt.Sprint(r.Messages)
	}
	return fmt.Sprintf("%d/%d", r.Messages, r.Requests)
}

// Traffic is the largest service traffic by each way of counting. The paper
// counts messages "exchanged", which is either.
type Traffic struct {
	Sent      Worst // messages sent from the request on, its own among them
	Delivered Worst // messages that arrive until the token does, itself among them
	// The same, if nothing is pending or in progress when the request is made.
	QuietSent, QuietDelivered Worst
}

// Each is all four with their names.
func (t Traffic) Each() []NamedWorst {
	return []NamedWorst{
		{"sent", t.Sent}, {"delivered", t.Delivered},
		{"sent, from a quiet ring", t.QuietSent}, {"delivered, from a quiet ring", t.QuietDelivered},
	}
}

// NamedWorst is a Worst and how it was counted.
type NamedWorst struct {
	Name string
	Worst
}

// Worst is a largest number and a run that attains it.
type Worst struct {
	Messages int
	Schedule Schedule
}

// Safe reports whether no two processors are ever inside at once and nobody is
// stuck.
func (r *Report) Safe() bool { return r.Exclusion == nil && r.Deadlock == nil }

// Live reports whether everybody who waits is served, whatever happens.
func (r *Report) Live() bool { return r.Safe() && r.Starvation == nil }

// Check explores all schedules, with each processor asking again whenever it
// was served. Errors: ErrProcessors, ErrMemory, ErrVariety.
func Check(o Options) (*Report, error) {
	g, err := explore(o)
	if err != nil {
		return nil, err
	}
	r := &Report{Algorithm: o.Algorithm, Processors: o.Processors, States: g.states(), Steps: g.edges.n, Cut: g.cut}
	r.Exclusion, r.Deadlock = g.nearest(violated), g.nearest(stuck)
	r.Circulation, r.Period = g.circulation()
	if !r.Safe() {
		return r, nil
	}
	t := newTraffic(g)
	if r.Starvation = t.starvation(); r.Starvation == nil {
		r.Traffic = t.worst()
	}
	t = nil // its memory is needed
	if r.Period == 0 {
		r.LongRun, r.PerRequest = g.perRequest()
	}
	return r, nil
}

// nearest is a shortest schedule to a state that has the flag.
func (g *graph) nearest(f stateFlags) Schedule {
	for s := range g.states() {
		if *g.flags.at(s)&f != 0 {
			schedule, _ := g.path(uint32(s))
			return schedule
		}
	}
	return nil
}
