package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy/wandering"
)

// Programs that ask for a resource.

func holder(t *testing.T) *box {
	a := newAuthority(t)
	return a.open(a.issue(1, 24*time.Hour), func(c *member.Config) { c.Found = true })
}

func TestGrant_Started_DurableBefore(t *testing.T) {
	b := holder(t)
	b.step(member.Demand{Request: 7, Resource: resource, MaxHold: 300 * time.Millisecond, Asker: &journal.Asker{User: 7}})
	var record *journal.Started
	synced := false
	for _, e := range b.effects {
		switch e := e.(type) {
		case effect.Persist:
			if r, ok := e.Record.(*journal.Started); ok {
				record, synced = r, e.Sync
			}
		case effect.Grant:
			require.NotNil(t, record)
			assert.True(t, synced)
			assert.EqualValues(t, 7, e.Request)
			assert.Equal(t, record.Grant, e.Grant)
			assert.Equal(t, 300*time.Millisecond, e.Length)
			assert.Equal(t, b.now.Boot.Add(e.Length), e.Deadline)
			assert.Greater(t, record.Deadline, uint64(e.Deadline), "it counts as running until the kill is over")
			assert.Equal(t, []string{"boot", "here"}, []string{record.Boot, record.Machine})
			assert.Equal(t, &journal.Asker{User: 7}, record.Asker)
			assert.Equal(t, record.Asker, b.Status().Slots[0].Asker)
			return
		}
	}
	require.Fail(t, "no grant")
}

func TestGrant_MaxHold_NotExceeded(t *testing.T) {
	b := holder(t)
	b.step(member.Demand{Request: 1, Resource: resource, MaxHold: time.Hour})
	require.NotNil(t, granted(b))
	assert.Equal(t, quick.OperationTime, granted(b).Length, "max_hold")
}

func TestDemands_Many_ServedInOrder(t *testing.T) {
	b := holder(t)
	for n := uint64(1); n <= 3; n++ {
		b.step(member.Demand{Request: n, Resource: resource})
		if n == 1 {
			require.NotNil(t, granted(b))
			continue
		}
		assert.Nil(t, granted(b), "one at a time")
	}
	assert.Equal(t, 2, b.Status().Slots[0].Waiting)
	b.step(member.Withdraw{Request: 2})
	assert.Equal(t, 1, b.Status().Slots[0].Waiting)
	b.step(member.Withdraw{Request: 2})
	b.step(member.Withdraw{Request: 1})
	assert.Equal(t, 1, b.Status().Slots[0].Waiting, "what is gone or granted cannot be withdrawn")
}

func TestDemand_Impossible_Refused(t *testing.T) {
	b := holder(t)
	b.step(member.Demand{Request: 1, Resource: "unknown"})
	assert.ErrorIs(t, refusal(b), member.ErrResource)
	b.step(member.Demand{Request: 2, Resource: resource})
	for n := range uint64(member.MaxWaiters) {
		b.step(member.Demand{Request: n + 3, Resource: resource})
		require.NoError(t, refusal(b))
	}
	b.step(member.Demand{Request: 1 << 20, Resource: resource})
	assert.ErrorIs(t, refusal(b), member.ErrWaiters)
	b.step(member.Shutdown{})
	assert.ErrorIs(t, refusal(b), member.ErrStopping, "those that wait")
	b.step(member.Demand{Request: 1 << 21, Resource: resource})
	assert.ErrorIs(t, refusal(b), member.ErrStopping)
}

func TestDemand_NotDue_Waits(t *testing.T) {
	b := holder(t)
	b.step(member.Demand{Request: 1, Resource: resource})
	b.step(member.Ended{Grant: granted(b).Grant, Operated: true})
	b.after(100 * time.Millisecond)
	b.step(member.Demand{Request: 2, Resource: resource, OncePer: time.Hour})
	for i := 0; refusal(b) == nil && i < 100; i++ {
		b.after(100 * time.Millisecond)
	}
	assert.ErrorIs(t, refusal(b), member.ErrNotDue)
	b.after(2 * time.Hour)
	b.step(member.Demand{Request: 3, Resource: resource, OncePer: time.Hour})
	for i := 0; granted(b) == nil && i < 100; i++ {
		require.NoError(t, refusal(b))
		b.after(100 * time.Millisecond)
	}
	assert.NotNil(t, granted(b))
}

// answered lets time pass until the last demand is met or refused.
func answered(b *box) (met bool) {
	for i := 0; i < 100 && granted(b) == nil && refusal(b) == nil; i++ {
		b.after(100 * time.Millisecond)
	}
	return granted(b) != nil
}

