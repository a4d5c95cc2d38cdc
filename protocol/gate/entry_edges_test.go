package gate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/ident"
)

// freeHops is how many hops a token may have made at once.
const freeHops = 1 << 20

// allowed is the latest birth of a token that the gate believes, ms since 1970.
func (b *bench) allowed() uint64 {
	return b.reading().Millis() + uint64(b.plan.ClockAllowance/time.Millisecond)
}

// A member whose configuration the gate fetches may come again at once; only the next fetch waits.
func TestSignIn_ConfigurationFetched_NoPause(t *testing.T) {
	b := newBench(t, plain)
	in := gate.SignIn{Connection: 7, Permit: tokenOf(1, 1).permit(0), Configuration: 2, Length: time.Second}
	b.step(in)
	assert.Equal(t, gate.RefuseAnswer{Code: gate.Ahead}, b.said[7][0])
	require.Len(t, b.fetched, 1)
	b.wait(time.Second)
	b.step(in)
	assert.Equal(t, gate.RefuseAnswer{Code: gate.Ahead, NotBefore: b.reading().Millis() + 9000}, b.said[7][0])
	assert.Len(t, b.fetched, 1)
}

func TestSignIn_OneMillisecond_Opens(t *testing.T) {
	b := newBench(t, plain)
	b.step(gate.SignIn{Connection: 7, Permit: tokenOf(1, 1).permit(0), Configuration: 1, Length: time.Millisecond})
	require.Equal(t, gate.Opening, b.gate.State(0))
	assert.Equal(t, b.now.Add(time.Millisecond), b.opens[0].Deadline)
}

// The latest birth and the most hops that R-38 permits open, and one more of either does not.
func TestSignIn_TokenAtItsLimits_OneMoreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		more uint64
		set  func(b *bench, p *gate.Permit, more uint64)
	}{
		"birth": {1, func(b *bench, p *gate.Permit, more uint64) { p.Born = b.allowed() + more }},
		"hops":  {1, func(b *bench, p *gate.Permit, more uint64) { p.Title.Hop = freeHops + b.allowed() - p.Born + more }},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, plain)
			p := tokenOf(1, 1, 2).permit(1)
			c.set(b, &p, c.more)
			b.signIn(7, p)
			assert.Equal(t, gate.Implausible, b.refused(7))
			c.set(b, &p, 0)
			b.signIn(8, p)
			assert.Equal(t, gate.Opening, b.gate.State(0))
		})
	}
}

// Only tokens of the future say something of the gate's clock: not too many hops, and not what a revoked member shows.
func TestSignIn_OtherDoubts_NoClockAlarm(t *testing.T) {
	for name, show := range map[string]func(b *bench, p *gate.Permit) gate.Code{
		"hops": func(_ *bench, p *gate.Permit) gate.Code { p.Title.Hop = ident.MaxHop; return gate.Implausible },
		"hops, born latest": func(b *bench, p *gate.Permit) gate.Code {
			p.Title.Hop, p.Born = ident.MaxHop, b.allowed()
			return gate.Implausible
		},
		"revoked": func(b *bench, p *gate.Permit) gate.Code { p.Born = b.allowed() + 1; return gate.Revoked },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, plain)
			for m := 1; m <= 2; m++ {
				p := tokenOf(byte(m), m).permit(0)
				code := show(b, &p)
				if code == gate.Revoked {
					b.step(gate.Revocations{Members: []ident.Member{p.Title.Holder}})
				}
				b.signIn(7, p)
				assert.Equal(t, code, b.refused(7))
			}
			assert.Empty(t, b.alarms)
		})
	}
}

// A certificate holds until the moment of its end, and not at it.
func TestSignIn_SignerExpires_AtTheMoment(t *testing.T) {
	for more, code := range map[uint64]gate.Code{0: gate.SignerExpired, 1: 0} {
		b := newBench(t, plain)
		p := tokenOf(1, 1, 2).permit(1)
		p.Moves[0].Expires = b.reading().Millis() + more
		b.signIn(7, p)
		if code == 0 {
			assert.Equal(t, gate.Opening, b.gate.State(0))
			continue
		}
		assert.Equal(t, code, b.refused(7))
	}
}

// A generator's certificate has to be valid at the birth of its token.
func TestSignIn_GeneratorExpiredSince_Opens(t *testing.T) {
	b := newBench(t, plain)
	p := tokenOf(1, 1, 2).permit(1)
	p.Expires = p.Born + 1
	require.Less(t, p.Expires, b.reading().Millis())
	b.signIn(7, p)
	assert.Equal(t, gate.Opening, b.gate.State(0))
}

