package gate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/gate"
)

// roomy is a gate with two slots of two places: 0 and 2 are the first slot's.
func roomy(t *testing.T) *bench {
	t.Helper()
	s := plain
	s.Sessions = 2
	return newBench(t, s)
}

// Each place has a session of its own; the third member waits, and takes the place that is free first.
func TestPlaces_TwoSessions_ThirdWaits(t *testing.T) {
	b := roomy(t)
	require.Equal(t, 4, b.gate.Slots())
	b.opened(7, tokenOf(1, 1).permit(0))
	b.wait(time.Second)
	b.signIn(8, tokenOf(2, 2).permit(0))
	assert.Equal(t, 2, b.opens[1].Slot, "the second place of the slot")
	b.hook(gate.Succeeded)
	require.Equal(t, gate.Open, b.gate.State(2))
	assert.Equal(t, gate.Idle, b.gate.State(1), "of the other slot")
	b.signIn(9, tokenOf(3, 3).permit(0))
	assert.Equal(t, uint64(101), b.busy(9).Session, "the one that ends first")
	b.step(gate.SignOut{Connection: 8})
	assert.Equal(t, gate.Closing, b.gate.State(2))
	assert.Len(t, b.opens, 2, "close has not confirmed")
	b.hook(gate.Succeeded)
	b.wait(plain.Settle)
	assert.Len(t, b.opens, 2, "it is kept")
	b.wait(plain.Keep)
	require.Len(t, b.opens, 3)
	assert.Equal(t, 2, b.opens[2].Slot)
	assert.Equal(t, gate.Open, b.gate.State(0), "the other session goes on")
}

func TestPlaces_SecondTokenOfMember_Served(t *testing.T) {
	b := roomy(t)
	b.opened(7, tokenOf(1, 1).permit(0))
	b.signIn(8, tokenOf(2, 2).permit(0))
	b.hook(gate.Succeeded)
	b.signIn(9, tokenOf(3, 2).permit(0)) // its session is at the second place
	assert.Equal(t, gate.Served, b.refused(9))
	require.Equal(t, gate.Open, b.gate.State(2))
	b.signIn(10, tokenOf(2, 2).permit(0))
	assert.Equal(t, gate.Closing, b.gate.State(2), "its own token replaces it")
	assert.Len(t, b.opens, 2, "a member has one session")
}

// A place whose close has failed takes nobody in, and keeps nobody out of the other.
func TestPlaces_OneStuck_OtherServes(t *testing.T) {
	b := roomy(t)
	b.opened(7, tokenOf(1, 1).permit(0))
	b.step(gate.SignOut{Connection: 7})
	b.hook(gate.Failed)
	require.Equal(t, gate.Stuck, b.gate.State(0))
	b.signIn(8, tokenOf(2, 2).permit(0))
	require.Len(t, b.opens, 2)
	assert.Equal(t, 2, b.opens[1].Slot)
	b.signIn(9, tokenOf(3, 3).permit(0))
	assert.False(t, b.busy(9).Stuck)
	assert.Equal(t, uint64(102), b.busy(9).Session)
	b.step(gate.SignOut{Connection: 8})
	b.hook(gate.Failed)
	assert.True(t, b.busy(9).Stuck, "nothing is left")
	b.signIn(9, tokenOf(3, 3).permit(0))
	assert.True(t, b.busy(9).Stuck)
}

// The successor cuts at the place of the session, and opens at the first place that is free.
func TestPlaces_Successor_CutsItsOwn(t *testing.T) {
	b := roomy(t)
	c := tokenOf(2, 2, 4)
	b.opened(7, tokenOf(1, 1).permit(0))
	b.signIn(8, c.permit(0))
	b.hook(gate.Succeeded)
	b.signIn(9, c.permit(1))
	assert.Equal(t, gate.Open, b.gate.State(0))
	require.Equal(t, gate.Closing, b.gate.State(2))
	assert.Len(t, b.opens, 2)
	b.hook(gate.Succeeded)
	b.wait(plain.Settle)
	require.Len(t, b.opens, 3, "at once: it is kept for this one")
	assert.Equal(t, memberID(4), b.opens[2].Title.Holder)
}

// A title opens again as long as its session is the last one at a place of the slot.
func TestPlaces_TitleUsed_AgainUnlessPlaceWas(t *testing.T) {
	b := roomy(t)
	b.opened(7, tokenOf(1, 1).permit(0))
	mine := tokenOf(2, 2).permit(0)
	b.signIn(8, mine)
	b.hook(gate.Succeeded)
	b.step(gate.SignOut{Connection: 8})
	b.hook(gate.Succeeded)
	b.wait(plain.Settle)
	b.step(gate.SignOut{Connection: 7})
	b.hook(gate.Succeeded)
	b.wait(plain.Settle)
	b.wait(plain.Keep)
	b.signIn(9, tokenOf(3, 3).permit(0)) // at the first place
	b.hook(gate.Succeeded)
	require.Equal(t, gate.Open, b.gate.State(0))
	b.signIn(10, mine)
	require.Len(t, b.opens, 4)
	assert.Equal(t, 2, b.opens[3].Slot)
}

