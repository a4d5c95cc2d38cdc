package transport

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestChoose_EveryCombination has the whole table: every value that Choose looks at,
// but for an old connection that the peer has dialled without a preamble, which is not
// in use.
func TestChoose_EveryCombination(t *testing.T) {
	for _, c := range []struct {
		name             string
		old, new         Link
		smaller, greater Choice // of the member with that id
	}{
		{"own dial, not answered", unanswered, theirs(1, 5), TakeNewHoldOld, TakeNew},
		{"own dial, answered later", ours(1, 6), theirs(1, 5), KeepOld, KeepOld},
		{"own dial, answered earlier", ours(1, 4), theirs(1, 5), TakeNew, TakeNew},
		{"own dial, answered by another process", ours(2, 6), theirs(1, 5), TakeNew, TakeNew},
		{"peer's dial, later", theirs(1, 6), theirs(1, 5), KeepOld, KeepOld},
		{"peer's dial, earlier", theirs(1, 4), theirs(1, 5), TakeNew, TakeNew},
		{"peer's dial, of another process", theirs(2, 6), theirs(1, 5), TakeNew, TakeNew},
		{"peer's dial, later; the held one is answered", theirs(1, 6), ours(1, 5), KeepOld, KeepOld},
		{"peer's dial, earlier; the held one is answered", theirs(1, 4), ours(1, 5), TakeNew, TakeNew},
		{"peer's dial, of another process; the held one is answered", theirs(2, 4), ours(1, 5), TakeNew, TakeNew},
	} {
		assert.Equal(t, c.smaller, Choose(true, c.old, c.new), "%s: smaller id", c.name)
		assert.Equal(t, c.greater, Choose(false, c.old, c.new), "%s: greater id", c.name)
	}
}

var unanswered = Link{Dialled: true}

func theirs(p byte, ordinal uint64) Link {
	return Link{Confirmed: true, Process: process{p}, Ordinal: ordinal}
}

func ours(p byte, ordinal uint64) Link {
	l := theirs(p, ordinal)
	l.Dialled = true
	return l
}

// The bounds of the model below. Within them every order of events is tried.
const (
	modelDials    = 3
	modelRestarts = 1
	modelCloses   = 1
)

// none is no connection.
const none = int8(-1)

// model is two members and the messages between them, as Choose sees them: every dial
// is a connection on which each side may write one preamble. All messages arrive, but
// at any time and, on different connections, in any order; but what a process has sent
// before its death arrives before its successor has shaken hands, or never. Side 0 has
// the smaller id.
type model struct {
	generation, ordinal       [2]int8 // of each side's process
	current, spare            [2]int8 // indices of the connections in use and held, or none
	dials, restarts, closings int8
	conns                     [modelDials]modelConn
}

type modelConn struct {
	dialler    int8
	generation [2]int8 // of the processes that have shaken hands
	ordinal    [2]int8 // of the preamble written by each side; 0: none
	seen       [2]bool // each side has read the other's preamble
	closed     [2]end  // each side has closed it, or learned that the other has
}

// end is how a connection has ended for a side.
type end int8

const (
	open end = iota
	replaced
	otherwise
)

// link is connection i as side sees it.
func (m *model) link(side int, i int8) Link {
	c := &m.conns[i]
	l := Link{Dialled: int(c.dialler) == side, Confirmed: c.seen[side]}
	if l.Confirmed {
		l.Ordinal, l.Process = uint64(c.ordinal[1-side]), process{byte(c.generation[1-side])}
	}
	return l
}

func (m *model) engaged(side int) bool { return m.current[side] != none || m.spare[side] != none }

// mine reports whether a connection is one of the present process of a side, and open.
func (m *model) mine(side int, i int8) bool {
	return m.conns[i].generation[side] == m.generation[side] && m.conns[i].closed[side] == open
}

// outdated reports whether the process at the other end of a connection has died and
// its successor has shaken hands.
func (m *model) outdated(side int, i int8) bool {
	for k := range m.dials {
		c := &m.conns[k]
		if c.generation[1-side] > m.conns[i].generation[1-side] && c.ordinal[c.dialler] > 0 {
			return true
		}
	}
	return false
}

// dead reports whether a connection is open for a side, but not any more for a process
// at its other end.
func (m *model) dead(side int, i int8) bool {
	return m.mine(side, i) && m.conns[i].generation[1-side] != m.generation[1-side]
}

func (m *model) write(side int, i int8) {
	m.ordinal[side]++
	m.conns[i].ordinal[side] = m.ordinal[side]
}

func (m *model) close(side int, i int8, how end) {
	m.conns[i].closed[side] = how
	switch i {
	case m.current[side]:
		m.current[side] = none
		if s := m.spare[side]; s != none && how != replaced {
			m.close(side, s, otherwise)
		}
	case m.spare[side]:
		m.spare[side] = none
	}
}

