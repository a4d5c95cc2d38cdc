package gate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/ident"
)

func TestBegin_NoFloor_Refused(t *testing.T) {
	_, _, err := gate.Begin(plain, nil, clock.Reading{})
	assert.ErrorIs(t, err, gate.ErrFloor)
	floor := uint64(1)
	for _, slots := range []int{-1, 0, gate.MaxSlots + 1} {
		s := plain
		s.Slots = slots
		_, _, err = gate.Begin(s, &floor, clock.Reading{})
		assert.ErrorIs(t, err, gate.ErrSlots)
	}
	_, _, err = gate.Begin(gate.Settings{Slots: 1}, &floor, clock.Reading{})
	assert.ErrorIs(t, err, gate.ErrSettings)
	s := plain
	s.Settle = -1
	_, _, err = gate.Begin(s, &floor, clock.Reading{})
	assert.ErrorIs(t, err, gate.ErrSettings)
}

func TestBegin_LostJournal_Shut(t *testing.T) {
	b := begun(t, plain, 9)
	assert.Equal(t, []gate.Record{&gate.BeginRecord{Floor: 9}}, b.journal)
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
	b := begun(t, s, 9)
	b.hook(gate.Succeeded)
	b.wait(s.OpenTimeout + s.Settle - 1)
	assert.Equal(t, gate.Closing, b.gate.State(0))
	b.wait(1)
	assert.Equal(t, gate.Idle, b.gate.State(0))
}

// Numbers never wrap to 0.
func TestBegin_NoNumberAbove_Refused(t *testing.T) {
	for _, floor := range []uint64{gate.MaxNumber, gate.MaxNumber + 1, 1<<64 - 1} {
		_, _, err := gate.Begin(plain, &floor, clock.Reading{})
		assert.ErrorIs(t, err, gate.ErrFloor, "%d", floor)
	}
	b := begun(t, plain, gate.MaxNumber-1)
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
	b := begun(t, plain, 9)
	b.wait(plain.CloseTimeout)
	assert.Equal(t, gate.Stuck, b.gate.State(0))
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
	afterRestart(t, func(t *testing.T, restart func(*bench)) {
		b := newBench(t, plain)
		b.opened(7, tokenOf(1, 1).permit(0))
		restart(b)
		require.Equal(t, []gate.RunClose{{Run: 1, Session: 101}}, b.closes)
		assert.Equal(t, gate.Idle, b.gate.State(1))
		b.signIn(8, tokenOf(2, 2).permit(0))
		assert.Equal(t, gate.Closing, b.gate.State(0))
		b.hook(gate.Succeeded)
		b.wait(plain.Settle)
		b.wait(plain.Keep)
		require.Len(t, b.opens, 1)
		assert.Equal(t, uint64(102+gate.MaxAhead), b.opens[0].Session)
	})
}

// A crash may lose the records of sessions whose numbers have left. A start passes these over, and no number leaves behind it before one above them is durable:
// otherwise a second crash has the next start give that one again.
func TestRestore_Numbers_PassedOverUntilOneIsDurable(t *testing.T) {
	afterRestart(t, func(t *testing.T, restart func(*bench)) {
		b := newBench(t, plain)
		b.opened(7, tokenOf(1, 1).permit(0))
		b.over(7)
		b.wait(plain.Keep)
		b.signIn(8, tokenOf(2, 2).permit(0))
		assert.False(t, b.synced, "102 may leave")
		b.hook(gate.Succeeded)
		b.over(8)
		restart(b)
		b.wait(plain.Keep)
		b.signIn(9, tokenOf(3, 3).permit(0))
		require.Len(t, b.opens, 1)
		assert.Equal(t, uint64(103+gate.MaxAhead), b.opens[0].Session)
		assert.True(t, b.synced, "it may not leave")
		b.hook(gate.Succeeded)
		b.over(9)
		b.wait(plain.Keep)
		b.signIn(10, tokenOf(4, 4).permit(0))
		require.Len(t, b.opens, 2)
		assert.Equal(t, uint64(104+gate.MaxAhead), b.opens[1].Session)
		assert.False(t, b.synced, "it may leave again")
	})
}

