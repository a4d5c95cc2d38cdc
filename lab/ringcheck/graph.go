package ringcheck

// graph is all states and the steps between them. State 0 is the first one.
type graph struct {
	n       int
	cut     bool // steps were left out, see Options.Backlog
	flags   pages[stateFlags]
	parents pages[parent]
	first   pages[uint32] // of the state's edges; one more at the end
	edges   pages[edge]
}

// stateFlags are what the analysis asks of a state.
type stateFlags uint16

const (
	violated   stateFlags = 1 << iota // two are inside
	stuck                             // somebody waits, and nothing happens any more
	quiet                             // nobody waits, nothing is in progress
	firstWaits                        // the processor at position p waits: shifted by p
)

// parent is how a state was found first.
type parent struct {
	from   uint32
	action Action
	at     uint8
	turned uint8
}

// edge is one step to another state. Positions are those of the state where it
// begins; position p there is p-turned afterwards.
type edge struct {
	to     uint32
	action Action
	at     uint8
	turned uint8
	event  uint8
}

// The bits of edge.event.
const (
	asked uint8 = 1 << iota
	entered
	sent
	delivered
)

func newEdge(to uint32, turned int, step Step, e event) edge {
	var bits uint8
	for i, is := range [...]bool{e.Asked, e.Entered, e.Sent, e.Delivered} {
		if is {
			bits |= 1 << i
		}
	}
	return edge{to, step.Action, uint8(step.Processor), uint8(turned), bits}
}

// cost is 1 if the step sends, or delivers, a message.
func (e *edge) cost(bit uint8) int {
	if e.event&bit != 0 {
		return 1
	}
	return 0
}

// ends reports whether the processor at a position waits no longer: it enters
// its section, or gives up.
func (e *edge) ends(position, n int) bool {
	if e.action == Withdraw {
		return int(e.at) == position
	}
	if e.event&entered == 0 {
		return false
	}
	if e.action == Ask {
		return int(e.at) == position
	}
	return (int(e.at)+1)%n == position
}

func newGraph(n int) *graph { return &graph{n: n} }

// state notes a new state.
func (g *graph) state(from uint32, step Step, turned int, f stateFlags) {
	g.parents.append(parent{from, step.Action, uint8(step.Processor), uint8(turned)})
	g.flags.append(f)
}

// open begins the edges of the next state, edge adds one, close ends all.
func (g *graph) open()       { g.first.append(uint32(g.edges.n)) }
func (g *graph) edge(e edge) { g.edges.append(e) }
func (g *graph) close()      { g.open() }

func (g *graph) states() int { return g.flags.n }

// from is the range of a state's edges.
func (g *graph) from(state uint32) (first, end uint32) {
	return *g.first.at(int(state)), *g.first.at(int(state) + 1)
}

// memory is what the graph takes, and its analysis will, in bytes.
func (g *graph) memory() int64 {
	const (
		state = 2 + 8 + 4 // flags, parent, first
		node  = 4 + 8 + 4 // way, visit, and a share of the stacks; the other analyses need less
	)
	return int64(g.states())*int64(state+node*g.n) + int64(g.edges.n)*8
}

// path is the shortest schedule to a state, and by how much the ring is turned
// there.
func (g *graph) path(state uint32) (Schedule, int) {
	var back []parent
	for state != 0 {
		p := *g.parents.at(int(state))
		back, state = append(back, p), p.from
	}
	w := walk{n: g.n}
	for i := len(back) - 1; i >= 0; i-- {
		w.step(back[i].action, back[i].at, back[i].turned)
	}
	return w.schedule, w.turned
}

// walk turns positions back into processors.
type walk struct {
	n        int
	turned   int
	schedule Schedule
}

func (w *walk) step(a Action, at, turned uint8) {
	w.schedule = append(w.schedule, Step{a, (int(at) + w.turned) % w.n})
	w.turned = (w.turned + int(turned)) % w.n
}

// after is the walk that begins with the shortest schedule to a state.
func (g *graph) after(state uint32) *walk {
	schedule, turned := g.path(state)
	return &walk{n: g.n, turned: turned, schedule: schedule}
}