// A member of which the gate knows titles and no session has no interval to wait for.
func TestSignIn_NeverServed_NotTooSoon(t *testing.T) {
	s := plain
	s.MinInterval = time.Hour
	b := newBench(t, s)
	b.opened(7, tokenOf(1, 1, 2, 3).permit(2)) // of 3; it shows moves of 1 and 2
	b.over(7)
	b.signIn(8, tokenOf(2, 2).permit(0))
	assert.Equal(t, gate.Opening, b.gate.State(0))
}

// Nobody waits at a slot that is stuck: what has heard BUSY there opens nothing when the operator has cleared it.
func TestSignIn_Stuck_DoesNotWait(t *testing.T) {
	b := newBench(t, plain)
	b.opened(7, tokenOf(1, 1).permit(0))
	b.step(gate.SignOut{Connection: 7})
	b.hook(gate.Failed)
	b.signIn(8, tokenOf(2, 2).permit(0))
	assert.Equal(t, gate.BusyAnswer{Stuck: true, Session: 101, Token: ident.Token{1}, Holder: memberID(1)}, b.busy(8), "until nobody knows when")
	assert.Len(t, b.said[8], 1)
	b.step(gate.Cleared{Slot: 0})
	b.hook(gate.Succeeded)
	b.wait(plain.Settle)
	b.wait(plain.Keep)
	assert.Equal(t, gate.Idle, b.gate.State(0))
}

// A title that was used at another slot is not the last one of this slot.
func TestSignIn_UsedAtAnotherSlot_Refused(t *testing.T) {
	b := newBench(t, plain)
	p := tokenOf(1, 1).permit(0)
	b.step(gate.SignIn{Connection: 7, Slot: 1, Permit: p, Configuration: 1, Length: time.Second})
	b.hook(gate.Succeeded)
	b.over(7)
	b.opened(8, tokenOf(2, 2).permit(0))
	b.over(8)
	b.signIn(9, p)
	assert.Equal(t, gate.Used, b.refused(9))
}

// BUSY names the place that is said to be free first, wherever it is.
func TestPlaces_Busy_NamesTheFirstToEnd(t *testing.T) {
	for name, c := range map[string]struct {
		lengths [2]time.Duration
		session uint64
	}{
		"first":  {[2]time.Duration{time.Second, 2 * time.Second}, 101},
		"second": {[2]time.Duration{2 * time.Second, time.Second}, 102},
		"equal":  {[2]time.Duration{time.Second, time.Second}, 101},
	} {
		t.Run(name, func(t *testing.T) {
			b := roomy(t)
			for i, length := range c.lengths {
				b.step(gate.SignIn{Connection: gate.Connection(7 + i), Permit: tokenOf(byte(1+i), 1+i).permit(0), Configuration: 1, Length: length})
				b.hook(gate.Succeeded)
			}
			b.signIn(9, tokenOf(3, 3).permit(0))
			assert.Equal(t, c.session, b.busy(9).Session)
		})
	}
}

// A place of which the gate does not know when it is free is named only if there is no other.
func TestPlaces_Busy_UnknownEndLast(t *testing.T) {
	for name, known := range map[string]int{"first": 0, "second": 2} {
		t.Run(name, func(t *testing.T) {
			s := plain
			s.Slots, s.Sessions, s.CloseTimeout = 2, 2, time.Hour
			b := begun(t, s, 100)
			for _, c := range b.closes {
				if c.Slot == known {
					b.step(gate.HookEnded{Run: c.Run})
				}
			}
			b.wait(s.MaxHold + s.Settle)
			require.Equal(t, gate.Idle, b.gate.State(known))
			b.signIn(7, tokenOf(1, 1).permit(0))
			require.Equal(t, gate.Opening, b.gate.State(known))
			require.Equal(t, gate.Closing, b.gate.State(2-known))
			b.signIn(8, tokenOf(2, 2).permit(0))
			assert.Equal(t, uint64(101), b.busy(8).Session)
		})
	}
}

// A place that is stuck is no end to wait for, as long as another one serves.
func TestPlaces_Busy_SecondStuck_NamesTheOther(t *testing.T) {
	b := roomy(t)
	b.opened(7, tokenOf(1, 1).permit(0))
	b.signIn(8, tokenOf(2, 2).permit(0))
	b.hook(gate.Succeeded)
	b.step(gate.SignOut{Connection: 8})
	b.hook(gate.Failed)
	require.Equal(t, gate.Stuck, b.gate.State(2))
	b.signIn(9, tokenOf(3, 3).permit(0))
	assert.Equal(t, uint64(101), b.busy(9).Session)
	assert.False(t, b.busy(9).Stuck)
}