// Numbers that a start passes over do not go above the greatest one.
func TestRestore_NumbersAtTheirEnd_NothingOpens(t *testing.T) {
	b := begun(t, plain, gate.MaxNumber-2)
	b.hook(gate.Succeeded)
	b.wait(plain.MaxHold + plain.Settle)
	b.restart(b.journal)
	b.signIn(7, tokenOf(1, 1).permit(0))
	assert.Empty(t, b.opens)
	b.restart(b.gate.Checkpoint())
}

// A restart loses nothing of what a slot is kept for.
func TestRestore_LinkedSuccessor_NeedNotWait(t *testing.T) {
	afterRestart(t, func(t *testing.T, restart func(*bench)) {
		b := newBench(t, plain)
		c := tokenOf(1, 1, 2)
		b.opened(7, c.permit(0))
		restart(b)
		b.signIn(8, c.permit(1))
		b.hook(gate.Succeeded)
		b.wait(plain.Settle)
		assert.Equal(t, gate.Opening, b.gate.State(0))
	})
}

func TestRestore_Memory_Continues(t *testing.T) {
	afterRestart(t, func(t *testing.T, restart func(*bench)) {
		b := newBench(t, plain)
		used, given := tokenOf(1, 1).permit(0), tokenOf(2, 2, 3)
		b.opened(7, used)
		b.over(7)
		b.opened(8, given.permit(1))
		b.over(8)
		restart(b)
		b.signIn(9, used)
		assert.Equal(t, gate.Used, b.refused(9))
		b.signIn(10, given.permit(0))
		assert.Equal(t, gate.Stale, b.refused(10))
		assert.True(t, b.gate.Knows(memberID(2), given.links[0].title.Token))
		b.signIn(11, given.permit(1))
		require.Len(t, b.opens, 1)
		assert.Equal(t, uint64(103+gate.MaxAhead), b.opens[0].Session)
	})
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
	begin, resume := &gate.BeginRecord{Floor: 5}, &gate.BeginRecord{Floor: 9, Checkpoint: true}
	closed := &gate.ClosedRecord{Reason: gate.ByRestart}
	elsewhere := &gate.ClosedRecord{Slot: 1, Reason: gate.ByRestart}
	opening := &gate.OpeningRecord{Session: 6, Member: memberID(1)}
	member := &gate.MemberRecord{Member: memberID(1), Served: 8, Titles: []gate.TitleRecord{{Title: ident.Hash{1}, Session: 8}}}
	remembers := func(titles ...gate.TitleRecord) *gate.MemberRecord {
		return &gate.MemberRecord{Member: memberID(1), Served: 8, Titles: titles}
	}
	made := &gate.GeneratorRecord{Tokens: []ident.Token{{1}}}
	end := func(n uint64) *gate.EndRecord { return &gate.EndRecord{Records: n} }
	for name, c := range map[string]struct {
		err     error
		records []gate.Record
	}{
		"nothing":             {gate.ErrNoJournal, nil},
		"no beginning":        {gate.ErrNoJournal, []gate.Record{closed}},
		"malformed":           {gate.ErrRecord, []gate.Record{begin, &gate.ClosedRecord{}}},
		"two beginnings":      {gate.ErrJournal, []gate.Record{begin, begin}},
		"opens over open":     {gate.ErrJournal, []gate.Record{begin, closed, opening, &gate.OpeningRecord{Session: 7}}},
		"opens over unknown":  {gate.ErrJournal, []gate.Record{begin, opening}},
		"two of a member":     {gate.ErrJournal, []gate.Record{begin, closed, elsewhere, opening, &gate.OpeningRecord{Session: 7, Slot: 1, Member: memberID(1)}}},
		"number again":        {gate.ErrJournal, []gate.Record{begin, closed, &gate.OpeningRecord{Session: 5}}},
		"ends another":        {gate.ErrJournal, []gate.Record{begin, closed, opening, closed}},
		"ends twice":          {gate.ErrJournal, []gate.Record{begin, closed, closed}},
		"stuck twice":         {gate.ErrJournal, []gate.Record{begin, &gate.StuckRecord{}, &gate.StuckRecord{}}},
		"stuck, another":      {gate.ErrJournal, []gate.Record{begin, closed, opening, &gate.StuckRecord{}}},
		"stuck, idle":         {gate.ErrJournal, []gate.Record{begin, closed, &gate.StuckRecord{}}},
		"revoked twice":       {gate.ErrJournal, []gate.Record{begin, &gate.RevokedRecord{Members: make([]ident.Member, 2)}}},
		"member, no end":      {gate.ErrJournal, []gate.Record{begin, member}},
		"opens in it":         {gate.ErrJournal, []gate.Record{resume, closed, &gate.OpeningRecord{Session: 10}}},
		"cut":                 {gate.ErrCheckpoint, []gate.Record{resume, closed, member}},
		"one is missing":      {gate.ErrJournal, []gate.Record{resume, closed, end(3)}},
		"member after end":    {gate.ErrJournal, []gate.Record{resume, end(1), member}},
		"two ends":            {gate.ErrJournal, []gate.Record{resume, end(1), end(2)}},
		"member ahead":        {gate.ErrJournal, []gate.Record{resume, &gate.MemberRecord{Served: 10}}},
		"member twice":        {gate.ErrJournal, []gate.Record{resume, member, &gate.MemberRecord{Member: memberID(1), Served: 7}}},
		"one session of two":  {gate.ErrJournal, []gate.Record{resume, member, &gate.MemberRecord{Member: memberID(2), Served: 8}}},
		"title ahead":         {gate.ErrJournal, []gate.Record{resume, remembers(gate.TitleRecord{Title: ident.Hash{1}, Session: 9})}},
		"title of nothing":    {gate.ErrJournal, []gate.Record{resume, remembers(gate.TitleRecord{Title: ident.Hash{1}})}},
		"title twice":         {gate.ErrJournal, []gate.Record{resume, remembers(gate.TitleRecord{Moved: true}, gate.TitleRecord{Moved: true})}},
		"generator twice":     {gate.ErrJournal, []gate.Record{resume, made, made}},
		"token twice":         {gate.ErrJournal, []gate.Record{resume, &gate.GeneratorRecord{Tokens: make([]ident.Token, 2)}}},
		"continued, ahead":    {gate.ErrJournal, []gate.Record{resume, closed, &gate.ContinuedRecord{Session: 10}}},
		"continued, unserved": {gate.ErrJournal, []gate.Record{resume, member, closed, &gate.ContinuedRecord{Session: 9, Member: memberID(1)}}},
		"continued, two slots": {gate.ErrJournal, []gate.Record{
			resume, member, closed, elsewhere, &gate.ContinuedRecord{Session: 8, Member: memberID(1)}, &gate.ContinuedRecord{Session: 8, Slot: 1, Member: memberID(1)},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := gate.Restore(plain, c.records, clock.Reading{})
			assert.ErrorIs(t, err, c.err)
		})
	}
	s := plain
	s.Slots = 0
	_, _, err := gate.Restore(s, []gate.Record{begin}, clock.Reading{})
	assert.ErrorIs(t, err, gate.ErrSlots)
}