// A configuration with fewer places leaves their sessions to end, and lets nobody in there. One with more closes the new ones first.
func TestPlaces_Configured_FewerAndMore(t *testing.T) {
	b := roomy(t)
	b.opened(7, tokenOf(1, 1).permit(0))
	b.signIn(8, tokenOf(2, 2).permit(0))
	b.hook(gate.Succeeded)
	s := b.plan
	s.Version, s.Sessions = 2, 1
	b.step(gate.Configured{Settings: s})
	assert.Equal(t, gate.Open, b.gate.State(2))
	b.step(gate.SignOut{Connection: 8})
	b.hook(gate.Succeeded)
	b.wait(plain.Settle)
	b.wait(plain.Keep)
	b.step(gate.SignIn{Connection: 9, Permit: tokenOf(3, 3).permit(0), Configuration: 2, Length: time.Second})
	assert.Equal(t, uint64(101), b.busy(9).Session)
	assert.Len(t, b.opens, 2, "the second place is gone")
	closes := len(b.closes)
	s.Version, s.Sessions = 3, 3
	b.step(gate.Configured{Settings: s})
	assert.Len(t, b.closes, closes+2, "the third place of each slot")
	b.step(gate.SignIn{Connection: 10, Permit: tokenOf(4, 4).permit(0), Configuration: 3, Length: time.Second})
	require.Len(t, b.opens, 3, "the second one is there again")
	assert.Equal(t, 2, b.opens[2].Slot)
	s.Version, s.Sessions = 4, 33
	b.step(gate.Configured{Settings: s})
	assert.Equal(t, []string{gate.AlarmConfiguration}, b.alarms, "66 places")
}

func TestPlaces_Restart_EachClosed(t *testing.T) {
	afterRestart(t, func(t *testing.T, restart func(*bench)) {
		b := roomy(t)
		b.opened(7, tokenOf(1, 1).permit(0))
		b.signIn(8, tokenOf(2, 2).permit(0))
		b.plan.Sessions = 1 // meanwhile
		restart(b)
		require.Len(t, b.closes, 2)
		assert.Equal(t, uint64(101), b.closes[0].Session)
		assert.Equal(t, uint64(102), b.closes[1].Session)
		assert.Equal(t, 2, b.closes[1].Slot)
		assert.Equal(t, gate.Closing, b.gate.State(2))
	})
}

// A place that the configuration has taken away counts as long as work may go on there.
func TestPlaces_Fewer_GoneOneOccupied_NothingOpens(t *testing.T) {
	b := roomy(t)
	b.opened(7, tokenOf(1, 1).permit(0))
	b.signIn(8, tokenOf(2, 2).permit(0))
	b.hook(gate.Succeeded)
	s := b.plan
	s.Version, s.Sessions = 2, 1
	b.step(gate.Configured{Settings: s})
	b.over(7)
	require.Equal(t, gate.Idle, b.gate.State(0))
	again := func(c gate.Connection) {
		b.step(gate.SignIn{Connection: c, Permit: tokenOf(3, 3).permit(0), Configuration: 2, Length: time.Second})
	}
	again(9)
	assert.Len(t, b.opens, 2, "the session at the second place goes on")
	assert.Equal(t, uint64(102), b.busy(9).Session)
	b.step(gate.SignOut{Connection: 8})
	b.hook(gate.Failed)
	require.Equal(t, gate.Stuck, b.gate.State(2))
	assert.Len(t, b.opens, 2)
	assert.True(t, b.busy(9).Stuck)
	again(10)
	assert.True(t, b.busy(10).Stuck)
	b.step(gate.Cleared{Slot: 2})
	again(11)
	assert.Len(t, b.opens, 2, "it closes")
	assert.False(t, b.busy(11).Stuck)
	b.hook(gate.Succeeded)
	b.wait(plain.Settle)
	require.Len(t, b.opens, 3)
	assert.Equal(t, 0, b.opens[2].Slot)
}

func TestPlaces_OneCloses_OtherServes(t *testing.T) {
	b := roomy(t)
	c := tokenOf(1, 1, 2)
	b.opened(7, c.permit(0))
	b.step(gate.SignOut{Connection: 7})
	require.Equal(t, gate.Closing, b.gate.State(0))
	b.signIn(8, c.permit(1))
	require.Len(t, b.opens, 2)
	assert.Equal(t, 2, b.opens[1].Slot)
}

// The token has gone on, to a member whose permit says nothing of the one before: the title of that one opens nothing beside it.
func TestPlaces_TitleUsed_TokenElsewhere_Refused(t *testing.T) {
	b := roomy(t)
	c := tokenOf(1, 1, 2, 3, 4)
	b.opened(7, c.permit(0))
	b.step(gate.SignOut{Connection: 7})
	b.hook(gate.Succeeded)
	b.wait(plain.Settle)
	b.signIn(8, c.permit(3))
	b.hook(gate.Succeeded)
	require.Equal(t, gate.Open, b.gate.State(2), "the first place is kept")
	b.wait(plain.Keep)
	b.signIn(9, c.permit(0))
	assert.Equal(t, gate.Used, b.refused(9))
	assert.Len(t, b.opens, 2)
}
