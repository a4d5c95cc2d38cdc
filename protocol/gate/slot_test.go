package gate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/gate"
)

func TestSlot_Session_ThroughAllStates(t *testing.T) {
	b := newBench(t, plain)
	p := tokenOf(1, 1, 2).permit(1)
	list := b.gate.Step(b.reading(), gate.SignIn{Connection: 7, Permit: p, Configuration: 1, Length: time.Hour})
	require.Len(t, list, 2, "%v", list)
	assert.False(t, list[0].(gate.Persist).Sync, "OPEN need not wait for the disk")
	assert.Equal(t, uint64(101), list[0].(gate.Persist).Record.(*gate.OpeningRecord).Session)
	open := list[1].(gate.RunOpen)
	assert.Equal(t, uint64(101), open.Session)
	assert.Equal(t, b.now.Add(plain.MaxHold), open.Deadline, "an hour was asked for")
	assert.Equal(t, gate.Opening, b.gate.State(0))

	b.step(gate.HookEnded{Run: open.Run})
	assert.Equal(t, gate.OpenAnswer{Session: 101, Until: b.reading().Millis() + 20000, Token: p.Title.Token, Hop: 1}, b.said[7][0])
	b.step(gate.SignOut{Connection: 7})
	assert.Equal(t, gate.Closing, b.gate.State(0))
	assert.Empty(t, b.said, "close has not confirmed")
	b.hook(gate.Succeeded)
	assert.Equal(t, gate.ClosedAnswer{Session: 101, Reason: gate.BySignOut, Confirmed: true}, b.said[7][0])
	b.wait(plain.Settle - 1)
	assert.Equal(t, gate.Closing, b.gate.State(0))
	b.wait(1)
	assert.Equal(t, gate.Idle, b.gate.State(0))
	assert.Equal(t, &gate.ClosedRecord{Session: 101, Reason: gate.BySignOut}, b.journal[len(b.journal)-1])
}

func TestSlot_Deadline_Cut(t *testing.T) {
	b := newBench(t, plain)
	b.opened(7, tokenOf(1, 1).permit(0))
	b.wait(10*time.Second - 1)
	assert.Equal(t, gate.Open, b.gate.State(0))
	b.wait(1)
	assert.Equal(t, gate.Closing, b.gate.State(0))
}

func TestSlot_Kept_ForTheSuccessor(t *testing.T) {
	b := newBench(t, plain)
	c := tokenOf(1, 1, 2)
	b.opened(7, c.permit(0))
	b.signIn(8, tokenOf(2, 3).permit(0))
	b.step(gate.SignOut{Connection: 7})
	b.hook(gate.Succeeded)
	b.wait(plain.Settle)
	b.wait(plain.Keep - 1)
	assert.Equal(t, gate.Idle, b.gate.State(0), "it is kept")
	b.signIn(9, c.permit(1)) // the successor: both were never served, and 8 came first
	require.Equal(t, gate.Opening, b.gate.State(0))
	assert.Equal(t, memberID(3), b.opens[1].Title.Holder)
	assert.Equal(t, uint64(102), b.busy(9).Session)
	assert.Len(t, b.said[9], 1, "once is enough")
}

// A member is no successor of its own, whose token it has passed to another one and got back: else it would open again while the others are on their way.
func TestSlot_OwnSuccessor_KeptForOthers(t *testing.T) {
	b := newBench(t, plain)
	c := tokenOf(1, 1, 2, 1)
	b.opened(7, c.permit(0))
	b.step(gate.SignOut{Connection: 7})
	b.hook(gate.Succeeded)
	b.wait(plain.Settle)
	b.signIn(8, c.permit(2))
	assert.Equal(t, gate.Idle, b.gate.State(0), "it is kept")
	b.wait(plain.Keep - 1)
	b.signIn(9, tokenOf(2, 3).permit(0))
	b.wait(1)
	require.Equal(t, gate.Opening, b.gate.State(0))
	assert.Equal(t, memberID(3), b.opens[1].Title.Holder)
}

func TestSlot_NoSuccessor_OthersAfterAWhile(t *testing.T) {
	b := newBench(t, plain)
	b.opened(7, tokenOf(1, 1, 2).permit(0))
	b.step(gate.SignOut{Connection: 7})
	b.hook(gate.Succeeded)
	b.wait(plain.Settle)
	b.signIn(8, tokenOf(2, 3).permit(0))
	assert.Equal(t, b.reading().Millis()+2000, b.busy(8).Until)
	assert.Equal(t, b.now.Add(plain.Keep), b.gate.NextDeadline())
	b.wait(plain.Keep)
	assert.Equal(t, gate.Opening, b.gate.State(0))
}

