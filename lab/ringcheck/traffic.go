package ringcheck

// traffic computes for each state and each processor that waits there the
// longest way to its token, in messages sent and in messages delivered.
//
// Steps that send and deliver nothing can be repeated without end: another
// processor asks while it has the token, and leaves. States that lie on such a
// cycle have the same ways. So the search is Tarjan's for strongly connected
// components, which it leaves in the order of the ways, shortest first. A
// component in which a message is delivered starves the processor.
type traffic struct {
	*graph
	ways    []way   // of state·n + position
	visits  []visit // the same
	visited uint32
	stack   []waiting // the nodes on the way down
	pending []node    // those whose component is not complete
	starved []node    // a cycle that starves a processor
}

// node is a state seen from a processor that waits there.
type node struct {
	state uint32
	at    uint8 // its position
}

// way is the length of a longest way to the token.
type way struct{ sent, delivered uint16 }

// visit is Tarjan's index and low link; finished is an index of 0 with a low
// link.
type visit struct{ index, low uint32 }

const finished = 1

type waiting struct {
	node
	first, next, end uint32
}

func newTraffic(g *graph) *traffic {
	return &traffic{graph: g, ways: make([]way, g.states()*g.n), visits: make([]visit, g.states()*g.n)}
}

func (t *traffic) index(n node) int { return int(n.state)*t.n + int(n.at) }

// follow is the node to which the edge leads.
func (t *traffic) follow(e *edge, at uint8) node {
	return node{e.to, uint8((int(at) + t.n - int(e.turned)) % t.n)}
}

// starvation finds all ways, or a run in which somebody waits without end.
func (t *traffic) starvation() Schedule {
	for s := range t.states() {
		for at := range uint8(t.n) {
			root := node{uint32(s), at}
			if *t.flags.at(s)&(firstWaits<<at) == 0 || t.visits[t.index(root)] != (visit{}) {
				continue
			}
			if t.search(root); t.starved != nil {
				return t.starving()
			}
		}
	}
	return nil
}

func (t *traffic) push(n node) {
	t.visited++
	t.visits[t.index(n)] = visit{t.visited, t.visited}
	first, end := t.from(n.state)
	t.stack = append(t.stack, waiting{n, first, first, end})
	t.pending = append(t.pending, n)
}

// search completes the components of all nodes that can be reached, until one
// starves.
func (t *traffic) search(root node) {
	t.push(root)
	for len(t.stack) > 0 && t.starved == nil {
		top := &t.stack[len(t.stack)-1]
		if top.next == top.end {
			t.leave(top.node)
			continue
		}
		e := t.edges.at(int(top.next))
		top.next++
		if e.ends(int(top.at), t.n) {
			continue
		}
		next := t.follow(e, top.at)
		switch to := t.visits[t.index(next)]; {
		case to == visit{}:
			t.push(next)
		case to.index > 0:
			here := &t.visits[t.index(top.node)]
			here.low = min(here.low, to.index)
		}
	}
}

// leave goes back from a node whose edges have all been followed.
func (t *traffic) leave(n node) {
	t.stack = t.stack[:len(t.stack)-1]
	v := t.visits[t.index(n)]
	if v.low == v.index {
		t.complete(n)
	}
	if len(t.stack) > 0 {
		above := &t.visits[t.index(t.stack[len(t.stack)-1].node)]
		if v.low != v.index {
			above.low = min(above.low, v.low)
		}
	}
}

// complete computes the ways of the component that was entered at a node.
func (t *traffic) complete(root node) {
	from := len(t.pending) - 1
	for t.pending[from] != root {
		from--
	}
	component := t.pending[from:]
	var longest way
	for _, n := range component {
		for i, end := t.from(n.state); i < end; i++ {
			e := t.edges.at(int(i))
			inside := !e.ends(int(n.at), t.n) && t.visits[t.index(t.follow(e, n.at))].index > 0
			if inside && e.event&delivered != 0 {
				t.starve(component, n, e)
				return
			}
			longest.sent = max(longest.sent, uint16(t.length(e, n.at, sent)))
			longest.delivered = max(longest.delivered, uint16(t.length(e, n.at, delivered)))
		}
	}
	for _, n := range component {
		t.ways[t.index(n)], t.visits[t.index(n)] = longest, visit{low: finished}
	}
	t.pending = t.pending[:from]
}

