package gate_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

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
	g, list, err := gate.Restore(plain, records, b.reading())
	require.NoError(b.t, err)
	require.NoError(b.t, g.Check())
	b.gate = g
	b.take(list)
}

func TestBegin_NoFloor_Refused(t *testing.T) {
	_, _, err := gate.Begin(plain, 1, nil, clock.Reading{})
	assert.ErrorIs(t, err, gate.ErrFloor)
	floor := uint64(1)
	_, _, err = gate.Begin(plain, 0, &floor, clock.Reading{})
	assert.ErrorIs(t, err, gate.ErrSlots)
	_, _, err = gate.Begin(gate.Settings{}, 1, &floor, clock.Reading{})
	assert.ErrorIs(t, err, gate.ErrSettings)
	s := plain
	s.Settle = -1
	_, _, err = gate.Begin(s, 1, &floor, clock.Reading{})
	assert.ErrorIs(t, err, gate.ErrSettings)
}

func TestBegin_LostJournal_Shut(t *testing.T) {
	b := &bench{t: t, now: clock.Instant(time.Hour)}
	floor := uint64(9)
	g, list, err := gate.Begin(plain, 1, &floor, b.reading())
	require.NoError(t, err)
	b.gate = g
	b.take(list)
	assert.Equal(t, []gate.Record{&gate.BeginRecord{Floor: 9, Slots: 1}}, b.journal)
	assert.Equal(t, []gate.RunClose{{Run: 1}}, b.closes, "it closes whatever there may be")
	b.hook(gate.Succeeded)
	b.signIn(7, tokenOf(1, 1).permit(0))
	b.busy(7)
	b.wait(plain.MaxHold + plain.Settle - 1)
	assert.Equal(t, gate.Closing, b.gate.State(0))
	b.wait(1)
	assert.Equal(t, gate.Opening, b.gate.State(0))
	assert.Equal(t, uint64(10), b.opens[0].Session)
}

func TestBegin_OpenHookOutlastsSessions_ShutForIt(t *testing.T) {
	s := plain
	s.MaxHold, s.OpenTimeout = time.Second, time.Minute
	b := &bench{t: t, now: clock.Instant(time.Hour)}
	floor := uint64(9)
	g, list, err := gate.Begin(s, 1, &floor, b.reading())
	require.NoError(t, err)
	b.gate = g
	b.take(list)
	b.hook(gate.Succeeded)
	b.wait(s.OpenTimeout + s.Settle - 1)
	assert.Equal(t, gate.Closing, b.gate.State(0))
	b.wait(1)
	assert.Equal(t, gate.Idle, b.gate.State(0))
}

// Numbers never wrap to 0.
func TestBegin_NoNumberAbove_Refused(t *testing.T) {
	for _, floor := range []uint64{gate.MaxNumber, gate.MaxNumber + 1, 1<<64 - 1} {
		_, _, err := gate.Begin(plain, 1, &floor, clock.Reading{})
		assert.ErrorIs(t, err, gate.ErrFloor, "%d", floor)
	}
	b := &bench{t: t, now: clock.Instant(time.Hour)}
	floor := uint64(gate.MaxNumber - 1)
	g, list, err := gate.Begin(plain, 1, &floor, b.reading())
	require.NoError(t, err)
	b.gate = g
	b.take(list)
	b.hook(gate.Succeeded)
	b.wait(plain.MaxHold + plain.Settle)
	b.opened(7, tokenOf(1, 1).permit(0))
	assert.Equal(t, uint64(gate.MaxNumber), b.opens[0].Session)
	b.over(7)
	b.signIn(8, tokenOf(2, 2).permit(0))
	assert.Equal(t, gate.Idle, b.gate.State(0), "that was the last number")
	b.restart(b.gate.Checkpoint())
}

func TestBegin_CloseNotConfirmed_Stuck(t *testing.T) {
	b := &bench{t: t, now: clock.Instant(time.Hour)}
	floor := uint64(9)
	g, list, err := gate.Begin(plain, 1, &floor, b.reading())
	require.NoError(t, err)
	b.gate = g
	b.take(list)
	b.wait(plain.MaxHold + plain.Settle)
	assert.Equal(t, gate.Stuck, g.State(0))
}

func TestBegin_CrashWhileShut_ShutAgain(t *testing.T) {
	b := newBench(t, plain)
	b.restart(b.journal[:1])
	b.step(gate.HookEnded{Run: 1})
	b.step(gate.HookEnded{Run: 2})
	b.wait(plain.MaxHold)
	assert.Equal(t, gate.Closing, b.gate.State(0))
}