func TestDemand_ClockSetBack_NotDelayed(t *testing.T) {
	b := holder(t)
	b.step(member.Demand{Request: 1, Resource: resource})
	b.step(member.Ended{Grant: granted(b).Grant, Operated: true})
	b.now.Wall = b.now.Wall.Add(-20 * time.Minute)
	b.step(member.Demand{Request: 2, Resource: resource, OncePer: time.Minute})
	require.False(t, answered(b))
	assert.ErrorIs(t, refusal(b), member.ErrNotDue)
	b.after(time.Minute)
	b.step(member.Demand{Request: 3, Resource: resource, OncePer: time.Minute})
	require.True(t, answered(b), "what the future says does not count")
	b.step(member.Ended{Grant: granted(b).Grant, Operated: true})
	b.now.Wall = b.now.Wall.Add(-20 * time.Minute)
	b.step(member.Demand{Request: 4, Resource: resource})
	require.True(t, answered(b), "without a limit nothing counts")
}

// TestDemand_WithinItsOwnGrant_Refused: it would wait for its own end. What is
// held of another resource, at another member or no more does not matter.
func TestDemand_WithinItsOwnGrant_Refused(t *testing.T) {
	b := holder(t)
	b.step(member.Demand{Request: 1, Resource: resource, Held: []ident.Grant{{9}}})
	outer := granted(b).Grant
	b.step(member.Demand{Request: 2, Resource: resource, Held: []ident.Grant{{9}, outer}})
	require.False(t, answered(b))
	assert.ErrorIs(t, refusal(b), member.ErrHeld)
	b.step(member.Demand{Request: 3, Resource: resource, Held: []ident.Grant{{9}}})
	assert.Nil(t, refusal(b), "it waits")
	b.step(member.Withdraw{Request: 3})
	b.step(member.Ended{Grant: outer, Operated: true})
	b.step(member.Demand{Request: 4, Resource: resource, Held: []ident.Grant{outer}})
	b.after(time.Minute)
	assert.Nil(t, refusal(b))
}

func TestEnded_UnknownGrant_Ignored(t *testing.T) {
	b := holder(t)
	b.step(member.Ended{Operated: true})
	assert.Empty(t, b.effects)
}

func TestGrant_NotStarted_NoOperation(t *testing.T) {
	b := holder(t)
	b.step(member.Demand{Request: 1, Resource: resource})
	b.step(member.Ended{Grant: granted(b).Grant})
	assert.Zero(t, b.Status().Slots[0].LastOperation)
	assert.False(t, b.Status().Slots[0].Executing)
}

func TestGrant_Expired_Ends(t *testing.T) {
	b := holder(t)
	b.step(member.Demand{Request: 1, Resource: resource})
	require.LessOrEqual(t, b.NextDeadline().Sub(b.now.Boot), quick.OperationTime+time.Second)
	b.after(quick.OperationTime)
	assert.True(t, b.Status().Slots[0].Executing, "its program is being killed")
	b.after(time.Second)
	assert.False(t, b.Status().Slots[0].Executing)
	ended := 0
	for _, s := range b.journal {
		if _, ok := s.Record.(*journal.Ended); ok {
			ended++
		}
	}
	assert.Equal(t, 1, ended)
}

// A machine that slept over a deadline wakes up together with whoever kills the
// program, which takes as long as ever.
func TestGrant_ExpiredAfterSleep_EndsLater(t *testing.T) {
	b := holder(t)
	b.step(member.Demand{Request: 1, Resource: resource})
	b.after(time.Hour)
	assert.True(t, b.Status().Slots[0].Executing)
	margin := b.NextDeadline().Sub(b.now.Boot)
	assert.Positive(t, margin)
	assert.LessOrEqual(t, margin, time.Second)
	b.after(margin)
	assert.False(t, b.Status().Slots[0].Executing)
}

// The only peer is connected and mute. A token that walks waits for it, or for anybody;
// demand at its holder does not.
func TestDemand_MutePeer_Met(t *testing.T) {
	for _, preset := range []string{wandering.Light, wandering.Fair, wandering.Paper} {
		for _, restarted := range []bool{false, true} {
			params := quick
			if params.Preset = preset; preset != wandering.Paper {
				params.RegenerationMean = 0
			}
			a := newAuthorityOf(t, params)
			self, mute := a.issue(1, 24*time.Hour), a.issue(2, 24*time.Hour)
			b := a.open(self, func(c *member.Config) { c.Found = true })
			b.meet(mute)
			if restarted {
				b.restart()
				b.meet(mute)
			}
			for range 200 {
				b.after(100 * time.Millisecond)
			}
			b.step(member.Demand{Request: 7, Resource: resource})
			met := granted(b) != nil
			for waited := 0; waited < 200 && !met; waited++ {
				b.after(100 * time.Millisecond)
				met = granted(b) != nil
			}
			assert.True(t, met, "%s, restarted: %v", preset, restarted)
		}
	}
}
