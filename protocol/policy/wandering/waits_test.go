package wandering

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// a demand of a member, and what it answers about itself.
var (
	wantsIt  = body{kind: demand, what: willing}
	wants9   = body{kind: answer, member: ident.Member{9}, what: willing, age: 3_600_000}
	wants9No = body{kind: answer, member: ident.Member{9}, what: unwilling, age: 3_600_000}
)

// running is member 4 of 13, a timekeeper of all others, under whose token the operation has begun at 2 s; nobody else
// wants the token. The gathering time is over at 2.5 s.
func running(t *testing.T) *walker {
	w := walkerAmong(t, policy.MaxTimekeepers+1, 4, Fair, table1)
	w.Step(second, policy.Event{Kind: policy.DemandChanged, Demand: true}, nil)
	require.Len(t, kinds(w.Step(2*second, arrival(9, 1000), nil), policy.Run), 1)
	w.Step(2*second+second/2, policy.Event{Kind: policy.Timer}, nil)
	return w
}

var operationEnds = policy.Event{Kind: policy.OperationEnded, Operated: true, Token: policy.Token{ID: ident.Token{9}}}

// answersOf are those of all timekeepers that were asked about member 9, and its own.
func answersOf(w *walker, asked []policy.Action, own body) (all []policy.Action) {
	for keeper := byte(1); keeper <= 12; keeper++ {
		if keeper != 9 && len(told(asked, keeper, inquire)) == 1 {
			all = append(all, detached(w.Step(w.Now, said(keeper, body{kind: answer, member: ident.Member{9}, what: unserved}), nil))...)
		}
	}
	return append(all, detached(w.Step(w.Now, said(9, own), nil))...)
}

// P-42, 7: a holder asks a member at once whose turns it keeps and that begins to wait while the operation runs, so
// that the token goes there at its end, without a look.
func TestWaits_WhileOperationRuns_PassedAtEnd(t *testing.T) {
	for name, c := range map[string]struct {
		members int
		begins  clock.Instant
		asked   int
	}{
		"while it gathers":                {policy.MaxTimekeepers + 1, 2*second + second/4, 1},
		"later":                           {policy.MaxTimekeepers + 1, 2*second + second*3/4, 1},
		"others may have waited longer":   {policy.MaxTimekeepers + 2, 3*second - 1, 0},
		"those are known where they have": {policy.MaxTimekeepers + 2, 3 * second, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := walkerAmong(t, c.members, 4, Fair, table1)
			w.Step(second, policy.Event{Kind: policy.DemandChanged, Demand: true}, nil)
			w.Step(2*second, arrival(9, 1000), nil)
			asked := detached(w.Step(c.begins, said(9, wantsIt), nil))
			asked = append(asked, detached(w.Step(max(c.begins, 2*second+second/2), policy.Event{Kind: policy.Timer}, nil))...)
			require.Len(t, told(asked, 9, inquire), c.asked)
			if c.asked == 0 {
				return
			}
			require.Len(t, kinds(answersOf(w, asked, wants9), policy.Prepare), 1)
			passed := kinds(w.Step(6*second, operationEnds, nil), policy.Pass)
			require.Len(t, passed, 1)
			assert.Equal(t, ident.Member{9}, passed[0].To)
		})
	}
}

// P-42, 7: a member that was asked in vain may begin to want the token before the next look. It is asked again when it says
// so, after pauses that double; and once more at the end of the operation.
func TestWaits_AskedInVain_AskedAgain(t *testing.T) {
	w := running(t)
	ask := func(at clock.Instant, e policy.Event) int {
		asked := detached(w.Step(at, e, nil))
		answersOf(w, asked, wants9No)
		return len(told(asked, 9, inquire))
	}
	require.Equal(t, 1, ask(3*second, said(9, wantsIt)))
	require.Equal(t, 1, ask(3*second+1, said(9, wantsIt)), "it has changed its mind")
	n := 0
	for at := 3*second + 2; at < 13*second; at += second / 100 {
		n += ask(at, said(9, wantsIt))
	}
	assert.Equal(t, 4, n, "after 0.5, 1, 2 and 4 s") // and then after 8
	require.Equal(t, 0, ask(w.fair.heeded+1, said(9, wantsIt)), "too soon")
	assert.Equal(t, 1, ask(w.fair.heeded+2, operationEnds), "but not at the end of the operation")
}

// Whoever says that it waits does not keep another one waiting that is asked, and comes after those that have waited longer.
func TestWaits_AnotherIsChosen_ComesLater(t *testing.T) {
	w := running(t)
	asked := detached(w.Step(3*second, said(9, wantsIt), nil))
	require.Len(t, told(asked, 9, inquire), 1)
	assert.Empty(t, kinds(w.Step(3*second+1, said(8, wantsIt), nil), policy.Tell))
	again := detached(w.Step(3*second+2, said(9, wants9No), nil))
	assert.Len(t, told(again, 8, inquire), 1, "the other one is asked next")
}

