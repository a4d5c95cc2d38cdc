package gate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/ident"
)

// A title that its holder has given away opens nothing any more, also for a sign-in that has waited since before the gate saw that.
func TestWaiters_GivenAwayMeanwhile_RefusedBeforeItOpens(t *testing.T) {
	b := newBench(t, plain)
	b.opened(6, tokenOf(90, 1).permit(0))
	b.over(6)
	b.opened(7, tokenOf(100, 50).permit(0))
	c := tokenOf(1, 5, 1, 2)
	b.signIn(8, c.permit(1))
	b.signIn(9, c.permit(2)) // shows that member 1 has passed the token on
	b.over(7)
	require.Equal(t, memberID(2), b.opens[len(b.opens)-1].Title.Holder, "it was never served")
	b.hook(gate.Succeeded)
	opens := len(b.opens)
	b.over(9)
	assert.Equal(t, gate.Stale, b.refused(8))
	assert.Len(t, b.opens, opens)
}

// The place is kept for a successor that may not open any more when the moment has come. It goes on to be kept, and then another one opens.
func TestWaiters_SuccessorRefusedAtItsTurn_OthersAfterTheKeep(t *testing.T) {
	s := plain
	s.MinInterval = time.Minute
	b := newBench(t, s)
	b.wait(s.MinInterval) // before its first session ends a member counts as one whose last session ended at the start
	b.step(gate.SignIn{Connection: 5, Slot: 1, Permit: tokenOf(5, 2).permit(0), Configuration: 1, Length: 10 * time.Second})
	b.hook(gate.Succeeded)
	c := tokenOf(1, 1, 2)
	b.opened(7, c.permit(0))
	b.signIn(8, c.permit(1)) // its session at the other slot goes on
	cut := b.runs[len(b.runs)-1]
	b.signIn(9, tokenOf(3, 3).permit(0))
	b.step(gate.SignOut{Connection: 5})
	b.hook(gate.Succeeded)
	b.step(gate.HookEnded{Run: cut})
	b.wait(plain.Settle) // both at once
	assert.Equal(t, gate.TooSoon, b.refused(8))
	require.Equal(t, gate.Idle, b.gate.State(0))
	b.wait(plain.Keep)
	require.Equal(t, gate.Opening, b.gate.State(0))
	assert.Equal(t, memberID(3), b.opens[len(b.opens)-1].Title.Holder)
}

// An open hook has its time once more after a pause, and then it has failed.
func TestSlot_OpenHookHangsBehindAPause_Closes(t *testing.T) {
	b := newBench(t, plain)
	b.signIn(7, tokenOf(1, 1).permit(0))
	b.wait(plain.OpenTimeout + time.Second)
	require.Equal(t, gate.Opening, b.gate.State(0))
	assert.Equal(t, b.now.Add(plain.OpenTimeout), b.gate.NextDeadline())
	b.wait(plain.OpenTimeout)
	assert.Equal(t, gate.Closing, b.gate.State(0))
	assert.Equal(t, []string{gate.AlarmOpenFailed}, b.alarms)
}

// An operator's word about a slot that is not there, or not stuck, changes nothing.
func TestSlot_ClearedNotStuck_Nothing(t *testing.T) {
	b := newBench(t, plain)
	b.opened(7, tokenOf(1, 1).permit(0))
	closes := len(b.closes)
	for _, slot := range []int{-1, 0, 1, 2, gate.MaxSlots} {
		b.step(gate.Cleared{Slot: slot})
	}
	assert.Equal(t, gate.Open, b.gate.State(0))
	assert.Len(t, b.closes, closes)
}

// The revocation of others ends nobody's session, and what a member says of revocations is not the CA's word.
func TestRevocations_OfOthersByAMember_NothingEndsNorIsFresh(t *testing.T) {
	s := plain
	s.RevocationMaxAge = time.Minute
	b := newBench(t, s)
	b.step(gate.Revocations{Fresh: true})
	b.opened(7, tokenOf(1, 1).permit(0))
	b.step(gate.Revocations{Members: []ident.Member{memberID(9)}})
	assert.Equal(t, gate.Open, b.gate.State(0))
	b.over(7)
	b.wait(time.Minute)
	b.step(gate.Revocations{Members: []ident.Member{memberID(9)}})
	b.signIn(8, tokenOf(2, 2).permit(0))
	assert.Equal(t, gate.Unsure, b.refused(8))
}
