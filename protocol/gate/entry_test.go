package gate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/ident"
)

func TestSignIn_Successor_CutsItsPredecessor(t *testing.T) {
	for name, c := range map[string]*chain{"next": tokenOf(1, 1, 2), "next but one": tokenOf(1, 1, 3, 2)} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, plain)
			b.opened(7, c.permit(0))
			b.signIn(8, c.permit(len(c.links)-1))
			assert.Equal(t, gate.Closing, b.gate.State(0))
			b.hook(gate.Succeeded)
			assert.Equal(t, gate.BySuccessor, b.said[7][0].(gate.ClosedAnswer).Reason)
			b.wait(plain.Settle)
			assert.Equal(t, gate.Opening, b.gate.State(0), "it need not wait")
		})
	}
}

func TestSignIn_NotTheSuccessor_Busy(t *testing.T) {
	c := tokenOf(1, 1, 2, 3, 4)
	title := c.links[0].title
	invented := gate.Permit{
		Title:     gate.Title{Token: title.Token, Hop: 900, Holder: memberID(5), Hash: ident.Hash{9}},
		Generator: c.generator, Born: c.born,
	}
	byAnother := invented
	byAnother.Moves = []gate.Move{{By: memberID(6), Title: title.Hash}}
	declined := invented
	declined.Moves = []gate.Move{{By: title.Holder, Title: title.Hash, Declined: true}}
	for name, p := range map[string]gate.Permit{
		"another token": tokenOf(2, 5).permit(0), "three hops later": c.permit(3), "an invented hop": invented,
		"signed by another": byAnother, "declined": declined,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, plain)
			b.opened(7, c.permit(0))
			b.signIn(8, p)
			assert.Equal(t, gate.Open, b.gate.State(0))
			busy := b.busy(8)
			assert.Equal(t, title.Holder, busy.Holder)
			assert.Equal(t, title.Token, busy.Token)
			assert.Equal(t, b.reading().Millis()+10000, busy.Until)
		})
	}
}

func TestSignIn_Itself_Replaces(t *testing.T) {
	b := newBench(t, plain)
	p := tokenOf(1, 1).permit(0)
	b.opened(7, p)
	b.signIn(8, p)
	assert.Equal(t, gate.Closing, b.gate.State(0))
	b.signIn(9, p)
	assert.Equal(t, gate.Replaced, b.refused(8))
	b.hook(gate.Succeeded)
	assert.Equal(t, gate.ClosedAnswer{Session: 101, Reason: gate.ByReplacing, Confirmed: true}, b.said[7][0])
	b.wait(plain.Settle + plain.Keep)
	b.wait(plain.Keep)
	assert.Equal(t, gate.Opening, b.gate.State(0), "no other member had a session since")
}

// BUSY goes to the sign-in that begins to wait, and not again to those that wait already.
func TestSignIn_OthersWait_OneBusy(t *testing.T) {
	b := newBench(t, plain)
	b.opened(7, tokenOf(1, 1).permit(0))
	b.signIn(8, tokenOf(2, 2).permit(0))
	b.signIn(9, tokenOf(3, 3).permit(0))
	assert.Len(t, b.said[9], 1)
	assert.Empty(t, b.said[8])
}

// A member has one turn, however many tokens it has.
func TestSignIn_SecondToken_Served(t *testing.T) {
	b := newBench(t, plain)
	b.opened(6, tokenOf(9, 9).permit(0))
	b.signIn(7, tokenOf(1, 1).permit(0))
	b.signIn(8, tokenOf(2, 1).permit(0))
	b.busy(8)
	b.step(gate.SignOut{Connection: 6})
	b.hook(gate.Succeeded)
	b.wait(plain.Settle)
	b.wait(plain.Keep)
	require.Equal(t, gate.Opening, b.gate.State(0))
	assert.Equal(t, gate.Served, b.refused(8), "it waited, too")
	b.hook(gate.Succeeded)
	b.signIn(8, tokenOf(2, 1).permit(0))
	assert.Equal(t, gate.Served, b.refused(8))
	assert.Equal(t, gate.Open, b.gate.State(0))
	b.step(gate.SignOut{Connection: 7})
	b.signIn(8, tokenOf(2, 1).permit(0))
	assert.Equal(t, gate.Served, b.refused(8), "it is not over")
	b.hook(gate.Succeeded)
	b.wait(plain.Settle)
	b.wait(plain.Keep)
	b.signIn(8, tokenOf(2, 1).permit(0))
	assert.Equal(t, gate.Opening, b.gate.State(0))
}

