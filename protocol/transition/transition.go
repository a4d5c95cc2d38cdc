// Package transition has the tables of state machines: what follows on what, and the names of both.
//
//	var table = transition.NewTable(states, events, Transitions)
//	to, ok := table.After(state, event) // ok is false if the event cannot happen there
package transition

import "fmt"

// Row says which state follows on an event.
type Row[S, E ~uint8] struct {
	From  S
	Event E
	To    S
}

// Table is rows by state and event.
type Table[S, E ~uint8] struct {
	states S
	to     [][]S // states: no row
}

// NewTable is the table of the rows of a machine with so many states and events.
func NewTable[S, E ~uint8, R ~struct {
	From  S
	Event E
	To    S
}](states S, events E, rows []R) Table[S, E] {
	t := Table[S, E]{states: states, to: make([][]S, states)}
	for s := range t.to {
		t.to[s] = make([]S, events)
		for e := range t.to[s] {
			t.to[s][e] = states
		}
	}
	for _, r := range rows {
		row := Row[S, E](r)
		t.to[row.From][row.Event] = row.To
	}
	return t
}

// After is the state that follows s on e, and whether e can happen in s. If not, the state is s.
func (t Table[S, E]) After(s S, e E) (S, bool) {
	if to := t.to[s][e]; to != t.states {
		return to, true
	}
	return s, false
}

// Name is the n-th name, or the kind with its number if there is none.
func Name(names []string, kind string, n uint8) string {
	if int(n) < len(names) {
		return names[n]
	}
	return fmt.Sprintf("%s %d", kind, n)
}