// A checkpoint that is cut anywhere is none.
func TestRestore_CheckpointCut_Refused(t *testing.T) {
	b := newBench(t, plain)
	b.opened(7, tokenOf(1, 1, 2).permit(1))
	list := b.gate.Checkpoint()
	for n := 1; n < len(list); n++ {
		_, _, err := gate.Restore(b.plan, list[:n], b.reading())
		assert.ErrorIs(t, err, gate.ErrCheckpoint, "%d records", n)
	}
	b.restart(append(list, &gate.ClosedRecord{Session: 101, Reason: gate.BySignOut}))
	assert.Equal(t, gate.Idle, b.gate.State(0))
}

func TestRestore_Stuck_StaysStuck(t *testing.T) {
	afterRestart(t, func(t *testing.T, restart func(*bench)) {
		b := newBench(t, plain)
		b.opened(7, tokenOf(1, 1).permit(0))
		b.step(gate.SignOut{Connection: 7})
		b.hook(gate.Failed)
		restart(b)
		assert.Equal(t, gate.Stuck, b.gate.State(0))
		assert.Equal(t, []string{gate.AlarmStuck, gate.AlarmStuck}, b.alarms, "the operator hears of it again")
		assert.Empty(t, b.closes)
		b.step(gate.Cleared{Slot: 0})
		restart(b)
		require.Equal(t, gate.Stuck, b.gate.State(0), "cleared, and not closed")
		b.step(gate.Cleared{Slot: 0})
		b.hook(gate.Succeeded)
		b.wait(plain.Settle)
		restart(b)
		assert.Equal(t, gate.Idle, b.gate.State(0))
	})
}

