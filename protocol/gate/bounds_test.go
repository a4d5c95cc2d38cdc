package gate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/gate"
)

// maxMembers is how many members the gate remembers at once.
const maxMembers = 4096

// The members that cause fetches are bounded, however many come at once. Those that have had their pause make room.
func TestViews_ManyMembers_FetchesBounded(t *testing.T) {
	b := newBench(t, plain)
	knock := func(m int) gate.RefuseAnswer {
		b.take(b.gate.Step(b.reading(), gate.SignIn{Connection: 7, Permit: tokenOf(1, m).permit(0), Configuration: 2, Length: time.Second}))
		return b.said[7][0].(gate.RefuseAnswer)
	}
	knock(0)
	b.wait(time.Second)
	for m := 1; m < maxMembers; m++ {
		assert.Zero(t, knock(m).NotBefore)
	}
	require.Len(t, b.fetched, maxMembers)
	assert.NotZero(t, knock(maxMembers).NotBefore, "one too many")
	assert.Len(t, b.fetched, maxMembers)
	b.wait(9 * time.Second) // the pause of the first one is over at this moment
	assert.Zero(t, knock(maxMembers).NotBefore)
	assert.NotZero(t, knock(maxMembers+1).NotBefore, "the others pause for a second more")
	assert.NotZero(t, knock(1).NotBefore, "and nothing of them is forgotten")
	assert.Len(t, b.fetched, maxMembers+1)
}

// Revocations of exactly the permitted age are good.
func TestRevocations_OfTheAgeItself_Good(t *testing.T) {
	s := plain
	s.RevocationMaxAge = time.Minute
	b := newBench(t, s)
	b.step(gate.Revocations{Fresh: true})
	b.wait(time.Minute)
	b.signIn(7, tokenOf(1, 1).permit(0))
	assert.Equal(t, gate.Opening, b.gate.State(0))
}

// Two doubts of the clock are within ten minutes of each other if they are ten minutes apart, and not if it is longer.
func TestSignIn_FutureTokensTenMinutesApart_Alarm(t *testing.T) {
	for more, alarms := range map[time.Duration]int{0: 1, 1: 0} {
		b := newBench(t, plain)
		for m := 1; m <= 2; m++ {
			p := tokenOf(byte(m), m).permit(0)
			p.Born = b.allowed() + 1
			b.signIn(7, p)
			require.Equal(t, gate.Implausible, b.refused(7))
			b.wait(10*time.Minute + more)
		}
		assert.Len(t, b.alarms, alarms)
	}
}

// The first token of the future is no second one, also on a machine that has just started.
func TestSignIn_FirstFutureToken_NoAlarm(t *testing.T) {
	b := newBench(t, plain)
	b.restart(b.journal)
	require.Less(t, time.Duration(b.now), 10*time.Minute)
	p := tokenOf(1, 1).permit(0)
	p.Born = b.allowed() + 1
	b.signIn(7, p)
	assert.Empty(t, b.alarms)
}

// Of members with several tokens the one that has come with its second one last makes room, wherever that is in the queue.
func TestWaiters_SeveralSeconds_LatestMakesRoom(t *testing.T) {
	for name, order := range map[string][]int{"behind": {1, 2, 1, 2, 3, 4, 5, 6}, "before": {2, 1, 3, 2, 4, 1, 5, 6}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, plain)
			b.opened(7, tokenOf(100, 50).permit(0))
			latest, seen := 0, map[int]bool{}
			for n, m := range order {
				b.signIn(gate.Connection(20+n), tokenOf(byte(n), 30+n, m).permit(1))
				if seen[m] {
					latest = n
				}
				seen[m] = true
			}
			b.signIn(40, tokenOf(60, 7).permit(0))
			assert.Equal(t, gate.Full, b.refused(gate.Connection(20+latest)))
			b.busy(40)
		})
	}
}

// A sign-in that takes the place of an earlier one is a later one, though it waits before others.
func TestWaiters_ReplacedSecond_IsTheLatest(t *testing.T) {
	b := newBench(t, plain)
	b.opened(7, tokenOf(100, 50).permit(0))
	for n, m := range []int{1, 2, 1, 2, 3, 4, 5, 6} {
		b.signIn(gate.Connection(20+n), tokenOf(byte(n), 30+n, m).permit(1))
	}
	b.signIn(30, tokenOf(0, 30, 1).permit(1)) // again with the first token: the other one of member 1 is its earlier one now
	require.Equal(t, gate.Replaced, b.refused(20))
	b.signIn(40, tokenOf(60, 7).permit(0))
	assert.Equal(t, gate.Full, b.refused(30))
}

// The member that was served last makes room, wherever it is in the queue, and of several that were never served the latest.
func TestWaiters_LastServed_WhereverItWaits(t *testing.T) {
	for name, at := range map[string]int{"first": 0, "in the middle": 3, "nobody": -1} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, plain)
			b.opened(6, tokenOf(90, 51).permit(0))
			b.over(6)
			b.opened(7, tokenOf(100, 50).permit(0))
			for n := range gate.MaxWaiters {
				m := 10 + n
				if n == at {
					m = 51
				}
				b.signIn(gate.Connection(20+n), tokenOf(byte(n), m).permit(0))
			}
			b.signIn(40, tokenOf(60, 30).permit(0))
			if at < 0 {
				assert.Equal(t, gate.Full, b.refused(40))
				return
			}
			assert.Equal(t, gate.Full, b.refused(gate.Connection(20+at)))
			b.busy(40)
		})
	}
}

// A former holder of a token and the next one wait beside each other.
func TestWaiters_OneTokenTwoMembers_BothWait(t *testing.T) {
	b := newBench(t, plain)
	b.opened(7, tokenOf(100, 50).permit(0))
	c := tokenOf(1, 1, 2)
	b.signIn(8, c.permit(0))
	b.signIn(9, c.permit(1))
	assert.Empty(t, b.said[8])
	b.busy(9)
}

// The end of no hook ends nothing.
func TestSlot_HookOfNoNumber_Nothing(t *testing.T) {
	b := newBench(t, plain)
	b.opened(7, tokenOf(1, 1).permit(0))
	b.step(gate.SignOut{Connection: 7})
	b.hook(gate.Succeeded)
	b.step(gate.HookEnded{})
	assert.Empty(t, b.said, "CLOSED was said")
	b.wait(plain.Settle)
	assert.Equal(t, gate.Idle, b.gate.State(0))
}
