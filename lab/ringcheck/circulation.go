package ringcheck

import "slices"

// deliveries looks for a cycle of deliveries: the token, or a request, that
// goes round while nobody asks, enters or leaves. Depth first.
type deliveries struct {
	*graph
	colour []uint8
	stack  []delivery
}

type delivery struct{ state, next, end uint32 }

const (
	unseen uint8 = iota
	onStack
	left
)

// circulation is a run whose last period steps can be repeated without end and
// are deliveries only; the period is 0 if there is none.
func (g *graph) circulation() (run Schedule, period int) {
	d := &deliveries{graph: g, colour: make([]uint8, g.states())}
	for s := range g.states() {
		if d.colour[s] != unseen {
			continue
		}
		if cycle := d.search(uint32(s)); cycle != nil {
			return g.repeat(cycle)
		}
	}
	return nil, 0
}

// search is the states of a cycle that can be reached, or nil.
func (d *deliveries) search(root uint32) []uint32 {
	d.push(root)
	for len(d.stack) > 0 {
		top := &d.stack[len(d.stack)-1]
		if top.next == top.end {
			d.colour[top.state] = left
			d.stack = d.stack[:len(d.stack)-1]
			continue
		}
		e := d.edges.at(int(top.next))
		top.next++
		if e.event&delivered == 0 {
			continue
		}
		switch d.colour[e.to] {
		case unseen:
			d.push(e.to)
		case onStack:
			return d.cycle(e.to)
		}
	}
	return nil
}

func (d *deliveries) push(state uint32) {
	d.colour[state] = onStack
	first, end := d.from(state)
	d.stack = append(d.stack, delivery{state, first, end})
}

// cycle is the part of the stack that begins with the state.
func (d *deliveries) cycle(state uint32) (states []uint32) {
	for i := len(d.stack) - 1; i >= 0; i-- {
		states = append(states, d.stack[i].state)
		if d.stack[i].state == state {
			break
		}
	}
	return forwards(states)
}

// repeat is the run that goes to the cycle's state found first, and round.
func (g *graph) repeat(cycle []uint32) (run Schedule, period int) {
	nearest := 0
	for i, s := range cycle {
		if s < cycle[nearest] {
			nearest = i
		}
	}
	cycle = append(cycle[nearest:len(cycle):len(cycle)], cycle[:nearest]...)
	w := g.after(cycle[0])
	before := len(w.schedule)
	g.round(w, cycle, func(e *edge) int { return e.cost(delivered) })
	return w.schedule, len(w.schedule) - before
}

// round walks a cycle until the processors are the same again, as one round
// may turn the ring. Between two states it takes the edge that is worth most.
func (g *graph) round(w *walk, cycle []uint32, worth func(*edge) int) (edges []*edge) {
	for turned := w.turned; ; {
		for i, from := range cycle {
			e := g.between(from, cycle[(i+1)%len(cycle)], worth)
			edges = append(edges, e)
			w.step(e.action, e.at, e.turned)
		}
		if w.turned == turned {
			return edges
		}
	}
}

// between is the edge from one state to another that is worth most.
func (g *graph) between(from, to uint32, worth func(*edge) int) *edge {
	var best *edge
	for i, end := g.from(from); i < end; i++ {
		if e := g.edges.at(int(i)); e.to == to && (best == nil || worth(e) > worth(best)) {
			best = e
		}
	}
	return best
}

// forwards turns a list of states round, in place.
func forwards(states []uint32) []uint32 {
	slices.Reverse(states)
	return states
}