func TestRestore_StuckAfterBegin_StaysStuck(t *testing.T) {
	afterRestart(t, func(t *testing.T, restart func(*bench)) {
		b := begun(t, plain, 9)
		b.hook(gate.Failed)
		restart(b)
		require.Equal(t, gate.Stuck, b.gate.State(0))
		b.step(gate.Cleared{Slot: 0})
		b.hook(gate.Succeeded)
		b.wait(plain.MaxHold)
		assert.Equal(t, gate.Closing, b.gate.State(0), "shut as without a journal")
		b.wait(plain.Settle)
		assert.Equal(t, gate.Idle, b.gate.State(0))
	})
}

func TestRestore_Revoked_StaysRevoked(t *testing.T) {
	afterRestart(t, func(t *testing.T, restart func(*bench)) {
		b := newBench(t, plain)
		for n := range 300 { // more than one record
			b.step(gate.Revocations{Members: []ident.Member{memberID(n), memberID(300 - n)}})
		}
		list := make([]ident.Member, 300)
		for n := range list {
			list[n] = memberID(1000 + n)
		}
		b.step(gate.Revocations{Members: list})
		restart(b)
		for _, m := range []int{0, 299, 300, 1000, 1299} {
			b.signIn(7, tokenOf(1, m).permit(0))
			assert.Equal(t, gate.Revoked, b.refused(7), "%d", m)
		}
		b.signIn(7, tokenOf(1, 1300).permit(0))
		assert.Equal(t, gate.Opening, b.gate.State(0))
	})
}

// A session at another slot is nobody's turn at this one, after a restart neither.
func TestRestore_SessionAtAnotherSlot_NotUsed(t *testing.T) {
	afterRestart(t, func(t *testing.T, restart func(*bench)) {
		b := newBench(t, plain)
		p := tokenOf(1, 1).permit(0)
		b.opened(7, p)
		b.over(7)
		b.step(gate.SignIn{Connection: 8, Slot: 1, Permit: tokenOf(2, 2).permit(0), Configuration: 1, Length: time.Second})
		b.hook(gate.Succeeded)
		restart(b)
		b.signIn(9, p)
		assert.Equal(t, gate.Opening, b.gate.State(0))
	})
}

func TestRestore_OtherNumberOfSlots_FollowsTheSettings(t *testing.T) {
	afterRestart(t, func(t *testing.T, restart func(*bench)) {
		b := newBench(t, plain)
		b.step(gate.SignIn{Connection: 7, Slot: 1, Permit: tokenOf(1, 1).permit(0), Configuration: 1, Length: time.Second})
		b.plan.Slots = 1
		restart(b)
		assert.Equal(t, []gate.RunClose{{Run: 1, Slot: 1, Session: 101}}, b.closes, "it closes at a slot that is gone")
		b.hook(gate.Succeeded)
		b.wait(plain.Settle)
		b.step(gate.SignIn{Connection: 8, Slot: 1, Permit: tokenOf(2, 2).permit(0), Configuration: 1, Length: time.Second})
		assert.Equal(t, gate.NoSlot, b.refused(8))
		b.plan.Slots = 3
		restart(b)
		assert.Equal(t, []gate.RunClose{{Run: 1, Slot: 2}}, b.closes, "it closes whatever there may be at a new one")
		assert.Equal(t, gate.Idle, b.gate.State(1))
		b.hook(gate.Succeeded)
		b.wait(plain.MaxHold + plain.Settle)
		assert.Equal(t, gate.Idle, b.gate.State(2))
	})
}