// finish ends a handshake: the dialler uses the connection unless it has one.
func (m *model) finish(i int8) {
	side := int(m.conns[i].dialler)
	if m.engaged(side) {
		m.close(side, i, replaced)
		return
	}
	m.current[side] = i
	m.write(side, i)
}

// arrive has side read the peer's preamble.
func (m *model) arrive(side int, i int8) {
	c := &m.conns[i]
	c.seen[side] = true
	if int(c.dialler) == side && m.spare[side] != i {
		return
	}
	old, choice := m.current[side], TakeNew
	if old != none {
		choice = Choose(side == 0, m.link(side, old), m.link(side, i))
	}
	if choice == KeepOld {
		m.close(side, i, replaced)
		return
	}
	if m.spare[side] == i {
		m.spare[side] = none
	}
	m.current[side] = i
	if int(c.dialler) != side {
		m.write(side, i)
	}
	switch {
	case old == none:
	case choice == TakeNewHoldOld:
		m.spare[side] = old
	default:
		m.conns[old].closed[side] = replaced
	}
}

// step is a state that can come next.
type step struct {
	to   model
	late bool // after seconds only: a death is noticed
}

// steps are the states that can come next by themselves: what was sent arrives, a
// death is noticed.
func (m *model) steps(add func(step)) {
	try := func(late bool, f func(*model)) {
		next := *m
		f(&next)
		add(step{next, late})
	}
	for i := range m.dials {
		c := &m.conns[i]
		if d := int(c.dialler); c.ordinal[d] == 0 && m.mine(d, i) {
			try(false, func(m *model) { m.finish(i) })
		}
		for side := range 2 {
			if !m.mine(side, i) {
				continue
			}
			if c.ordinal[1-side] > 0 && !c.seen[side] && !m.outdated(side, i) {
				try(false, func(m *model) { m.arrive(side, i) })
			}
			if how := c.closed[1-side]; how != open {
				try(false, func(m *model) { m.close(side, i, how) })
			}
			if m.dead(side, i) && (c.ordinal[side] > 0 || c.seen[side]) {
				try(true, func(m *model) { m.close(side, i, otherwise) })
			}
		}
	}
}

// strikes are the states that come because a side wants to talk, closes its
// connection or dies.
func (m *model) strikes(add func(step)) {
	for side := range 2 {
		if m.dials < modelDials && !m.engaged(side) {
			next := *m
			next.conns[m.dials] = modelConn{dialler: int8(side), generation: m.generation}
			next.dials++
			add(step{to: next})
		}
		if i := m.current[side]; i != none && m.closings < modelCloses {
			next := *m
			next.closings++
			next.close(side, i, otherwise)
			add(step{to: next})
		}
		if m.restarts < modelRestarts {
			next := *m
			next.restarts++
			next.generation[side]++
			next.ordinal[side], next.current[side], next.spare[side] = 0, none, none
			add(step{to: next})
		}
	}
}

// settled checks a state in which nothing is in progress any more, but that a death may
// not have been noticed yet. Once a process that lives has dialled another that lives,
// both use the same connection, even so; but where one of them has closed it.
func (m *model) settled(t *testing.T, late bool) {
	for side := range 2 {
		if i := m.current[side]; i != none && !m.dead(side, i) {
			require.Equal(t, i, m.current[1-side], "%+v", m)
		}
	}
	if !late {
		require.Equal(t, [2]int8{none, none}, m.spare, "%+v", m)
	}
	for i := range m.dials {
		c := &m.conns[i]
		if m.closings == 0 && c.ordinal[c.dialler] > 0 && c.generation == m.generation {
			require.NotEqual(t, none, m.current[0], "%+v", m)
			require.Equal(t, m.current[0], m.current[1], "%+v", m)
		}
	}
}

// TestChoose_EveryOrderOfEvents_BothUseTheSameConnection lets both sides dial, close,
// die and dial again, with all that can be in flight between, in every order: when
// everything has arrived, both use the same connection, or none if they have closed it.
func TestChoose_EveryOrderOfEvents_BothUseTheSameConnection(t *testing.T) {
	begin := model{current: [2]int8{none, none}, spare: [2]int8{none, none}}
	seen, todo := map[model]bool{begin: true}, []model{begin}
	settled := 0
	for len(todo) > 0 {
		m := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		late, soon := false, false
		push := func(s step) {
			if !seen[s.to] {
				seen[s.to] = true
				todo = append(todo, s.to)
			}
		}
		m.steps(func(s step) {
			late, soon = late || s.late, soon || !s.late
			push(s)
		})
		if !soon {
			settled++
			m.settled(t, late)
		}
		m.strikes(push)
	}
	t.Logf("%d states, of which %d have settled", len(seen), settled)
	require.Greater(t, settled, 1000)
}
