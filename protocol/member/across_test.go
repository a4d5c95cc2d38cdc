package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/member"
)

// across is a member with a grant that lasts across a restart of the machine, and the grant.
func across(t *testing.T) (*box, member.Across) {
	b := holder(t)
	b.step(member.Demand{Request: 1, Resource: resource, Across: true})
	require.NotNil(t, granted(b))
	list := member.AcrossOf(b.Member, resource)
	require.Len(t, list, 1)
	assert.Equal(t, granted(b).Grant, list[0].Grant)
	assert.Equal(t, granted(b).Deadline, list[0].Deadline)
	return b, list[0]
}

// reboot is the machine's: the clock that counts from its start begins anew, and the wall clock goes on, wrong by so much.
func (b *box) reboot(took, wrong time.Duration) {
	b.cfg.Boot += "+"
	b.now.Boot, b.now.Wall = 1, b.now.Wall.Add(took+wrong)
	b.restart()
}

// A member whose machine goes down waits for nobody to take the token: it stays here.
func TestAcross_Stop_NothingToWaitFor(t *testing.T) {
	b, _ := across(t)
	b.step(member.Shutdown{})
	assert.True(t, b.Idle())
}

// P-103.
func TestAcross_Reboot_GrantLastsToItsDeadline(t *testing.T) {
	b, g := across(t)
	length := quick.OperationTime
	took := length / 4
	b.reboot(took, 0)
	b.checkpoint()
	b.reboot(took, 0)
	b.step(member.Demand{Request: 2, Resource: resource})
	list := member.AcrossOf(b.Member, resource)
	require.Len(t, list, 1)
	assert.Equal(t, g.Grant, list[0].Grant)
	assert.InDelta(t, length-2*took, list[0].Deadline.Sub(b.now.Boot), float64(2*time.Millisecond))
	b.after(list[0].Deadline.Sub(b.now.Boot))
	assert.Nil(t, granted(b), "no other program is let in")
	b.after(time.Second)
	b.after(time.Second)
	assert.Empty(t, member.AcrossOf(b.Member, resource))
	assert.Equal(t, journal.EndDeadline, lastEnd(t, b).Cause)
}

// The end is reported after the restart, and the next program is let in.
func TestAcross_ReportedAfterReboot_TokenFree(t *testing.T) {
	b, g := across(t)
	b.reboot(time.Millisecond, 0)
	b.step(member.Demand{Request: 2, Resource: resource})
	require.Nil(t, granted(b))
	b.step(member.Ended{Grant: g.Grant, Operated: true})
	for range 20 {
		if granted(b) != nil {
			return
		}
		b.after(time.Second)
	}
	assert.Fail(t, "no program is let in")
}

// A machine whose clock is wrong after its start never lengthens a grant, and one that comes back too late finds it ended.
func TestAcross_ClockWrongAfterReboot_NeverLonger(t *testing.T) {
	for _, wrong := range []time.Duration{-24 * time.Hour, -time.Millisecond, time.Hour} {
		b, _ := across(t)
		b.reboot(0, wrong)
		list := member.AcrossOf(b.Member, resource)
		if wrong > 0 {
			b.after(time.Second)
			assert.Empty(t, member.AcrossOf(b.Member, resource))
			continue
		}
		require.Len(t, list, 1)
		assert.LessOrEqual(t, list[0].Deadline.Sub(b.now.Boot), quick.OperationTime)
	}
}

// A grant of any other program ends with the boot.
func TestAcross_OtherGrant_EndsWithTheBoot(t *testing.T) {
	b := holder(t)
	b.step(member.Demand{Request: 1, Resource: resource})
	require.NotNil(t, granted(b))
	b.reboot(0, 0)
	b.after(time.Second)
	assert.Equal(t, journal.EndRestarted, lastEnd(t, b).Cause)
}

// acrossGate is a member with such a grant under a session at a gate, and the grant.
func acrossGate(t *testing.T) (*visitor, *effect.Grant) {
	v := visits(t, true)
	v.step(member.Demand{Request: 1, Resource: resource, Across: true})
	g := v.opens(last[effect.SignIn](v.box).Entry)
	require.NotNil(t, g)
	assert.EqualValues(t, 7, g.Session)
	return v, g
}

// a session at a gate ends with the connection, and the grant lasts to its deadline without one. What comes after it signs in anew.
func TestGateAcross_SessionLost_GrantLasts(t *testing.T) {
	for name, lose := range map[string]func(v *visitor){
		"unreached": func(v *visitor) { v.step(member.GateReachable{Resource: resource}) },
		"closed":    func(v *visitor) { v.says(1, gate.ClosedAnswer{Session: 7, Reason: gate.ByRestart, Confirmed: true}) },
		"lost":      func(v *visitor) { v.says(1, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			v, g := acrossGate(t)
			lose(v)
			assert.Nil(t, last[effect.Lose](v.box))
			require.Len(t, member.AcrossOf(v.Member, resource), 1)
			v.reboot(time.Second, 0)
			v.step(member.GateReachable{Resource: resource, Is: true})
			v.step(member.Demand{Request: 2, Resource: resource})
			assert.Nil(t, v.knocks(time.Second), "the grant is in force")
			list := member.AcrossOf(v.Member, resource)
			require.Len(t, list, 1)
			assert.Equal(t, g.Grant, list[0].Grant)
			v.step(member.Ended{Grant: g.Grant, Operated: true})
			in := v.knocks(5 * time.Second)
			require.NotNil(t, in)
			assert.Equal(t, g.Token, in.Token)
			v.says(in.Entry, gate.OpenAnswer{Session: 8, Until: v.in(time.Second), Token: in.Token, Hop: in.Hop})
			assert.EqualValues(t, 8, granted(v.box).Session)
		})
	}
}

// Where the machine does not restart, the session is signed out as any other.
func TestGateAcross_NoRestart_SignedOut(t *testing.T) {
	v, g := acrossGate(t)
	v.step(member.Ended{Grant: g.Grant})
	assert.NotNil(t, last[effect.SignOut](v.box))
	assert.Empty(t, member.AcrossOf(v.Member, resource))
}

// A program that waits for the gate waits for a session as any other.
func TestGateAcross_Unreached_DemandWaits(t *testing.T) {
	v := visits(t, false)
	v.step(member.Demand{Request: 1, Resource: resource, Across: true})
	assert.Nil(t, refusal(v.box))
	v.step(member.GateReachable{Resource: resource, Is: true})
	assert.NotNil(t, v.knocks(5*time.Second))
}

// A journal that does not outlive the restart cannot remember the grant.
func TestAcross_Volatile_Refused(t *testing.T) {
	a := newAuthority(t)
	b := a.open(a.issue(1, time.Hour), func(c *member.Config) { c.Found, c.Durable = true, false })
	b.step(member.Demand{Request: 1, Resource: resource, Across: true})
	assert.ErrorIs(t, refusal(b), member.ErrVolatile)
}
