package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/wire"
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

// A session at a gate ends with the connection. A gate may also come while the program waits.
func TestAcross_Gate_Refused(t *testing.T) {
	v := visits(t, true)
	v.step(member.Demand{Request: 1, Resource: resource, Across: true})
	assert.ErrorIs(t, refusal(v.box), member.ErrGate)
	assert.Nil(t, said[*wire.Offer](v.box))
}

// A journal that does not outlive the restart cannot remember the grant.
func TestAcross_Volatile_Refused(t *testing.T) {
	a := newAuthority(t)
	b := a.open(a.issue(1, time.Hour), func(c *member.Config) { c.Found, c.Durable = true, false })
	b.step(member.Demand{Request: 1, Resource: resource, Across: true})
	assert.ErrorIs(t, refusal(b), member.ErrVolatile)
}