func TestSlot_CloseFailsOrHangs_Stuck(t *testing.T) {
	for name, end := range map[string]func(*bench){
		"fails":     func(b *bench) { b.hook(gate.Failed) },
		"timed out": func(b *bench) { b.hook(gate.TimedOut) },
		"hangs":     func(b *bench) { b.wait(plain.CloseTimeout) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, plain)
			b.opened(7, tokenOf(1, 1).permit(0))
			b.signIn(8, tokenOf(2, 3).permit(0))
			b.step(gate.SignOut{Connection: 7})
			end(b)
			assert.Equal(t, gate.Stuck, b.gate.State(0))
			assert.Equal(t, []string{gate.AlarmStuck}, b.alarms)
			assert.False(t, b.said[7][0].(gate.ClosedAnswer).Confirmed)
			assert.True(t, b.busy(8).Stuck)
			b.wait(24 * time.Hour)
			b.hook(gate.Succeeded) // of the close that was given up
			b.signIn(9, tokenOf(3, 4).permit(0))
			assert.True(t, b.busy(9).Stuck)
			assert.Equal(t, gate.Stuck, b.gate.State(0))
			b.step(gate.Cleared{Slot: 0})
			assert.Len(t, b.closes, 4, "it closes again, beside the two of the start")
			b.hook(gate.Succeeded)
			b.wait(plain.Settle)
			assert.Equal(t, gate.Idle, b.gate.State(0))
		})
	}
}

// A close hook that takes long is an alarm before its time is over, once.
func TestSlot_SlowClose_AlarmOnce(t *testing.T) {
	s := plain
	s.CloseTimeout = time.Minute
	b := newBench(t, s)
	b.opened(7, tokenOf(1, 1).permit(0))
	b.step(gate.SignOut{Connection: 7})
	assert.Equal(t, b.now.Add(gate.SlowClose), b.gate.NextDeadline())
	b.wait(gate.SlowClose - 1)
	assert.Empty(t, b.alarms)
	b.wait(1)
	assert.Equal(t, []string{gate.AlarmSlowClose}, b.alarms)
	assert.Equal(t, gate.Closing, b.gate.State(0))
	assert.Equal(t, b.now.Add(time.Minute-gate.SlowClose), b.gate.NextDeadline())
	b.wait(gate.SlowClose)
	assert.Len(t, b.alarms, 1)
	b.hook(gate.Failed)
	require.Equal(t, []string{gate.AlarmSlowClose, gate.AlarmStuck}, b.alarms)
	b.step(gate.Cleared{Slot: 0})
	b.wait(gate.SlowClose)
	assert.Equal(t, gate.AlarmSlowClose, b.alarms[len(b.alarms)-1], "the hook has run again")
	b.hook(gate.Succeeded)
	b.wait(s.Settle)
	assert.Equal(t, gate.Idle, b.gate.State(0))
	assert.Len(t, b.alarms, 3)
}

// A hook that ends soon is none, nor is a pause of the machine.
func TestSlot_CloseInTimeOrPaused_NoAlarm(t *testing.T) {
	s := plain
	s.CloseTimeout = time.Minute
	b := newBench(t, s)
	b.opened(7, tokenOf(1, 1).permit(0))
	b.step(gate.SignOut{Connection: 7})
	b.wait(gate.SlowClose + time.Second)
	b.hook(gate.Succeeded)
	b.wait(gate.SlowClose)
	assert.Empty(t, b.alarms)
	require.Equal(t, gate.Idle, b.gate.State(0))
	b.wait(plain.Keep)
	b.opened(7, tokenOf(2, 2).permit(0))
	b.step(gate.SignOut{Connection: 7})
	b.wait(gate.SlowClose + time.Second)
	assert.Empty(t, b.alarms)
	b.wait(gate.SlowClose + time.Second)
	assert.Equal(t, []string{gate.AlarmSlowClose}, b.alarms, "a gate that is always late says it all the same")
}

func TestSlot_OpenHookFails_Closes(t *testing.T) {
	for _, r := range []gate.Result{gate.Failed, gate.TimedOut} {
		b := newBench(t, plain)
		b.signIn(7, tokenOf(1, 1).permit(0))
		b.hook(r)
		assert.Equal(t, gate.Closing, b.gate.State(0))
		assert.Equal(t, []string{gate.AlarmOpenFailed}, b.alarms)
		b.step(gate.HookEnded{Run: b.opens[0].Run}) // says nothing any more
		assert.Equal(t, gate.Closing, b.gate.State(0))
		b.hook(gate.Succeeded)
		assert.Equal(t, gate.ClosedAnswer{Session: 101, Reason: gate.ByOpenHook, Confirmed: true}, b.said[7][0])
	}
}

func TestSlot_OpenHookHangs_Closes(t *testing.T) {
	b := newBench(t, plain)
	b.signIn(7, tokenOf(1, 1).permit(0))
	b.wait(plain.OpenTimeout)
	assert.Equal(t, gate.Closing, b.gate.State(0))
}