func TestSignIn_SessionAtAnotherSlot_Waits(t *testing.T) {
	b := newBench(t, plain)
	b.opened(7, tokenOf(1, 1).permit(0))
	b.step(gate.SignIn{Connection: 9, Slot: 1, Permit: tokenOf(3, 1).permit(0), Configuration: 1, Length: time.Second})
	assert.Equal(t, gate.Idle, b.gate.State(1), "one session of a member, over all slots")
	assert.Equal(t, b.now.Add(10*time.Second), b.gate.NextDeadline(), "nothing to do before")
	b.step(gate.SignIn{Connection: 10, Slot: 1, Permit: tokenOf(4, 2).permit(0), Configuration: 1, Length: time.Second})
	assert.Equal(t, gate.Opening, b.gate.State(1))
}

// Its session at a later slot ends, and the member's waiting at an earlier one in the same step.
func TestSignIn_WaitsForItsOtherSlot_OpensWhenThatIsOver(t *testing.T) {
	s := plain
	s.Settle = 0
	b := newBench(t, s)
	b.step(gate.SignIn{Connection: 7, Slot: 1, Permit: tokenOf(1, 1).permit(0), Configuration: 1, Length: time.Second})
	b.hook(gate.Succeeded)
	b.signIn(8, tokenOf(2, 1).permit(0))
	require.Equal(t, gate.Idle, b.gate.State(0))
	b.step(gate.SignOut{Connection: 7})
	b.hook(gate.Succeeded)
	assert.Equal(t, gate.Idle, b.gate.State(1))
	assert.Equal(t, gate.Opening, b.gate.State(0))
}

// A session at another slot is nobody's turn at this one.
func TestSignIn_SessionAtAnotherSlot_NotUsed(t *testing.T) {
	b := newBench(t, plain)
	p := tokenOf(1, 1).permit(0)
	b.opened(7, p)
	b.step(gate.SignIn{Connection: 8, Slot: 1, Permit: tokenOf(2, 2).permit(0), Configuration: 1, Length: time.Second})
	require.Equal(t, gate.Opening, b.gate.State(1))
	b.hook(gate.Succeeded)
	b.signIn(9, p)
	require.Equal(t, gate.Closing, b.gate.State(0), "%v", b.said[9])
	b.busy(9)
	b.hook(gate.Succeeded)
	b.wait(plain.Settle)
	b.wait(plain.Keep)
	require.Equal(t, gate.Opening, b.gate.State(0))
	b.hook(gate.Succeeded)
	b.over(9)
	b.opened(10, tokenOf(3, 3).permit(0))
	b.over(10)
	b.signIn(11, p)
	assert.Equal(t, gate.Used, b.refused(11))
}

func TestSignIn_GivenAway_Stale(t *testing.T) {
	b := newBench(t, plain)
	c := tokenOf(1, 1, 2, 3)
	b.opened(7, c.permit(2)) // shows the signatures of 1 and 2
	b.over(7)
	for hop := range 2 {
		b.signIn(8, c.permit(hop))
		assert.Equal(t, gate.Stale, b.refused(8), "hop %d", hop)
	}
	other := c.permit(1)
	other.Title.Holder = memberID(9) // a fork: that member has signed nothing
	b.signIn(9, other)
	assert.Equal(t, gate.Opening, b.gate.State(0))
}

func TestSignIn_Declined_Stale(t *testing.T) {
	b := newBench(t, plain)
	c := tokenOf(1, 1, 2)
	back := c.permit(1)
	back.Title.Holder = memberID(1)
	back.Moves = append(back.Moves, gate.Move{By: memberID(2), Title: back.Title.Hash, Declined: true})
	b.opened(7, back)
	b.over(7)
	b.signIn(8, c.permit(1))
	assert.Equal(t, gate.Stale, b.refused(8))
}

func TestSignIn_Refused_NothingRemembered(t *testing.T) {
	b := newBench(t, plain)
	c := tokenOf(1, 1, 2)
	b.opened(7, tokenOf(2, 5).permit(0))
	b.signIn(8, c.permit(1)) // BUSY, and shows that 1 has given its title away
	b.step(gate.SignOut{Connection: 8})
	assert.Equal(t, gate.ClosedAnswer{Reason: gate.BySignOut, Confirmed: true}, b.said[8][0])
	b.over(7)
	b.signIn(9, c.permit(0))
	assert.Equal(t, gate.Opening, b.gate.State(0))
}

