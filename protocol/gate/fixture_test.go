package gate_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/ident"
)

// bench is a gate whose hooks end when the test says so.
type bench struct {
	t       *testing.T
	gate    *gate.Gate
	plan    gate.Settings
	now     clock.Instant
	ahead   time.Duration // of the wall clock
	journal []gate.Record
	synced  bool // the last record is durable before the next effect
	said    map[gate.Connection][]gate.Answer
	runs    []uint64 // hooks that run, the last one at the end
	opens   []gate.RunOpen
	closes  []gate.RunClose
	alarms  []string
	fetched []uint64
}

func newBench(t *testing.T, s gate.Settings) *bench {
	t.Helper()
	s.Slots = 2
	b := begun(t, s, 100)
	for _, run := range slices.Clone(b.runs) {
		b.step(gate.HookEnded{Run: run})
	}
	b.wait(s.MaxHold + s.Settle)
	require.Equal(t, gate.Idle, b.gate.State(0))
	return b
}

// begun is a gate that has just begun, without a journal.
func begun(t *testing.T, s gate.Settings, floor uint64) *bench {
	t.Helper()
	b := &bench{t: t, now: clock.Instant(time.Hour), plan: s}
	g, list, err := gate.Begin(s, &floor, b.reading())
	require.NoError(t, err)
	b.gate = g
	b.take(list)
	return b
}

// restart starts another gate from the records.
func (b *bench) restart(records []gate.Record) {
	b.t.Helper()
	for i, r := range records {
		body, err := gate.Encode(5, r)
		require.NoError(b.t, err)
		at, back, err := gate.Decode(body)
		require.NoError(b.t, err)
		assert.Equal(b.t, uint64(5), at)
		again, err := gate.Encode(5, back)
		require.NoError(b.t, err)
		assert.Equal(b.t, body, again, "record %d", i)
	}
	b.opens, b.closes, b.runs = nil, nil, nil
	b.now = clock.Instant(time.Second) // another boot
	g, list, err := gate.Restore(b.plan, records, b.reading())
	require.NoError(b.t, err)
	require.NoError(b.t, g.Check())
	b.gate = g
	b.take(list)
}

// journals are what a gate can be restored from.
var journals = map[string]func(*bench) []gate.Record{
	"journal": func(b *bench) []gate.Record { return b.journal }, "checkpoint": func(b *bench) []gate.Record { return b.gate.Checkpoint() },
}

// afterRestart runs a test with each way of a restart.
func afterRestart(t *testing.T, do func(t *testing.T, restart func(*bench))) {
	for name, records := range journals {
		t.Run(name, func(t *testing.T) { do(t, func(b *bench) { b.t.Helper(); b.restart(records(b)) }) })
	}
}

func (b *bench) reading() clock.Reading {
	return clock.Reading{Boot: b.now, Wall: time.UnixMilli(1_700_000_000_000).Add(time.Duration(b.now) + b.ahead)}
}

func (b *bench) take(list []gate.Effect) {
	b.said = map[gate.Connection][]gate.Answer{}
	for _, e := range list {
		switch e := e.(type) {
		case gate.Persist:
			b.journal, b.synced = append(b.journal, e.Record), e.Sync
		case gate.RunOpen:
			b.opens, b.runs = append(b.opens, e), append(b.runs, e.Run)
		case gate.RunClose:
			b.closes, b.runs = append(b.closes, e), append(b.runs, e.Run)
		case gate.Say:
			b.said[e.To] = append(b.said[e.To], e.Answer)
		case gate.Alarm:
			b.alarms = append(b.alarms, e.Kind)
		case gate.Fetch:
			b.fetched = append(b.fetched, e.Version)
		}
	}
}

func (b *bench) step(in gate.Input) {
	b.t.Helper()
	b.take(b.gate.Step(b.reading(), in))
	require.NoError(b.t, b.gate.Check())
}

// wait lets time pass.
func (b *bench) wait(d time.Duration) { b.t.Helper(); b.now = b.now.Add(d); b.step(gate.Tick{}) }

// hook ends the hook that began last.
func (b *bench) hook(r gate.Result) {
	b.t.Helper()
	b.step(gate.HookEnded{Run: b.runs[len(b.runs)-1], Result: r})
}

func (b *bench) signIn(c gate.Connection, p gate.Permit) {
	b.t.Helper()
	b.step(gate.SignIn{Connection: c, Permit: p, Configuration: 1, Length: 10 * time.Second})
}

// opened signs in and lets the open hook succeed.
func (b *bench) opened(c gate.Connection, p gate.Permit) {
	b.t.Helper()
	b.signIn(c, p)
	b.hook(gate.Succeeded)
	require.Equal(b.t, gate.Open, b.gate.State(0))
	require.IsType(b.t, gate.OpenAnswer{}, b.said[c][0])
}

// over ends the session of a connection, and lets everything pass that follows from it.
func (b *bench) over(c gate.Connection) {
	b.t.Helper()
	b.step(gate.SignOut{Connection: c})
	b.hook(gate.Succeeded)
	b.wait(plain.Settle)
	b.wait(plain.Keep)
}

func (b *bench) refused(c gate.Connection) gate.Code {
	b.t.Helper()
	require.NotEmpty(b.t, b.said[c])
	a, ok := b.said[c][0].(gate.RefuseAnswer)
	require.True(b.t, ok, "%T", b.said[c][0])
	return a.Code
}

func (b *bench) busy(c gate.Connection) gate.BusyAnswer {
	b.t.Helper()
	require.NotEmpty(b.t, b.said[c])
	require.IsType(b.t, gate.BusyAnswer{}, b.said[c][0])
	return b.said[c][0].(gate.BusyAnswer)
}

// tokenOf is a token with custody of these members, the first of whom made it. Number tells tokens apart.
func tokenOf(number byte, members ...int) *chain {
	c := &chain{generator: memberID(members[0]), born: 1_700_000_000_000}
	id := ident.Token{number}
	var before gate.Title
	for hop, m := range members {
		l := link{title: gate.Title{Token: id, Hop: uint64(hop), Holder: memberID(m), Hash: ident.Hash{number, byte(hop), 1}}}
		if hop > 0 {
			l.moves = []gate.Move{{By: before.Holder, Title: before.Hash}}
		}
		c.links = append(c.links, l)
		before = l.title
	}
	return c
}

func TestTransitions_WayToIdle_OnlyThroughClosing(t *testing.T) {
	for _, row := range gate.Transitions {
		if row.To == gate.Idle {
			assert.Equal(t, gate.Closing, row.From)
			assert.Equal(t, gate.Settled, row.Event)
		}
		if row.To == gate.Opening {
			assert.Equal(t, gate.Idle, row.From)
		}
	}
}