// A pause of the machine is no hook that hangs: a hook that has ended counts, however late the gate hears of it.
func TestSlot_PauseOverTheTimeout_HookCounts(t *testing.T) {
	b := newBench(t, plain)
	b.signIn(7, tokenOf(1, 1).permit(0))
	b.now = b.now.Add(plain.OpenTimeout + 1)
	b.hook(gate.Succeeded)
	require.Equal(t, gate.Open, b.gate.State(0))
	b.step(gate.SignOut{Connection: 7})
	b.now = b.now.Add(plain.CloseTimeout + 1)
	b.hook(gate.Succeeded)
	assert.Equal(t, gate.Closing, b.gate.State(0))
	assert.True(t, b.said[7][0].(gate.ClosedAnswer).Confirmed)
	assert.Empty(t, b.alarms)
}

// After a pause the driver may hand over a Tick before it hears of the hook.
func TestSlot_PauseAndTick_HookHasItsTimeAgain(t *testing.T) {
	b := newBench(t, plain)
	b.signIn(7, tokenOf(1, 1).permit(0))
	b.wait(plain.OpenTimeout + time.Second)
	require.Equal(t, gate.Opening, b.gate.State(0))
	b.hook(gate.Succeeded)
	require.Equal(t, gate.Open, b.gate.State(0))
	b.step(gate.SignOut{Connection: 7})
	b.wait(plain.CloseTimeout + time.Second)
	require.Equal(t, gate.Closing, b.gate.State(0))
	assert.Equal(t, b.now.Add(plain.CloseTimeout), b.gate.NextDeadline())
	b.hook(gate.Succeeded)
	assert.True(t, b.said[7][0].(gate.ClosedAnswer).Confirmed)
	assert.Empty(t, b.alarms)
}

func TestSlot_TwoPauses_Stuck(t *testing.T) {
	b := newBench(t, plain)
	b.opened(7, tokenOf(1, 1).permit(0))
	b.step(gate.SignOut{Connection: 7})
	b.wait(plain.CloseTimeout + time.Hour)
	b.wait(plain.CloseTimeout + time.Hour)
	assert.Equal(t, gate.Stuck, b.gate.State(0))
}

func TestSlot_Stuck_MemberOpensAtAnother(t *testing.T) {
	b := newBench(t, plain)
	b.opened(7, tokenOf(1, 1).permit(0))
	b.step(gate.SignIn{Connection: 8, Slot: 1, Permit: tokenOf(2, 1).permit(0), Configuration: 1, Length: 10 * time.Second})
	b.step(gate.SignOut{Connection: 7})
	b.hook(gate.Failed)
	require.Equal(t, gate.Stuck, b.gate.State(0))
	assert.Equal(t, gate.Opening, b.gate.State(1))
	b.hook(gate.Succeeded)
	b.step(gate.Cleared{Slot: 0}) // beside the other session
	b.hook(gate.Succeeded)
	b.wait(plain.Settle)
	assert.Equal(t, gate.Idle, b.gate.State(0))
	assert.Equal(t, gate.Open, b.gate.State(1))
}

func TestSlot_DeadlineWhileOpening_Cut(t *testing.T) {
	for name, end := range map[string]func(*bench){
		"hook runs":          func(b *bench) { b.wait(time.Second) },
		"hook ends too late": func(b *bench) { b.now = b.now.Add(time.Second); b.hook(gate.Succeeded) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, plain)
			b.step(gate.SignIn{Connection: 7, Permit: tokenOf(1, 1).permit(0), Configuration: 1, Length: time.Second})
			assert.Equal(t, b.now.Add(time.Second), b.gate.NextDeadline(), "before the hook's time is over")
			end(b)
			require.Equal(t, gate.Closing, b.gate.State(0))
			assert.Empty(t, b.said, "no OPEN")
			assert.Empty(t, b.alarms)
			b.hook(gate.Succeeded)
			assert.Equal(t, gate.ClosedAnswer{Session: 101, Reason: gate.ByDeadline, Confirmed: true}, b.said[7][0])
		})
	}
}

func TestSlot_ConnectionLost_Closes(t *testing.T) {
	b := newBench(t, plain)
	b.opened(7, tokenOf(1, 1).permit(0))
	b.signIn(8, tokenOf(2, 3).permit(0))
	b.step(gate.Lost{Connection: 8})
	b.step(gate.Lost{Connection: 7})
	assert.Equal(t, gate.Closing, b.gate.State(0))
	b.hook(gate.Succeeded)
	b.wait(plain.Settle + plain.Keep)
	b.wait(plain.Keep)
	assert.Equal(t, gate.Idle, b.gate.State(0), "nobody waits any more")
}