func TestRestore_OpenSession_ClosedFirst(t *testing.T) {
	for name, records := range map[string]func(*bench) []gate.Record{
		"journal": func(b *bench) []gate.Record { return b.journal }, "checkpoint": func(b *bench) []gate.Record { return b.gate.Checkpoint() },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, plain)
			b.opened(7, tokenOf(1, 1).permit(0))
			b.restart(records(b))
			require.Equal(t, []gate.RunClose{{Run: 1, Session: 101}}, b.closes)
			assert.Equal(t, gate.Idle, b.gate.State(1))
			b.signIn(8, tokenOf(2, 2).permit(0))
			assert.Equal(t, gate.Closing, b.gate.State(0))
			b.hook(gate.Succeeded)
			b.wait(plain.Settle)
			b.wait(plain.Keep)
			require.Len(t, b.opens, 1)
			assert.Equal(t, uint64(102), b.opens[0].Session)
		})
	}
}

// A restart loses nothing of what a slot is kept for.
func TestRestore_LinkedSuccessor_NeedNotWait(t *testing.T) {
	for name, records := range map[string]func(*bench) []gate.Record{
		"journal": func(b *bench) []gate.Record { return b.journal }, "checkpoint": func(b *bench) []gate.Record { return b.gate.Checkpoint() },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, plain)
			c := tokenOf(1, 1, 2)
			b.opened(7, c.permit(0))
			b.restart(records(b))
			b.signIn(8, c.permit(1))
			b.hook(gate.Succeeded)
			b.wait(plain.Settle)
			assert.Equal(t, gate.Opening, b.gate.State(0))
		})
	}
}

func TestRestore_Memory_Continues(t *testing.T) {
	for name, records := range map[string]func(*bench) []gate.Record{
		"journal": func(b *bench) []gate.Record { return b.journal }, "checkpoint": func(b *bench) []gate.Record { return b.gate.Checkpoint() },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, plain)
			used, given := tokenOf(1, 1).permit(0), tokenOf(2, 2, 3)
			b.opened(7, used)
			b.over(7)
			b.opened(8, given.permit(1))
			b.over(8)
			b.restart(records(b))
			b.signIn(9, used)
			assert.Equal(t, gate.Used, b.refused(9))
			b.signIn(10, given.permit(0))
			assert.Equal(t, gate.Stale, b.refused(10))
			assert.True(t, b.gate.Knows(memberID(2), given.links[0].title.Token))
			b.signIn(11, given.permit(1))
			require.Len(t, b.opens, 1)
			assert.Equal(t, uint64(103), b.opens[0].Session)
		})
	}
}

func TestRestore_MinInterval_CountsFromStart(t *testing.T) {
	b := newBench(t, plain)
	b.opened(7, tokenOf(1, 1).permit(0))
	b.over(7)
	s := plain
	s.MinInterval = time.Minute
	b.now = clock.Instant(time.Second)
	g, _, err := gate.Restore(s, b.journal, b.reading())
	require.NoError(t, err)
	b.gate = g
	b.signIn(8, tokenOf(2, 1).permit(0))
	assert.Equal(t, b.reading().Millis()+60000, b.said[8][0].(gate.RefuseAnswer).NotBefore)
}

func TestRestore_Contradiction_Refused(t *testing.T) {
	begin := &gate.BeginRecord{Floor: 5, Slots: 1}
	closed := &gate.ClosedRecord{Reason: gate.ByRestart}
	opening := &gate.OpeningRecord{Session: 6, Member: memberID(1)}
	for name, c := range map[string]struct {
		err     error
		records []gate.Record
	}{
		"nothing":          {gate.ErrNoJournal, nil},
		"no beginning":     {gate.ErrNoJournal, []gate.Record{closed}},
		"no slots":         {gate.ErrSlots, []gate.Record{&gate.BeginRecord{}}},
		"two beginnings":   {gate.ErrJournal, []gate.Record{begin, begin}},
		"opens over open":  {gate.ErrJournal, []gate.Record{begin, opening}},
		"number again":     {gate.ErrJournal, []gate.Record{begin, closed, &gate.OpeningRecord{Session: 5}}},
		"another slot":     {gate.ErrJournal, []gate.Record{begin, closed, &gate.OpeningRecord{Session: 6, Slot: 1}}},
		"ends another":     {gate.ErrJournal, []gate.Record{begin, closed, opening, closed}},
		"ends twice":       {gate.ErrJournal, []gate.Record{begin, closed, closed}},
		"member ahead":     {gate.ErrJournal, []gate.Record{begin, &gate.MemberRecord{Served: 6}}},
		"continued, ahead": {gate.ErrJournal, []gate.Record{begin, closed, &gate.ContinuedRecord{Session: 6}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := gate.Restore(plain, c.records, clock.Reading{})
			assert.ErrorIs(t, err, c.err)
		})
	}
}