// length is how long a way is that begins with the edge, counted by one of the
// two bits. Within a component that is not complete the rest counts nothing.
func (t *traffic) length(e *edge, at uint8, bit uint8) int {
	length := e.cost(bit)
	if e.ends(int(at), t.n) {
		return length
	}
	w := t.ways[t.index(t.follow(e, at))]
	if bit == sent {
		return length + int(w.sent)
	}
	return length + int(w.delivered)
}

// starve keeps a cycle of a component that begins with an edge.
func (t *traffic) starve(component []node, from node, e *edge) {
	within := make(map[node]bool, len(component))
	for _, n := range component {
		within[n] = true
	}
	came := map[node]node{}
	for queue := []node{t.follow(e, from.at)}; len(queue) > 0; queue = queue[1:] {
		n := queue[0]
		if n == from {
			break
		}
		for i, end := t.from(n.state); i < end; i++ {
			e := t.edges.at(int(i))
			next := t.follow(e, n.at)
			if _, seen := came[next]; within[next] && !seen && !e.ends(int(n.at), t.n) {
				came[next] = n
				queue = append(queue, next)
			}
		}
	}
	first := t.follow(e, from.at)
	for n := from; n != first; n = came[n] {
		t.starved = append(t.starved, n)
	}
	t.starved = append(t.starved, first)
}

// starving is the run to the cycle that starves and once round.
func (t *traffic) starving() Schedule {
	states := make([]uint32, 0, len(t.starved))
	for _, n := range t.starved {
		states = append(states, n.state)
	}
	run, _ := t.repeat(forwards(states))
	return run
}

// worst looks at all requests.
func (t *traffic) worst() Traffic {
	var all Traffic
	for s := range t.states() {
		for i, end := t.from(uint32(s)); i < end; i++ {
			e := t.edges.at(int(i))
			if e.action != Ask || e.event&entered != 0 {
				continue
			}
			t.improve(&all.Sent, s, e, sent)
			t.improve(&all.Delivered, s, e, delivered)
			if *t.flags.at(s)&quiet != 0 {
				t.improve(&all.QuietSent, s, e, sent)
				t.improve(&all.QuietDelivered, s, e, delivered)
			}
		}
	}
	return all
}

// improve replaces the worst by the run that begins with a request, if it is
// longer.
func (t *traffic) improve(worst *Worst, state int, request *edge, bit uint8) {
	length := t.length(request, request.at, bit)
	if length <= worst.Messages {
		return
	}
	worst.Messages = length
	w := t.after(uint32(state))
	w.step(request.action, request.at, request.turned)
	for n := t.follow(request, request.at); ; {
		way := t.towards(n, bit)
		for _, e := range way {
			w.step(e.action, e.at, e.turned)
			if e.ends(int(n.at), t.n) {
				worst.Schedule = w.schedule
				return
			}
			n = t.follow(e, n.at)
		}
	}
}

// towards is the fewest steps with which a longest way begins, up to the first
// one that counts or serves. There may be detours that count nothing.
func (t *traffic) towards(n node, bit uint8) []*edge {
	type step struct {
		from int
		edge *edge
		to   node
	}
	steps := []step{{to: n}}
	seen := map[node]bool{n: true}
	for i := 0; ; i++ {
		at := steps[i].to
		for j, end := t.from(at.state); j < end; j++ {
			e := t.edges.at(int(j))
			if t.length(e, at.at, bit) != t.longest(at, bit) {
				continue
			}
			if e.cost(bit) > 0 || e.ends(int(at.at), t.n) {
				way := []*edge{e}
				for k := i; k > 0; k = steps[k].from {
					way = append([]*edge{steps[k].edge}, way...)
				}
				return way
			}
			if next := t.follow(e, at.at); !seen[next] {
				seen[next] = true
				steps = append(steps, step{i, e, next})
			}
		}
	}
}

func (t *traffic) longest(n node, bit uint8) int {
	w := t.ways[t.index(n)]
	if bit == sent {
		return int(w.sent)
	}
	return int(w.delivered)
}