// A member that waits for a place kept for another one hears when the keeping ends, and not when a session elsewhere does.
func TestPlaces_Busy_KeptPlaceFirst(t *testing.T) {
	b := roomy(t)
	b.opened(7, tokenOf(1, 1).permit(0))
	b.signIn(8, tokenOf(2, 2).permit(0))
	b.hook(gate.Succeeded)
	b.step(gate.SignOut{Connection: 7})
	b.hook(gate.Succeeded)
	b.wait(plain.Settle)
	b.signIn(9, tokenOf(3, 3).permit(0))
	assert.Equal(t, gate.BusyAnswer{Until: b.reading().Millis() + uint64(plain.Keep/time.Millisecond)}, b.busy(9))
}

// A place that the configuration has taken away is nothing to wait for when it is idle.
func TestPlaces_Busy_GonePlaceIdle_NotNamed(t *testing.T) {
	b := roomy(t)
	b.opened(7, tokenOf(1, 1).permit(0))
	s := b.plan
	s.Version, s.Sessions = 2, 1
	b.step(gate.Configured{Settings: s})
	b.step(gate.SignOut{Connection: 7})
	b.hook(gate.Succeeded)
	b.wait(plain.Settle)
	b.step(gate.SignIn{Connection: 9, Permit: tokenOf(3, 3).permit(0), Configuration: 2, Length: time.Second})
	assert.Equal(t, gate.BusyAnswer{Until: b.reading().Millis() + uint64(plain.Keep/time.Millisecond)}, b.busy(9))
}

// As many places are stuck as the configuration has left: BUSY says so, although a session goes on at another place.
func TestPlaces_Busy_GonePlaceStuck_SaysStuck(t *testing.T) {
	b := roomy(t)
	b.opened(7, tokenOf(1, 1).permit(0))
	b.signIn(8, tokenOf(2, 2).permit(0))
	b.hook(gate.Succeeded)
	b.step(gate.SignOut{Connection: 8})
	b.hook(gate.Failed)
	s := b.plan
	s.Version, s.Sessions = 2, 1
	b.step(gate.Configured{Settings: s})
	require.Equal(t, gate.Open, b.gate.State(0))
	b.step(gate.SignIn{Connection: 9, Permit: tokenOf(3, 3).permit(0), Configuration: 2, Length: time.Second})
	assert.True(t, b.busy(9).Stuck)
	assert.Equal(t, uint64(102), b.busy(9).Session)
}

// Rations are for tokens that the gate does not know.
func TestSignIn_KnownTokenBeyondRations_Opens(t *testing.T) {
	b := newBench(t, plain)
	for n := range byte(2 * gate.Ration) { // its own as generator, and as presenter
		b.opened(gate.Connection(n)+7, tokenOf(n, 1).permit(0))
		b.over(gate.Connection(n) + 7)
	}
	b.signIn(30, tokenOf(50, 1).permit(0))
	require.Equal(t, gate.Rationed, b.refused(30))
	b.signIn(31, tokenOf(0, 1, 2, 1).permit(2))
	assert.Equal(t, gate.Opening, b.gate.State(0))
}

// A revoked generator makes new tokens, whose permits do not show a signature of it but the genesis any more.
func TestRevocations_Generator_NewTokenOfOthersRefused(t *testing.T) {
	b := newBench(t, plain)
	b.step(gate.Revocations{Members: []ident.Member{memberID(1)}})
	p := tokenOf(1, 1, 2, 3, 4).permit(3)
	for _, m := range p.Moves {
		require.NotEqual(t, memberID(1), m.By)
	}
	b.signIn(7, p)
	assert.Equal(t, gate.SignerRevoked, b.refused(7))
}

// A place that closes, and nobody knows for how long, is more to wait for than one that is stuck.
func TestPlaces_Busy_StuckBesideUnknownEnd_NotStuck(t *testing.T) {
	s := plain
	s.Slots, s.Sessions, s.CloseTimeout = 2, 2, time.Hour
	b := begun(t, s, 100)
	for _, c := range b.closes {
		if c.Slot == 0 {
			b.step(gate.HookEnded{Run: c.Run, Result: gate.Failed})
		}
	}
	require.Equal(t, gate.Stuck, b.gate.State(0))
	require.Equal(t, gate.Closing, b.gate.State(2))
	b.signIn(7, tokenOf(1, 1).permit(0))
	assert.Equal(t, gate.BusyAnswer{}, b.busy(7))
}
