package node_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/wandering"
)

// quick is a resource whose token moves as fast as it can, to whoever wants it or
// not, and is not made anew within any test. A grant outlives its program's death for max_hold.
var quick = group.Resource{Name: resource, MaxHold: 3 * time.Second, Params: policy.Params{
	Preset: wandering.Paper, OperationTime: 10 * time.Millisecond, MembersMax: 3, SkipDelay: time.Millisecond,
	MinInterval: time.Millisecond, RegenerationMean: policy.MaxInterval,
}}

// TestToken_HolderKilled_Survives kills one of three durable members, each a process of
// its own, at every point of a handoff, together with what it had not synced,
// and starts it again: the same token goes on, and was never in two places.
func TestToken_HolderKilled_Survives(t *testing.T) {
	for _, c := range []struct {
		die  point
		idle bool                                       // the victim wants no operation
		left func(*testing.T, *crew, *hand, *chronicle) // what the dead have left behind
	}{
		{operating, false, leftExecuting},
		{beforeSent, false, leftHolding},
		{afterSent, false, leftSentOnly},
		{atReceipt, false, leftSentAndTaken},
		{beforeHeld, true, leftUntaken},
		{afterHeld, true, leftTaken},
	} {
		t.Run(string(c.die), func(t *testing.T) {
			t.Parallel()
			crew := newCrew(t, newAuthority(t, quick), 3)
			victim := crew.members[1]
			victim.Idle = c.idle
			for _, h := range crew.members {
				die := nowhere
				if h == victim {
					die = c.die
				}
				crew.start(h, die, 2)
			}
			crew.awaitDeath(victim)
			found := crew.journals()
			id := found.theToken(t)
			killed := found.last(id)
			c.left(t, crew, victim, found)

			crew.start(victim, nowhere, 0)
			crew.goesOn(killed + 1)
			crew.killAll()
			after := crew.journals()
			require.Equal(t, id, after.theToken(t))
			after.requireOne(t, id)
		})
	}
}

// at is the victim's custody of the token with the highest hop.
func (c *chronicle) at(t *testing.T, who string) (hop uint64, last *custody) {
	t.Helper()
	id := c.theToken(t)
	for h := range c.last(id) + 1 {
		if own := c.own(who, id, h); own != nil {
			hop, last = h, own
		}
	}
	require.NotNil(t, last, "%s never held the token", who)
	return hop, last
}

func leftExecuting(t *testing.T, c *crew, victim *hand, found *chronicle) {
	_, own := found.at(t, victim.name)
	require.Zero(t, own.to, "the victim holds the token")
	require.Len(t, found.starts[victim.name], 1, "and its operation has not ended")
}

func leftHolding(t *testing.T, c *crew, victim *hand, found *chronicle) {
	_, own := found.at(t, victim.name)
	require.Zero(t, own.to, "SENT was not synced, so it is not there")
}

func leftSentOnly(t *testing.T, c *crew, victim *hand, found *chronicle) {
	hop, own := found.at(t, victim.name)
	require.NotZero(t, own.to, "SENT is there")
	require.Equal(t, hop, found.last(found.theToken(t)), "and nobody has received a TRANSFER")
}

func leftSentAndTaken(t *testing.T, c *crew, victim *hand, found *chronicle) {
	hop, own := found.at(t, victim.name)
	require.NotZero(t, own.to)
	require.False(t, own.answered, "no RECEIPT was handled")
	require.NotNil(t, found.own(own.next, found.theToken(t), hop+1), "the TRANSFER has arrived")
}

func leftUntaken(t *testing.T, c *crew, victim *hand, found *chronicle) {
	last := found.tokens[found.theToken(t)][found.last(found.theToken(t))][0]
	require.NotZero(t, last.to)
	require.Equal(t, victim.name, last.next, "the TRANSFER went to the victim, whose HELD is not there")
}

func leftTaken(t *testing.T, c *crew, victim *hand, found *chronicle) {
	hop, own := found.at(t, victim.name)
	require.Zero(t, own.to, "HELD is there")
	id := found.theToken(t)
	require.Equal(t, hop, found.last(id))
	require.False(t, found.tokens[id][hop-1][0].answered, "no RECEIPT has left")
}