func TestSignIn_Used_OnlyUntilAnotherSession(t *testing.T) {
	b := newBench(t, plain)
	p := tokenOf(1, 1).permit(0)
	b.opened(7, p)
	b.over(7)
	b.opened(8, p)
	b.over(8)
	b.opened(9, tokenOf(2, 2).permit(0))
	b.over(9)
	b.signIn(10, p)
	assert.Equal(t, gate.Used, b.refused(10))
}

func TestSignIn_TooSoon_NotBefore(t *testing.T) {
	s := plain
	s.MinInterval = time.Minute
	b := newBench(t, s)
	b.opened(7, tokenOf(1, 1).permit(0))
	b.over(7)
	b.signIn(8, tokenOf(2, 1).permit(0))
	assert.Equal(t, gate.RefuseAnswer{Code: gate.TooSoon, NotBefore: b.reading().Millis() + 58000}, b.said[8][0])
	b.wait(58 * time.Second)
	b.signIn(9, tokenOf(2, 1).permit(0))
	assert.Equal(t, gate.Opening, b.gate.State(0))
}

func TestSignIn_ManyNewTokens_Rationed(t *testing.T) {
	b := newBench(t, plain)
	for n := range byte(2 * gate.Ration) { // its own as generator, and as presenter
		b.opened(gate.Connection(n)+7, tokenOf(n, 1).permit(0))
		b.over(gate.Connection(n) + 7)
	}
	b.signIn(30, tokenOf(50, 1, 2, 1).permit(2))
	require.Equal(t, gate.Rationed, b.refused(30), "by generator, at any hop")
	assert.NotZero(t, b.said[30][0].(gate.RefuseAnswer).NotBefore)
	b.opened(31, tokenOf(51, 2).permit(0)) // another generator
	b.over(31)
	b.opened(32, tokenOf(0, 1, 3).permit(1)) // a known token
	b.over(32)
	b.wait(gate.RationInterval)
	b.opened(33, tokenOf(50, 1).permit(0))
}

// Members that present old tokens of a generator keep no new one of it out.
func TestSignIn_StrangersUseUpTheRation_NewTokenOpens(t *testing.T) {
	b := newBench(t, plain)
	for n := range byte(2 * gate.Ration) {
		b.opened(gate.Connection(n)+7, tokenOf(n, 1, 2).permit(1))
		b.over(gate.Connection(n) + 7)
	}
	b.signIn(30, tokenOf(50, 1, 2).permit(1))
	require.Equal(t, gate.Rationed, b.refused(30), "the strangers are rationed")
	b.opened(31, tokenOf(50, 1, 3).permit(1))
}

// Nor does a generator whose tokens a member presents.
func TestSignIn_ManyTokensOfOneGenerator_AnotherOpens(t *testing.T) {
	b := newBench(t, plain)
	for n := range byte(2 * gate.Ration) {
		b.opened(gate.Connection(n)+7, tokenOf(n, 1, 2).permit(1))
		b.over(gate.Connection(n) + 7)
	}
	b.opened(30, tokenOf(50, 3, 2).permit(1))
}

func TestSignOut_OtherNumber_NothingEnds(t *testing.T) {
	b := newBench(t, plain)
	b.step(gate.SignIn{Connection: 7, Number: 1, Permit: tokenOf(1, 1).permit(0), Configuration: 1, Length: 10 * time.Second})
	b.hook(gate.Succeeded)
	b.step(gate.SignIn{Connection: 7, Number: 2, Slot: 1, Permit: tokenOf(2, 1).permit(0), Configuration: 1, Length: 10 * time.Second})
	b.step(gate.SignOut{Connection: 7, Number: 3})
	assert.Empty(t, b.said)
	require.Equal(t, gate.Open, b.gate.State(0))
	out := b.gate.Step(b.reading(), gate.SignOut{Connection: 7, Number: 2})
	assert.Equal(t, []gate.Effect{gate.Say{To: 7, Number: 2, Answer: gate.ClosedAnswer{Reason: gate.BySignOut, Confirmed: true}}}, out)
	require.Equal(t, gate.Open, b.gate.State(0), "it meant its waiting")
	b.step(gate.SignOut{Connection: 7, Number: 1})
	assert.Equal(t, gate.Closing, b.gate.State(0))
}

