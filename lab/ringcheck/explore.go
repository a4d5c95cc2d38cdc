package ringcheck

import (
	"fmt"
	"reflect"

	"github.com/wandertoken/wander/protocol/policy/ring"
)

// DefaultMemory is what an exploration may take, in bytes, unless told.
const DefaultMemory = 1 << 30

// Overtaking says which messages a link lets overtake others.
type Overtaking uint8

// The kinds of links. Requests are all the same, so overtaking among them
// changes nothing.
const (
	FIFO         Overtaking = 0
	RequestFirst Overtaking = 1 << 0 // a request may overtake the token
	TokenFirst   Overtaking = 1 << 1 // the token may overtake a request
)

// Options say what to explore.
type Options struct {
	Algorithm  ring.Algorithm
	Processors int // 2 to MaxExplored
	Overtaking Overtaking
	// Withdrawals lets processors give up waiting, which the paper knows not.
	Withdrawals bool
	// Backlog leaves out steps that put more requests than this on one side of
	// the token on one link; 0 is as many as fit a state. Where the token may
	// overtake requests, those of D and E pile up without bound.
	Backlog int
	// Memory bounds what the exploration may take, in bytes; 0 is
	// DefaultMemory.
	Memory int64
	// Progress, if not nil, is called now and then with the number of states
	// found and of those whose steps were all tried.
	Progress func(found, tried int)
}

// explorer finds all states that schedules lead to.
type explorer struct {
	Options
	codec codec
	table *table
	graph *graph
	base  *Ring // the state whose steps are tried
	next  *Ring // the state after one of them
}

// progressEvery is how many states are tried between two reports of progress.
const progressEvery = 1 << 12

// explore tries all steps in all states, nearest first.
func explore(o Options) (*graph, error) {
	if o.Processors < 2 || o.Processors > MaxExplored {
		return nil, fmt.Errorf("%w: %d, 2 to %d can be explored", ErrProcessors, o.Processors, MaxExplored)
	}
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	if o.Backlog == 0 || o.Backlog > maxOnLink {
		o.Backlog = maxOnLink
	}
	x := &explorer{Options: o, table: newTable(), graph: newGraph(o.Processors)}
	x.base, _ = newRing(o.Algorithm, o.Processors)
	x.next, _ = newRing(o.Algorithm, o.Processors)
	if _, _, err := x.enter(x.base, 0, Step{}); err != nil {
		return nil, err
	}
	for id := 0; id < x.table.keys.n; id++ {
		if err := x.try(uint32(id)); err != nil {
			return nil, err
		}
		if id%progressEvery == 0 {
			if err := x.pause(id); err != nil {
				return nil, err
			}
		}
	}
	x.graph.close()
	return x.graph, nil
}

// pause reports progress and looks at the memory.
func (x *explorer) pause(tried int) error {
	if x.Progress != nil {
		x.Progress(x.table.keys.n, tried)
	}
	if x.graph.memory()+int64(x.table.keys.n)*tableBytes > x.Memory {
		return fmt.Errorf("%w: %d states found, %d of them tried, in %d MiB",
			ErrMemory, x.table.keys.n, tried, x.Memory>>20)
	}
	return nil
}

// tableBytes is what one state takes in the table: the key, and up to four
// slots.
var tableBytes = int64(reflect.TypeFor[key]().Size()) + 4*4

// enter is the number of the ring's state; a new one is noted with the step
// that led there.
func (x *explorer) enter(r *Ring, from uint32, step Step) (id uint32, turned int, err error) {
	k, turned, err := x.codec.encode(r)
	if err != nil {
		return 0, 0, err
	}
	id, fresh := x.table.number(k)
	if fresh {
		x.graph.state(from, step, turned, x.flags(r))
	}
	return id, turned, nil
}

func (x *explorer) flags(r *Ring) (f stateFlags) {
	if r.inside() > 1 {
		f |= violated
	}
	if r.waits() && !r.progresses() {
		f |= stuck
	}
	if r.quiet(x.Algorithm) {
		f |= quiet
	}
	for p := range r.stations {
		if r.stations[p].Waits() {
			f |= firstWaits << ((p - r.at + len(r.stations)) % len(r.stations))
		}
	}
	return f
}

// try makes all steps from a state. After a violation nothing is tried.
func (x *explorer) try(id uint32) error {
	x.graph.open()
	if *x.graph.flags.at(int(id))&violated != 0 {
		return nil
	}
	x.codec.decode(x.table.keys.at(int(id)), x.base)
	for p := range x.Processors {
		for _, a := range [...]Action{Ask, Deliver, Leave, Withdraw, Overtake} {
			step := Step{a, p}
			if !x.base.Enabled(step) || !x.permits(step) {
				continue
			}
			x.next.copyFrom(x.base)
			event := x.next.do(step)
			if x.next.backlog() > x.Backlog {
				x.graph.cut = true
				continue
			}
			to, turned, err := x.enter(x.next, id, step)
			if err != nil {
				return err
			}
			x.graph.edge(newEdge(to, turned, step, event))
		}
	}
	return nil
}

// permits reports whether the options let a step happen that could.
func (x *explorer) permits(s Step) bool {
	switch {
	case s.Action == Withdraw:
		return x.Withdrawals
	case s.Action != Overtake:
		return true
	case x.base.links[s.Processor].before > 0:
		return x.Overtaking&TokenFirst != 0
	}
	return x.Overtaking&RequestFirst != 0
}
