package gate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/ident"
)

func TestConfigured_Newer_InForce(t *testing.T) {
	b := newBench(t, plain)
	s := plain
	s.Version, s.MaxHold = 2, 5*time.Second
	b.step(gate.Configured{Settings: s})
	b.step(gate.Configured{Settings: plain}) // older: no effect
	b.step(gate.SignIn{Connection: 7, Permit: tokenOf(1, 1).permit(0), Configuration: 2, Length: time.Hour})
	assert.Equal(t, b.now.Add(5*time.Second), b.opens[0].Deadline)
}

func TestConfigured_Invalid_Alarm(t *testing.T) {
	b := newBench(t, plain)
	s := plain
	s.Version, s.MaxHold = 2, 0
	for range 3 {
		b.step(gate.Configured{Settings: s})
	}
	assert.Equal(t, []string{gate.AlarmConfiguration}, b.alarms, "once for a version")
	s.Version = 3
	b.step(gate.Configured{Settings: s})
	assert.Len(t, b.alarms, 2)
}

func TestConfigured_OtherNumberOfSlots_Follows(t *testing.T) {
	b := newBench(t, plain)
	in := gate.SignIn{Connection: 7, Slot: 2, Permit: tokenOf(1, 1).permit(0), Configuration: 2, Length: 10 * time.Second}
	s := plain
	s.Version, s.Slots = 2, 3
	b.step(gate.Configured{Settings: s})
	require.Equal(t, 3, b.gate.Slots())
	require.Equal(t, gate.Closing, b.gate.State(2), "it closes whatever there may be")
	b.hook(gate.Succeeded)
	b.wait(plain.MaxHold + plain.Settle)
	b.step(in)
	require.Equal(t, gate.Opening, b.gate.State(2))
	b.hook(gate.Succeeded)
	s.Version, s.Slots = 3, 1
	b.step(gate.Configured{Settings: s})
	assert.Equal(t, gate.Open, b.gate.State(2), "a session goes on")
	in.Connection, in.Configuration = 8, 3
	b.step(in)
	assert.Equal(t, gate.NoSlot, b.refused(8))
	b.over(7)
	assert.Equal(t, gate.Idle, b.gate.State(2))
}

func TestConfigured_Newer_WaitersHearOfIt(t *testing.T) {
	b := newBench(t, plain)
	b.opened(7, tokenOf(1, 1).permit(0))
	b.signIn(8, tokenOf(2, 2).permit(0))
	s := plain
	s.Version, s.Raw = 2, []byte("configuration")
	b.step(gate.Configured{Settings: s})
	require.NotEmpty(t, b.said[8])
	assert.Equal(t, gate.RefuseAnswer{Code: gate.Outdated, Configuration: s.Raw}, b.said[8][0])
	assert.Equal(t, gate.Open, b.gate.State(0), "a session goes on")
	b.over(7)
	assert.Equal(t, gate.Idle, b.gate.State(0))
}

func TestRevocations_Member_CutAndRefused(t *testing.T) {
	b := newBench(t, plain)
	b.opened(7, tokenOf(1, 1).permit(0))
	b.signIn(8, tokenOf(2, 2).permit(0))
	b.step(gate.Revocations{Members: []ident.Member{memberID(1), memberID(2)}})
	assert.Equal(t, gate.Closing, b.gate.State(0))
	assert.Equal(t, gate.Revoked, b.refused(8))
	b.signIn(9, tokenOf(1, 1).permit(0))
	assert.Equal(t, gate.Revoked, b.refused(9))
}

func TestRevocations_Signer_OnlyKnownTokens(t *testing.T) {
	b := newBench(t, plain)
	c := tokenOf(1, 1, 2, 3)
	b.opened(7, c.permit(1))
	b.over(7)
	assert.True(t, b.gate.Knows(memberID(1), c.links[0].title.Token))
	b.step(gate.Revocations{Members: []ident.Member{memberID(1)}})
	b.signIn(8, tokenOf(2, 1, 4).permit(1))
	assert.Equal(t, gate.SignerRevoked, b.refused(8))
	b.signIn(9, tokenOf(3, 4, 1, 5).permit(2))
	assert.Equal(t, gate.SignerRevoked, b.refused(9))
	b.signIn(10, c.permit(2))
	assert.Equal(t, gate.Opening, b.gate.State(0))
}

// What a revoked signer's key signs after its revocation opens nothing, also under a known token.
func TestRevocations_Signer_NoNewTitles(t *testing.T) {
	b := newBench(t, plain)
	c := tokenOf(1, 5, 1, 2, 3, 4)
	b.opened(7, c.permit(1)) // of 1
	b.over(7)
	b.step(gate.Revocations{Members: []ident.Member{memberID(1)}})
	b.signIn(8, c.permit(2)) // signed by 1, and new here
	assert.Equal(t, gate.SignerRevoked, b.refused(8))
	b.signIn(9, c.permit(3))
	assert.Equal(t, gate.SignerRevoked, b.refused(9), "the transfer before is")
	b.opened(10, c.permit(4)) // two hops on, the token is good
	b.over(10)
	stolen := c.permit(1)
	stolen.Moves = append([]gate.Move{{By: memberID(1), Title: stolen.Title.Hash}}, stolen.Moves...)
	stolen.Title = gate.Title{Token: stolen.Title.Token, Hop: 2, Holder: memberID(9), Hash: ident.Hash{99}}
	b.signIn(11, stolen)
	assert.Equal(t, gate.SignerRevoked, b.refused(11))
}

// The CA has revoked more members than the gate can remember.
func TestRevocations_TooMany_Shut(t *testing.T) {
	b := newBench(t, plain)
	for n := 0; n <= gate.MaxRevoked; n += 1024 {
		var list []ident.Member
		for m := range 1024 {
			list = append(list, memberID(1000+n+m))
		}
		b.take(b.gate.Step(b.reading(), gate.Revocations{Members: list}))
	}
	assert.Equal(t, []string{gate.AlarmRevocations}, b.alarms)
	b.signIn(7, tokenOf(1, 1).permit(0))
	assert.Equal(t, gate.Unsure, b.refused(7))
}

func TestRevocations_TooOld_Shut(t *testing.T) {
	s := plain
	s.RevocationMaxAge = time.Minute
	b := newBench(t, s)
	b.signIn(7, tokenOf(1, 1).permit(0))
	assert.Equal(t, gate.Unsure, b.refused(7), "not asked since the start")
	b.step(gate.Revocations{Fresh: true})
	b.wait(time.Minute + 1)
	b.signIn(7, tokenOf(1, 1).permit(0))
	assert.Equal(t, gate.Unsure, b.refused(7))
	b.step(gate.Revocations{Fresh: true})
	b.signIn(8, tokenOf(1, 1).permit(0))
	assert.Equal(t, gate.Opening, b.gate.State(0))
}