// A member that sends many sign-ins with another configuration causes few fetches, and is sent few copies.
func TestSignIn_OtherConfiguration_FetchesAndCopiesBounded(t *testing.T) {
	s := plain
	s.Version, s.Raw = 2, []byte("configuration")
	b := newBench(t, s)
	in := gate.SignIn{Connection: 7, Permit: tokenOf(1, 1).permit(0), Length: time.Second}
	copies, fetches := 0, 0
	for range 40 {
		in.Configuration = 1
		b.step(in)
		a := b.said[7][0].(gate.RefuseAnswer)
		copies += min(1, len(a.Configuration))
		assert.Equal(t, len(a.Configuration) == 0, a.NotBefore > 0)
		in.Configuration = 3
		b.step(in)
		assert.Equal(t, gate.Ahead, b.refused(7))
		b.wait(time.Second)
	}
	fetches = len(b.fetched)
	assert.Equal(t, 4, copies)
	assert.Equal(t, 4, fetches)
	in.Permit = tokenOf(1, 2).permit(0) // of another member
	b.step(in)
	assert.Len(t, b.fetched, fetches+1)
}

func TestSignIn_FutureTokensOfTwoMembers_ClockAlarm(t *testing.T) {
	b := newBench(t, plain)
	show := func(m int) {
		c := tokenOf(byte(m), m)
		c.born = b.reading().Millis() + 3_600_000
		b.signIn(7, c.permit(0))
		assert.Equal(t, gate.Implausible, b.refused(7))
	}
	for range 5 {
		show(1)
	}
	assert.Empty(t, b.alarms, "one member may lie")
	show(2)
	show(3)
	assert.Equal(t, []string{gate.AlarmClock}, b.alarms)
	b.wait(time.Hour)
	show(1)
	assert.Len(t, b.alarms, 1, "the last one was long ago")
	show(2)
	assert.Len(t, b.alarms, 2)
}

func TestSignIn_Conditions_Refused(t *testing.T) {
	good := tokenOf(1, 1, 2).permit(1)
	future := good
	future.Born = 1_800_000_000_000
	fast := good
	fast.Title.Hop = ident.MaxHop
	for name, c := range map[string]struct {
		code gate.Code
		in   gate.SignIn
	}{
		"no such slot": {gate.NoSlot, gate.SignIn{Slot: 2, Permit: good, Configuration: 1, Length: time.Second}},
		"negative":     {gate.NoSlot, gate.SignIn{Slot: -1, Permit: good, Configuration: 1, Length: time.Second}},
		"older":        {gate.Outdated, gate.SignIn{Permit: good, Length: time.Second}},
		"newer":        {gate.Ahead, gate.SignIn{Permit: good, Configuration: 2, Length: time.Second}},
		"no length":    {gate.NoLength, gate.SignIn{Permit: good, Configuration: 1}},
		"future":       {gate.Implausible, gate.SignIn{Permit: future, Configuration: 1, Length: time.Second}},
		"hops":         {gate.Implausible, gate.SignIn{Permit: fast, Configuration: 1, Length: time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			s := plain
			s.Raw = []byte("configuration")
			b := newBench(t, s)
			c.in.Connection = 7
			b.step(c.in)
			assert.Equal(t, c.code, b.refused(7))
			assert.Equal(t, c.code == gate.Outdated, len(b.said[7][0].(gate.RefuseAnswer).Configuration) > 0)
			assert.Equal(t, c.code == gate.Ahead, len(b.fetched) > 0)
			assert.NotContains(t, c.code.String(), "code")
		})
	}
}

func TestSignIn_SignerExpired_NoNewTitles(t *testing.T) {
	b := newBench(t, plain)
	c := tokenOf(1, 5, 1, 2, 3)
	later := b.reading().Millis() + 60_000
	expiring := func(hop int) gate.Permit {
		p := c.permit(hop)
		for i := range p.Moves {
			if p.Moves[i].By == memberID(1) {
				p.Moves[i].Expires = later
			}
		}
		return p
	}
	b.opened(7, expiring(2))
	b.over(7)
	b.wait(time.Minute)
	b.opened(8, expiring(3)) // the transfer was shown when the certificate was valid
	b.over(8)
	fork := expiring(2)
	fork.Title = gate.Title{Token: fork.Title.Token, Hop: 2, Holder: memberID(9), Hash: ident.Hash{99}}
	b.signIn(9, fork)
	assert.Equal(t, gate.SignerExpired, b.refused(9))
	born := tokenOf(2, 4).permit(0)
	born.Expires = born.Born
	b.signIn(10, born)
	assert.Equal(t, gate.SignerExpired, b.refused(10), "made when the generator's certificate had expired")
}