func TestRecord_OutOfRange_Refused(t *testing.T) {
	for name, r := range map[string]gate.Record{
		"slots": &gate.BeginRecord{Slots: gate.MaxSlots + 1}, "session": &gate.OpeningRecord{}, "slot": &gate.ClosedRecord{Slot: gate.MaxSlots, Reason: 1},
		"moves": &gate.OpeningRecord{Session: 1, Moves: make([]gate.MoveRecord, 5)}, "hop": &gate.OpeningRecord{Session: 1, Hop: ident.MaxHop + 1},
		"reason": &gate.ClosedRecord{}, "floor": &gate.BeginRecord{Slots: 1, Floor: gate.MaxNumber + 1},
		"opening": &gate.OpeningRecord{Session: gate.MaxNumber + 1}, "continued": &gate.ContinuedRecord{Session: gate.MaxNumber + 1},
		"ended": &gate.ClosedRecord{Session: gate.MaxNumber + 1, Reason: 1}, "served": &gate.MemberRecord{Served: gate.MaxNumber + 1},
		"title":  &gate.MemberRecord{Titles: []gate.TitleRecord{{Session: gate.MaxNumber + 1}}},
		"tokens": &gate.GeneratorRecord{Tokens: make([]ident.Token, gate.MaxTokens+1)},
	} {
		body, err := gate.Encode(0, r)
		require.NoError(t, err, name)
		_, _, err = gate.Decode(body)
		assert.ErrorIs(t, err, gate.ErrRecord, name)
	}
	_, err := gate.Encode(0, &gate.MemberRecord{Titles: make([]gate.TitleRecord, 200)})
	assert.ErrorIs(t, err, gate.ErrRecord)
	_, _, err = gate.Decode([]byte{0x83, 0x17, 0, 0x80})
	assert.ErrorIs(t, err, gate.ErrRecordKind)
	_, _, err = gate.Decode(nil)
	assert.ErrorIs(t, err, gate.ErrRecord)
}

func TestMemory_ManyTitles_Bounded(t *testing.T) {
	s := plain
	s.Keep, s.Settle = 0, 0
	b := newBench(t, s)
	c := tokenOf(1, 1)
	for n := range gate.MaxTitles + 5 {
		c.links = append(c.links, link{gate.Title{Token: c.links[0].title.Token, Holder: memberID(1), Hash: ident.Hash{1, byte(n), 2}}, nil})
		b.opened(gate.Connection(n+1), c.permit(len(c.links)-1))
		b.over(gate.Connection(n + 1))
	}
	for _, r := range b.gate.Checkpoint() {
		if m, ok := r.(*gate.MemberRecord); ok {
			assert.Len(t, m.Titles, gate.MaxTitles)
		}
		_, err := gate.Encode(0, r)
		assert.NoError(t, err)
	}
}

// What a permit says is what the signed objects say.
func TestPermitOf_Titles_MovesOfTheirSigners(t *testing.T) {
	group := ident.Group{1}
	key := func(n byte) (*signature.PrivateKey, ident.Member) {
		k, err := signature.NewPrivateKey(bytes.Repeat([]byte{n}, signature.SeedSize))
		require.NoError(t, err)
		raw := k.Public().Bytes()
		return k, ident.MemberOf(group, raw[:])
	}
	a, ada := key(1)
	bk, ben := key(2)
	g, err := token.GenesisBody{Resource: "r", Generator: ada, Time: 77}.Sign(group, a)
	require.NoError(t, err)
	born := token.Title{Genesis: g}
	p := gate.PermitOf(born, token.Title{})
	assert.Equal(t, gate.Permit{
		Title: gate.Title{Token: g.ID(), Holder: ada, Hash: g.Hash()}, Generator: ada, Born: 77,
	}, p)

	tr, err := born.Next(ben, ident.Reservation{Number: 1}).Sign(group, a)
	require.NoError(t, err)
	first := token.Title{Genesis: g, Transfer: tr}
	p = gate.PermitOf(first, born)
	assert.Equal(t, gate.Title{Token: g.ID(), Hop: 1, Holder: ben, Hash: tr.Hash()}, p.Title)
	assert.Equal(t, []gate.Move{{By: ada, Title: g.Hash()}}, p.Moves)

	void, err := token.AnswerTo(tr, ben, ident.Incarnation{1}).Sign(group, token.Void, bk)
	require.NoError(t, err)
	back := token.Title{Genesis: g, Transfer: tr, Void: void}
	p = gate.PermitOf(back, born)
	assert.Equal(t, gate.Title{Token: g.ID(), Hop: 1, Holder: ada, Hash: tr.Hash()}, p.Title)
	assert.Equal(t, []gate.Move{{By: ada, Title: g.Hash()}, {By: ben, Title: tr.Hash(), Declined: true}}, p.Moves)

	again, err := back.Next(ben, ident.Reservation{Number: 2}).Sign(group, a)
	require.NoError(t, err)
	p = gate.PermitOf(token.Title{Genesis: g, Transfer: again}, back)
	assert.Equal(t, []gate.Move{
		{By: ada, Title: tr.Hash()}, {By: ada, Title: g.Hash()}, {By: ben, Title: tr.Hash(), Declined: true},
	}, p.Moves)
}