// P-41, 1: a member that has had the token since it told its timekeepers last tells them at once. One that wants it
// and gives up, over and over, tells them once in a gathering time.
func TestAnnouncement_TurnBetween_AtOnce(t *testing.T) {
	w := walkerAt(t, 20, Fair, table1)
	demands := func(at clock.Instant) (n int) {
		for _, wants := range []bool{false, true} {
			actions := w.Step(at, policy.Event{Kind: policy.DemandChanged, Demand: wants}, nil)
			if wants && w.Deadline() <= at {
				actions = w.Step(at, policy.Event{Kind: policy.Timer}, nil)
			}
			for keeper := byte(1); keeper <= 12; keeper++ {
				for _, m := range told(actions, keeper, demand) {
					if m.what == willing {
						n++
					}
				}
			}
			if !wants { // and that is what the timekeepers are told when they ask
				w.Step(at, said(1, body{kind: inquire, member: w.self}), nil)
			}
		}
		return n
	}
	require.Equal(t, 12, demands(10*second))
	require.Equal(t, 0, demands(10*second+second/10), "it has given up, and waits again")
	w.Step(10*second+second/5, arrival(9, 1000), nil)
	w.Step(10*second+second/5, operationEnds, nil)
	w.pass(ident.Member{3})
	require.Equal(t, 12, demands(10*second+second*3/10), "it has had the token")
}

// servedNow is a look by which member 10 says that another one was served just now.
func servedNow(m byte) policy.Event {
	return said(10, body{kind: look, member: ident.Member{m}, older: nothingOlder})
}

// Those that were asked in vain are not asked again because another member says that it waits: in turns, three would keep the token
// from everybody else for good.
func TestWaits_AnotherDemands_RefusedStayRefused(t *testing.T) {
	w := running(t)
	answersOf(w, detached(w.Step(3*second, said(9, wantsIt), nil)), wants9No)
	w.Step(3*second+1, servedNow(7), nil)
	for at := 4 * second; at < 6*second; at += second / 10 {
		asked := detached(w.Step(at, said(7, wantsIt), nil))
		require.Empty(t, told(asked, 9, inquire))
		require.Empty(t, told(asked, 7, inquire), "it is not due")
	}
}

// A member that is not due when it says that it waits does not have the token reserved: the operation may end earlier than
// others become due.
func TestWaits_NotDue_AskedAtTheEndOnly(t *testing.T) {
	p := table1
	p.MinInterval = 3 * time.Second
	w := walkerAmong(t, policy.MaxTimekeepers+1, 4, Fair, p)
	w.Step(second, policy.Event{Kind: policy.DemandChanged, Demand: true}, nil)
	w.Step(2*second, arrival(9, 1000), nil)
	w.Step(2*second+second/2, policy.Event{Kind: policy.Timer}, nil)
	w.Step(2*second+second/2, servedNow(9), nil)
	require.Empty(t, told(detached(w.Step(3*second, said(9, wantsIt), nil)), 9, inquire))
	require.Empty(t, told(detached(w.Step(4*second, said(8, wantsIt), nil)), 9, inquire))
	require.NotEqual(t, ident.Member{9}, w.fair.choice.member)
}

// Who says again and again in vain that it waits does not put off the look by which others are found.
func TestWaits_InVain_LookInTime(t *testing.T) {
	w := running(t)
	w.Step(3*second, policy.Event{Kind: policy.DemandChanged, Demand: false}, nil)
	w.Step(6*second, operationEnds, nil)
	due := w.fair.looks
	require.Equal(t, 6*second+clock.Instant(readPauseLeast), due)
	for _, at := range []clock.Instant{6*second + 1, due - second/100} {
		answersOf(w, detached(w.Step(at, said(9, wantsIt), nil)), wants9No)
	}
	assert.LessOrEqual(t, w.fair.looks, due)
}

// A member that does not answer is not asked anew at the end of each operation: the holder would wait for it each time.
func TestEnds_SilentMember_NotAskedAgain(t *testing.T) {
	w := running(t)
	require.Len(t, told(detached(w.Step(3*second, said(9, wantsIt), nil)), 9, inquire), 1)
	for range probes { // it does not answer
		w.Step(w.Deadline(), policy.Event{Kind: policy.Timer}, nil)
	}
	require.Contains(t, w.fair.silent, ident.Member{9})
	assert.Empty(t, told(detached(w.Step(6*second, operationEnds, nil)), 9, inquire))
}
