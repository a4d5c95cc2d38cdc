package ringcheck

// ratios finds the most messages per request by guessing. For a guess λ each
// step is worth the messages it sends less λ for a request that is made. If a
// cycle of steps is worth more than nothing, repeating it costs more than λ a
// request in the long run; then λ becomes what the cycle costs. Once there is
// no such cycle the same is done with the runs from the first state on.
// (Dinkelbach's method on the longest paths of Bellman and Ford.)
type ratios struct {
	*graph
	guess  Ratio
	worth  []int32  // of the best run found to each state
	pred   []uint32 // the state before, on that run
	passed []uint32 // when a walk back passed there last
}

const none = ^uint32(0)

// unreached is less than any worth.
const unreached = -1 << 31

// perRequest is the most messages per request in the long run, and in any run.
// The token must not circulate.
func (g *graph) perRequest() (longRun, anyRun Ratio) {
	r := &ratios{
		graph: g, guess: Ratio{Requests: 1},
		worth: make([]int32, g.states()), pred: make([]uint32, g.states()), passed: make([]uint32, g.states()),
	}
	for cycle := r.settle(); cycle != nil; cycle = r.settle() {
		r.guess = r.cost(cycle)
	}
	longRun = r.guess
	for end := r.best(); r.worth[end] > 0; end = r.best() {
		r.guess = r.costTo(end)
		r.settle() // the cycles are worth even less now
	}
	return longRun, r.guess
}

// value is what an edge is worth under the guess, times its denominator.
func (r *ratios) value(e *edge) int {
	return e.cost(sent)*r.guess.Requests - e.cost(asked)*r.guess.Messages
}

// settle finds the best runs to all states, or a cycle that is worth more than
// nothing, as the states back from its end.
func (r *ratios) settle() []uint32 {
	for s := range r.worth {
		r.worth[s], r.pred[s], r.passed[s] = unreached, none, 0
	}
	r.worth[0] = 0
	for r.sweep() {
		clear(r.passed)
		if cycle := r.positive(); cycle != nil {
			return cycle
		}
	}
	return nil
}

// sweep improves the runs by one more step, and reports whether it could.
func (r *ratios) sweep() (improved bool) {
	for s := range r.worth {
		if r.worth[s] == unreached {
			continue
		}
		for i, end := r.from(uint32(s)); i < end; i++ {
			e := r.edges.at(int(i))
			if v := r.worth[s] + int32(r.value(e)); v > r.worth[e.to] {
				r.worth[e.to], r.pred[e.to], improved = v, uint32(s), true
			}
		}
	}
	return improved
}

// positive is a cycle among the predecessors: improving a run with itself is
// possible only where the cycle is worth something.
func (r *ratios) positive() []uint32 {
	for s := range r.worth {
		mark := uint32(s) + 1
		at := uint32(s)
		for at != none && r.passed[at] == 0 {
			r.passed[at] = mark
			at = r.pred[at]
		}
		if at != none && r.passed[at] == mark {
			return r.back(at)
		}
	}
	return nil
}

// back is the cycle through a state, in the order of the run.
func (r *ratios) back(state uint32) []uint32 {
	cycle := []uint32{state}
	for at := r.pred[state]; at != state; at = r.pred[at] {
		cycle = append(cycle, at)
	}
	return forwards(cycle)
}

// cost is what a cycle costs.
func (r *ratios) cost(cycle []uint32) Ratio {
	w := r.after(cycle[0])
	before := len(w.schedule)
	c := Ratio{}
	for _, e := range r.round(w, cycle, r.value) {
		c.count(e)
	}
	c.Schedule, c.Period = w.schedule, len(w.schedule)-before
	return c.reduced()
}

// costTo is what the best run to a state costs.
func (r *ratios) costTo(state uint32) Ratio {
	run := []uint32{state}
	for at := r.pred[state]; at != none; at = r.pred[at] {
		run = append(run, at)
	}
	forwards(run)
	w := &walk{n: r.n}
	c := Ratio{}
	for i, from := range run[:len(run)-1] {
		e := r.between(from, run[i+1], r.value)
		c.count(e)
		w.step(e.action, e.at, e.turned)
	}
	c.Schedule = w.schedule
	return c.reduced()
}

// count adds a step.
func (c *Ratio) count(e *edge) {
	c.Messages += e.cost(sent)
	c.Requests += e.cost(asked)
}

// reduced is the ratio in lowest terms.
func (c Ratio) reduced() Ratio {
	d := gcd(c.Messages, c.Requests)
	c.Messages, c.Requests = c.Messages/d, c.Requests/d
	return c
}

func gcd(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

// best is the state to which the run is worth most.
func (r *ratios) best() uint32 {
	best := 0
	for s, v := range r.worth {
		if v > r.worth[best] {
			best = s
		}
	}
	return uint32(best)
}
