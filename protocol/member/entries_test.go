package member_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/wandering"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// A resource with a gate: rules of spec/gate-member.md.

const (
	gateSettle = 500 * time.Millisecond
	gateKeep   = time.Second
	gateOpen   = 2 * time.Second
)

// slow is a group whose programs may take a while.
var slow = policy.Params{
	Preset: wandering.Light, OperationTime: time.Second, MaxHold: 16 * time.Second, MembersMax: 10, SkipDelay: 10 * time.Millisecond,
	MinInterval: time.Millisecond,
}

// visitor is a member at a resource with a gate, and one that takes tokens from it.
type visitor struct {
	*box
	t     testing.TB
	self  *someone
	taker *someone
	offer *wire.Offer // that is not accepted yet
	taken uint64      // offers that were
}

// visits makes a member that holds a token.
func visits(t testing.TB, reached bool, change ...func(*group.Resource)) *visitor {
	return visitsWatched(t, nil, reached, change...)
}

// visitsWatched does so with an observer.
func visitsWatched(t testing.TB, o member.Observer, reached bool, change ...func(*group.Resource)) *visitor {
	s := settings(1, slow)
	r := &s.Resources[0]
	r.MaxHold = slow.MaxHold
	r.Gate = group.Gate{Member: ident.Member{9}, Address: "gate.example.org:1", Settle: gateSettle, Keep: gateKeep, OpenTimeout: gateOpen}.WithDefaults()
	for _, c := range change {
		c(r)
	}
	a := newAuthorityWith(t, s)
	self, taker := a.issue(1, 24*time.Hour), a.issue(2, 24*time.Hour)
	v := &visitor{t: t, self: self, taker: taker}
	v.box = a.open(self, func(c *member.Config) {
		c.Found = true
		if o != nil {
			c.Observer = o
		}
	})
	if reached {
		v.step(member.GateReachable{Resource: resource, Is: true})
	}
	return v
}

// step checks the member's invariants after each step.
func (v *visitor) step(in member.Input) {
	v.box.step(in)
	v.looks()
}

func (v *visitor) after(d time.Duration) {
	v.box.after(d)
	v.looks()
}

func (v *visitor) looks() {
	require.NoError(v.t, v.Check())
	if offer := said[*wire.Offer](v.box); offer != nil {
		v.offer = offer
	}
}

func (v *visitor) hear(from *someone, m wire.Message) {
	v.box.hear(from, m)
	v.looks()
}

func (v *visitor) meet(s *someone) {
	v.step(member.Connected{Certificate: s.certificate})
	v.hear(s, s.hello())
}

// knocks lets time pass until the member signs in.
func (v *visitor) knocks(within time.Duration) *effect.SignIn {
	for ; within >= 0 && last[effect.SignIn](v.box) == nil; within -= 10 * time.Millisecond {
		v.after(10 * time.Millisecond)
	}
	return last[effect.SignIn](v.box)
}

// accepts takes the token that is offered.
func (v *visitor) accepts() {
	if v.offer != nil {
		v.taken++
		v.hear(v.taker, &wire.Accept{Token: v.offer.Token, Hop: v.offer.Hop, Incarnation: v.taker.incarnation, Accept: v.taken, Lifetime: 60_000})
		v.offer = nil
	}
}

// demand has a program wait, and returns what the gate is asked for.
func (v *visitor) demand(request uint64) *effect.SignIn {
	v.step(member.Demand{Request: request, Resource: resource})
	return last[effect.SignIn](v.box)
}

func (v *visitor) says(entry uint64, a gate.Answer) {
	v.step(member.GateSaid{Entry: entry, Answer: a, At: v.now.Millis()})
}

func (v *visitor) opens(entry uint64) *effect.Grant {
	v.says(entry, gate.OpenAnswer{Session: 7, Until: v.now.Millis() + 16_000})
	return granted(v.box)
}

// minted is the genesis of the member's own token.
func (v *visitor) minted(raw []byte) token.Genesis {
	g, err := token.NewVerifier(v.cfg.Group.ID(), keyring{v.self.id(): v.self.key.Public()}).Genesis(raw)
	require.NoError(v.t, err)
	return g
}

func (v *visitor) in(d time.Duration) uint64 { return v.now.Millis() + uint64(d.Milliseconds()) }

// passes reports whether the token leaves for the taker within a time.
func (v *visitor) passes(within time.Duration) bool {
	for said[*wire.Transfer](v.box) == nil {
		if v.offer == nil && within <= 0 {
			return false
		}
		if v.offer != nil {
			v.accepts()
			continue
		}
		v.after(10 * time.Millisecond)
		within -= 10 * time.Millisecond
	}
	return true
}

// comesBack has the taker pass the token back that it has just got.
func (v *visitor) comesBack() {
	title := token.Title{Genesis: v.minted(said[*wire.Transfer](v.box).Genesis)}
	title.Transfer = v.verified(said[*wire.Transfer](v.box).Transfer, v.self)
	v.hear(v.taker, &wire.Receipt{Receipt: v.taker.answer(title.Transfer, token.Receipt)})
	v.hear(v.taker, &wire.Offer{Token: title.Token(), Hop: 2, Genesis: title.Genesis.Raw(), Signers: title.Signers()})
	v.hear(v.taker, v.taker.transfer(title, title.Next(v.ID(), said[*wire.Accept](v.box).Reservation())))
}

// last is the last effect of a type in the last step, or nil.
func last[E effect.Effect](b *box) (found *E) {
	for _, e := range b.effects {
		if e, ok := e.(E); ok {
			found = &e
		}
	}
	return found
}

func (v *visitor) gate() member.GateStatus { return v.Status().Slots[0].Gate }

func TestGate_Unreachable_DemandWaits(t *testing.T) {
	v := visits(t, false)
	require.Nil(t, v.demand(1))
	assert.Nil(t, granted(v.box), "without a session")
	v.meet(v.taker)
	assert.True(t, v.passes(5*time.Second), "as far as the policy knows, nobody wants the token here")
	assert.Equal(t, 1, v.Status().Slots[0].Waiting)
	assert.Equal(t, member.GateStatus{Gated: true}, v.gate())
}

func TestGate_ReachableAgain_Knocks(t *testing.T) {
	v := visits(t, false)
	v.demand(1)
	v.step(member.GateReachable{Resource: resource, Is: true})
	asked := last[effect.SignIn](v.box)
	require.NotNil(t, asked)
	assert.Nil(t, granted(v.box))
	assert.Equal(t, 1, v.Status().Slots[0].Waiting, "at the gate")
	assert.False(t, v.Status().Slots[0].Executing)
	assert.Equal(t, asked.Token, asked.Title.Token())
	assert.Equal(t, 16*time.Second, asked.Length)
}

// TestGate_OnlyObserves_NoCondition: operators adopt a gate by one that observes.
func TestGate_OnlyObserves_NoCondition(t *testing.T) {
	observes := func(r *group.Resource) { r.Gate.Mode = group.Observe }
	v := visits(t, false, observes)
	assert.Nil(t, v.demand(1))
	assert.NotNil(t, granted(v.box), "it cannot be reached")
	assert.Equal(t, member.GateStatus{Gated: true, Observes: true}, v.gate())
	assert.Empty(t, member.GateWord(v.Member, resource), "it is no reason")
	v = visits(t, true, observes)
	in := v.demand(1)
	require.NotNil(t, in, "it is asked where it can be")
	assert.Empty(t, member.GateWord(v.Member, resource), "nor then")
	assert.True(t, in.Observed)
	g := granted(v.box)
	require.NotNil(t, g, "and nobody waits for what it says")
	assert.Equal(t, in.Entry, g.Entry)
	assert.Zero(t, g.Session)
	assert.Equal(t, slow.MaxHold, g.Length)
}

// TestGate_OnlyObserves_WordIsNoted: whatever it says, the program runs, the token goes at its end, and no custody is barred.
func TestGate_OnlyObserves_WordIsNoted(t *testing.T) {
	for said, a := range map[string]gate.Answer{
		"open": gate.OpenAnswer{Session: 7, Until: 1}, "busy": gate.BusyAnswer{Session: 7}, "stuck": gate.BusyAnswer{Session: 7, Stuck: true},
		"refused: stale title": gate.RefuseAnswer{Code: gate.Stale}, "closed: deadline": gate.ClosedAnswer{Session: 7, Reason: gate.ByDeadline},
	} {
		t.Run(said, func(t *testing.T) {
			v := visits(t, true, func(r *group.Resource) { r.Gate.Mode = group.Observe })
			v.meet(v.taker)
			in := v.demand(1)
			g := granted(v.box)
			require.NotNil(t, g)
			v.says(in.Entry, a)
			assert.Equal(t, said, v.gate().Said)
			assert.Empty(t, member.GateWord(v.Member, resource), "it keeps nobody out")
			assert.Nil(t, last[effect.Lose](v.box))
			assert.False(t, v.passes(500*time.Millisecond), "the program runs")
			v.step(member.Ended{Grant: g.Grant, Operated: true})
			assert.Equal(t, &effect.SignOut{Entry: in.Entry}, last[effect.SignOut](v.box))
			assert.True(t, v.passes(time.Second), "nobody waits for CLOSED")
		})
	}
}

// TestGate_BeginsToObserve_ProgramGoesOn: who knocks waits no longer.
func TestGate_BeginsToObserve_ProgramGoesOn(t *testing.T) {
	v := visits(t, true)
	in := v.demand(1)
	v.says(in.Entry, gate.BusyAnswer{Session: 7, Until: v.in(time.Second)})
	require.Nil(t, granted(v.box))
	s := v.cfg.Group.Config().Settings()
	s.Version++
	s.Resources[0].Gate.Mode = group.Observe
	config, err := s.Sign(v.cfg.Group.ID(), keyOf(t, 255))
	require.NoError(t, err)
	v.step(member.Learn{Configuration: config.Raw()})
	g := granted(v.box)
	require.NotNil(t, g)
	assert.Equal(t, in.Entry, g.Entry)
	v.step(member.Ended{Grant: g.Grant, Operated: true})
	assert.NotNil(t, last[effect.SignOut](v.box))
}

// TestGate_ProgramIsShort_KnocksForLonger: what the program does not need is left to the wait.
func TestGate_ProgramIsShort_KnocksForLonger(t *testing.T) {
	v := visits(t, true)
	v.meet(v.taker)
	v.step(member.Demand{Request: 1, Resource: resource, MaxHold: time.Second})
	asked := last[effect.SignIn](v.box)
	require.NotNil(t, asked)
	assert.Equal(t, 5*time.Second, asked.Length, "with the open hook and SIGN-OUT")
	v.says(asked.Entry, gate.BusyAnswer{})
	assert.False(t, v.passes(12*time.Second))
	require.NotNil(t, v.opens(asked.Entry))
	assert.Equal(t, time.Second, granted(v.box).Length)
}

func TestGate_Opens_GrantDurableBefore(t *testing.T) {
	v := visits(t, true)
	asked := v.demand(1)
	require.NotNil(t, asked)
	v.opens(asked.Entry)
	var order []string
	for _, e := range v.effects {
		switch e := e.(type) {
		case effect.Persist:
			if _, ok := e.Record.(*journal.Started); ok && e.Sync {
				order = append(order, "durable")
			}
		case effect.Grant:
			order = append(order, "granted")
			assert.EqualValues(t, 7, e.Session)
			assert.EqualValues(t, 1, e.Request)
			assert.Equal(t, 14*time.Second, e.Length, "the rest is for SIGN-OUT")
		}
	}
	assert.Equal(t, []string{"durable", "granted"}, order)
	assert.True(t, v.Status().Slots[0].Executing)
}

func TestGate_ProgramEnds_TokenStaysUntilSignedOut(t *testing.T) {
	v := visits(t, true)
	v.meet(v.taker)
	asked := v.demand(1)
	g := v.opens(asked.Entry)
	v.step(member.Ended{Grant: g.Grant, Operated: true})
	assert.Equal(t, &effect.SignOut{Entry: asked.Entry}, last[effect.SignOut](v.box))
	assert.False(t, v.passes(500*time.Millisecond), "the session may still be open")
	v.says(asked.Entry, gate.ClosedAnswer{Session: 7, Reason: gate.BySignOut, Confirmed: true})
	assert.True(t, v.passes(0))
	assert.EqualValues(t, 1, v.Status().Slots[0].Operations)
}

func TestGate_SignOutUnanswered_TokenGoesInTime(t *testing.T) {
	v := visits(t, true)
	v.meet(v.taker)
	g := v.opens(v.demand(1).Entry)
	v.step(member.Ended{Grant: g.Grant, Operated: true})
	assert.False(t, v.passes(1900*time.Millisecond))
	assert.True(t, v.passes(200*time.Millisecond))
}

func TestGate_SignOutCrossesLoss_TokenGoes(t *testing.T) {
	v := visits(t, true)
	v.meet(v.taker)
	asked := v.demand(1)
	g := v.opens(asked.Entry)
	v.step(member.Ended{Grant: g.Grant, Operated: true})
	v.says(asked.Entry, nil)
	assert.True(t, v.passes(0))
}

// TestGate_Busy_WaitsInPlace: until the session that is in the way is over, with the settling and the keeping
// after it; then the token goes on, and the program waits on.
func TestGate_Busy_WaitsInPlace(t *testing.T) {
	v := visits(t, true)
	v.meet(v.taker)
	asked := v.demand(1)
	v.says(asked.Entry, gate.BusyAnswer{Session: 3, Until: v.in(2 * time.Second)})
	assert.False(t, v.passes(3400*time.Millisecond))
	assert.True(t, v.passes(200*time.Millisecond))
	slot := v.Status().Slots[0]
	assert.Equal(t, 1, slot.Waiting, "the demand is back")
	assert.Zero(t, slot.Operations)
	assert.EqualValues(t, 3, slot.Gate.Session)
}

func TestGate_BusyAgain_WaitsOn(t *testing.T) {
	v := visits(t, true)
	v.meet(v.taker)
	asked := v.demand(1)
	v.says(asked.Entry, gate.BusyAnswer{Session: 3, Until: v.in(time.Second)})
	assert.False(t, v.passes(2400*time.Millisecond))
	v.says(asked.Entry, gate.BusyAnswer{Session: 4, Until: v.in(time.Second)})
	assert.False(t, v.passes(2400*time.Millisecond))
	assert.NotNil(t, v.opens(asked.Entry))
}

// TestGate_BusyForLong_TokenGoesInTime: the gate's word does not make the member keep the token for longer than its
// keeper permits, nor does a gate that says nothing.
func TestGate_BusyForLong_TokenGoesInTime(t *testing.T) {
	for _, busy := range []gate.Answer{gate.BusyAnswer{Until: ^uint64(0)}, gate.BusyAnswer{}, nil} {
		v := visits(t, true)
		v.meet(v.taker)
		asked := v.demand(1)
		if busy != nil {
			v.says(asked.Entry, busy)
		}
		assert.False(t, v.passes(5900*time.Millisecond), "half of max_hold is the program's, and a part is for SIGN-OUT")
		assert.True(t, v.passes(200*time.Millisecond))
	}
}

// TestGate_Knocks_SinceWhenSaid: from the sign-in until the gate opens, whatever it says meanwhile.
func TestGate_Knocks_SinceWhenSaid(t *testing.T) {
	v := visits(t, true)
	v.meet(v.taker)
	assert.Zero(t, v.gate().Asked)
	asked := v.demand(1)
	since := v.now.Boot
	v.after(time.Second)
	assert.Zero(t, v.gate().Heard)
	v.says(asked.Entry, gate.BusyAnswer{Session: 4})
	said := v.now.Boot
	v.after(time.Second)
	assert.Equal(t, since, v.gate().Asked)
	assert.Equal(t, said, v.gate().Heard)
	require.NotNil(t, v.opens(asked.Entry))
	assert.Zero(t, v.gate().Asked)
}

// TestGate_NoAnswer_SaysSo: the program that waited in vain is told why, and a sign-in that was withdrawn is forgotten.
func TestGate_NoAnswer_SaysSo(t *testing.T) {
	v := visits(t, true)
	v.meet(v.taker)
	v.demand(1)
	assert.Equal(t, "has not answered", member.GateWord(v.Member, resource))
	require.True(t, v.passes(7*time.Second))
	assert.Equal(t, "has not answered", member.GateWord(v.Member, resource))
	v = visits(t, true)
	v.demand(1)
	v.step(member.Withdraw{Request: 1})
	assert.Empty(t, member.GateWord(v.Member, resource))
	assert.Empty(t, v.gate().Said)
}

// TestGate_OpensLate_ProgramIsShorter: all together takes no longer than max_hold.
func TestGate_OpensLate_ProgramIsShorter(t *testing.T) {
	v := visits(t, true)
	asked := v.demand(1)
	v.says(asked.Entry, gate.BusyAnswer{Until: v.in(time.Minute)})
	v.after(5 * time.Second)
	g := v.opens(asked.Entry)
	require.NotNil(t, g)
	assert.LessOrEqual(t, g.Length, 10*time.Second)
	assert.Greater(t, g.Length, 9*time.Second)
}

// TestGate_OpensTooLate_SignsOutFirst: a session without time for a program is ended like another one.
func TestGate_OpensTooLate_SignsOutFirst(t *testing.T) {
	v := visits(t, true)
	v.meet(v.taker)
	asked := v.demand(1)
	v.says(asked.Entry, gate.OpenAnswer{Session: 7, Until: v.in(0)})
	assert.Nil(t, granted(v.box))
	assert.Equal(t, &effect.SignOut{Entry: asked.Entry}, last[effect.SignOut](v.box))
	assert.False(t, v.passes(500*time.Millisecond))
	v.says(asked.Entry, gate.ClosedAnswer{Session: 7, Reason: gate.BySignOut})
	assert.True(t, v.passes(5*time.Second))
	assert.Equal(t, 1, v.Status().Slots[0].Waiting)
}

// TestGate_OpensForAMoment_KnocksLater: a gate that opens for a few milliseconds again and again has nothing written.
func TestGate_OpensForAMoment_KnocksLater(t *testing.T) {
	v := visits(t, true)
	asked := v.demand(1)
	v.says(asked.Entry, gate.OpenAnswer{Session: 7, Until: v.in(5 * time.Millisecond)})
	assert.Nil(t, granted(v.box))
	require.NotNil(t, last[effect.SignOut](v.box))
	assert.Contains(t, member.GateWord(v.Member, resource), "too short")
	assert.Equal(t, member.GateUseless, v.gate().Hinders)
	v.says(asked.Entry, gate.ClosedAnswer{Session: 7, Reason: gate.BySignOut})
	assert.Nil(t, v.knocks(9*time.Second))
	assert.Equal(t, 1, v.Status().Slots[0].Waiting)
}

// TestGate_SessionEndsSooner_ProgramToo: the gate has given less than was asked for.
func TestGate_SessionEndsSooner_ProgramToo(t *testing.T) {
	v := visits(t, true)
	v.says(v.demand(1).Entry, gate.OpenAnswer{Session: 7, Until: v.in(4 * time.Second)})
	require.NotNil(t, granted(v.box))
	assert.Equal(t, 3500*time.Millisecond, granted(v.box).Length)
}

// TestGate_NoSession_TokenGoesOn: the token goes on, the demand stays, and there is no second try in this custody.
func TestGate_NoSession_TokenGoesOn(t *testing.T) {
	for name, a := range map[string]gate.Answer{
		"stuck": gate.BusyAnswer{Session: 3, Stuck: true}, "refused": gate.RefuseAnswer{Code: gate.TooSoon},
		"lost": nil, "closed": gate.ClosedAnswer{Reason: gate.ByRestart},
	} {
		t.Run(name, func(t *testing.T) {
			v := visits(t, true)
			asked := v.demand(1)
			v.says(asked.Entry, a)
			assert.Nil(t, last[effect.SignIn](v.box))
			for range 90 { // nobody is there to take it
				v.after(100 * time.Millisecond)
				require.Nil(t, last[effect.SignIn](v.box), "again in this custody")
			}
			v.meet(v.taker)
			assert.True(t, v.passes(5*time.Second))
			assert.Equal(t, 1, v.Status().Slots[0].Waiting)
			assert.Zero(t, v.Status().Slots[0].Operations)
		})
	}
}

// TestGate_Fails_DemandIsFirst: the program that has knocked in vain is the next one to knock.
func TestGate_Fails_DemandIsFirst(t *testing.T) {
	v := visits(t, true)
	asked := v.demand(1)
	v.demand(2)
	v.says(asked.Entry, nil)
	again := v.knocks(time.Minute)
	require.NotNil(t, again)
	require.NotNil(t, v.opens(again.Entry))
	assert.EqualValues(t, 1, granted(v.box).Request)
}

// TestGate_Refused_WaitsForItsTime: a member whose token nobody takes tries again when the gate has said, and not
// sooner than in a minute.
func TestGate_Refused_WaitsForItsTime(t *testing.T) {
	for _, c := range []struct{ notBefore, least time.Duration }{{0, time.Minute}, {5 * time.Second, time.Minute}, {2 * time.Minute, 2 * time.Minute}} {
		v := visits(t, true)
		asked := v.demand(1)
		refused := gate.RefuseAnswer{Code: gate.TooSoon}
		if c.notBefore > 0 {
			refused.NotBefore = v.in(c.notBefore)
		}
		v.says(asked.Entry, refused)
		assert.Equal(t, refused.NotBefore, v.gate().NotBefore)
		assert.Equal(t, "refused: too soon", v.gate().Said)
		from := v.now.Boot
		for last[effect.SignIn](v.box) == nil && v.now.Boot.Sub(from) < time.Hour {
			v.after(100 * time.Millisecond)
		}
		assert.GreaterOrEqual(t, v.now.Boot.Sub(from), c.least)
		assert.Less(t, v.now.Boot.Sub(from), c.least+5*time.Second)
	}
}

// TestGate_RefusedUntilFarFuture_StatusHasText: a gate that names a time which no text can show does not take the status away.
func TestGate_RefusedUntilFarFuture_StatusHasText(t *testing.T) {
	v := visits(t, true)
	v.says(v.demand(1).Entry, gate.RefuseAnswer{Code: gate.TooSoon, NotBefore: ^uint64(0)})
	_, err := json.Marshal(clock.FromMillis(v.gate().NotBefore))
	assert.NoError(t, err)
}

// TestGate_NextCustody_KnocksAgain: a refusal is for one custody.
func TestGate_NextCustody_KnocksAgain(t *testing.T) {
	v := visits(t, true)
	v.meet(v.taker)
	asked := v.demand(1)
	v.says(asked.Entry, gate.RefuseAnswer{Code: gate.Stale})
	require.True(t, v.passes(5*time.Second))
	v.comesBack()
	require.NotNil(t, last[effect.SignIn](v.box))
	assert.NotEqual(t, asked.Entry, last[effect.SignIn](v.box).Entry)
}

// TestGate_WindowsClosed_WaitsUntilTheyOpen: a resource that is closed by the clock of its gate is closed here, as long as the gate has said, within a second and a
// minute.
func TestGate_WindowsClosed_WaitsUntilTheyOpen(t *testing.T) {
	for _, c := range []struct{ opens, least time.Duration }{{0, time.Minute}, {time.Millisecond, time.Second}, {5 * time.Second, 5 * time.Second}, {8 * time.Hour, time.Minute}} {
		v := visits(t, true)
		asked := v.demand(1)
		refused := gate.RefuseAnswer{Code: gate.Shut}
		want := member.HoursStatus{Closed: true, ByGate: true}
		if c.opens > 0 {
			refused.NotBefore = v.in(c.opens)
			want.Opens = clock.FromMillis(refused.NotBefore)
		}
		v.says(asked.Entry, refused)
		assert.Equal(t, want, v.Status().Slots[0].Hours)
		assert.Equal(t, "refused: windows closed", v.gate().Said)
		assert.Equal(t, 1, v.Status().Slots[0].Waiting)
		assert.Nil(t, v.knocks(c.least-20*time.Millisecond))
		assert.NotNil(t, v.knocks(2*time.Second))
		assert.Equal(t, member.HoursStatus{}, v.Status().Slots[0].Hours)
	}
}

// TestGate_WindowsClosed_NextCustodyWaitsToo: its clock says the same of each token. Nobody wants one here meanwhile, and somebody does when the time has come. A gate that names the
// next millisecond is not asked with the next token.
func TestGate_WindowsClosed_NextCustodyWaitsToo(t *testing.T) {
	for _, opens := range []time.Duration{30 * time.Second, time.Millisecond} {
		w := new(wants)
		v := visitsWatched(t, w, true)
		v.meet(v.taker)
		v.says(v.demand(1).Entry, gate.RefuseAnswer{Code: gate.Shut, NotBefore: v.in(opens)})
		from := v.now.Boot
		require.True(t, v.passes(500*time.Millisecond), "nobody wants it here")
		v.comesBack()
		assert.Nil(t, last[effect.SignIn](v.box))
		require.True(t, v.passes(500*time.Millisecond), "nobody wants it here")
		assert.Equal(t, []bool{true, false}, w.told)
		v.after(max(opens, time.Second) - v.now.Boot.Sub(from) - 1)
		assert.Equal(t, []bool{true, false}, w.told)
		v.after(1)
		assert.Equal(t, []bool{true, false, true}, w.told)
	}
}

// TestGate_WindowsClosed_AnotherConfiguration_KnocksAgain: it may have other windows.
func TestGate_WindowsClosed_AnotherConfiguration_KnocksAgain(t *testing.T) {
	v := visits(t, true)
	v.meet(v.taker)
	v.says(v.demand(1).Entry, gate.RefuseAnswer{Code: gate.Shut, NotBefore: v.in(30 * time.Second)})
	require.True(t, v.passes(5*time.Second))
	s := v.cfg.Group.Config().Settings()
	s.Version++
	config, err := s.Sign(v.cfg.Group.ID(), keyOf(t, 255))
	require.NoError(t, err)
	v.step(member.Learn{Configuration: config.Raw()})
	assert.Equal(t, member.HoursStatus{}, v.Status().Slots[0].Hours)
}

// TestGate_LostWhileOpen_ProgramKilled: the program is killed, and does not go on under another session.
func TestGate_LostWhileOpen_ProgramKilled(t *testing.T) {
	for name, a := range map[string]gate.Answer{
		"lost": nil, "closed": gate.ClosedAnswer{Session: 7, Reason: gate.BySuccessor},
		"stuck": gate.BusyAnswer{Session: 7, Stuck: true}, "refused": gate.RefuseAnswer{Code: gate.Full},
	} {
		t.Run(name, func(t *testing.T) {
			v := visits(t, true)
			v.meet(v.taker)
			asked := v.demand(1)
			g := v.opens(asked.Entry)
			v.says(asked.Entry, a)
			lost := last[effect.Lose](v.box)
			require.NotNil(t, lost)
			assert.Equal(t, g.Grant, lost.Grant)
			assert.False(t, v.passes(500*time.Millisecond), "it may still run")
			v.step(member.Ended{Grant: g.Grant, Operated: true})
			assert.Nil(t, last[effect.SignOut](v.box), "there is no session any more")
			assert.Nil(t, last[effect.SignIn](v.box))
			assert.True(t, v.passes(0))
		})
	}
}

// TestGate_Replaced_OldOneCountsNoMore: what is said of a gate after a configuration has replaced it is ignored.
func TestGate_Replaced_OldOneCountsNoMore(t *testing.T) {
	v := visits(t, false)
	v.step(member.GateReachable{Resource: resource, Is: true, Gate: ident.Member{9}, Address: "other.example.org:1"})
	v.step(member.GateReachable{Resource: resource, Is: true, Gate: ident.Member{8}, Address: "gate.example.org:1"})
	assert.False(t, v.gate().Reached)
	v.step(member.GateReachable{Resource: resource, Is: true, Gate: ident.Member{9}, Address: "gate.example.org:1"})
	assert.True(t, v.gate().Reached)
	v.step(member.GateReachable{Resource: resource, Gate: ident.Member{8}, Address: "gate.example.org:1"})
	assert.True(t, v.gate().Reached)
	v.step(member.GateReachable{Resource: resource})
	assert.False(t, v.gate().Reached, "whichever it is")
}

func TestGate_UnreachableWhileOpen_ProgramKilled(t *testing.T) {
	v := visits(t, true)
	g := v.opens(v.demand(1).Entry)
	v.step(member.GateReachable{Resource: resource})
	require.NotNil(t, last[effect.Lose](v.box))
	assert.Equal(t, g.Grant, last[effect.Lose](v.box).Grant)
}

// TestGate_OnlyObservesAndGone_ProgramGoesOn: an observing gate that dies does no harm.
func TestGate_OnlyObservesAndGone_ProgramGoesOn(t *testing.T) {
	v := visits(t, true, func(r *group.Resource) { r.Gate.Mode = group.Observe })
	v.meet(v.taker)
	v.demand(1)
	g := granted(v.box)
	require.NotNil(t, g)
	v.step(member.GateReachable{Resource: resource})
	assert.Nil(t, last[effect.Lose](v.box))
	assert.False(t, v.passes(500*time.Millisecond))
	v.step(member.Ended{Grant: g.Grant, Operated: true})
	assert.Nil(t, last[effect.SignOut](v.box))
	assert.True(t, v.passes(time.Second))
}

// TestGate_UnreachableWhileKnocking_SignsOut: SIGN-IN may go over the next connection, where nobody waits for its session.
func TestGate_UnreachableWhileKnocking_SignsOut(t *testing.T) {
	v := visits(t, true)
	asked := v.demand(1)
	v.step(member.GateReachable{Resource: resource})
	assert.Equal(t, &effect.SignOut{Entry: asked.Entry}, last[effect.SignOut](v.box))
	v.opens(asked.Entry)
	assert.Nil(t, granted(v.box))
	assert.Equal(t, &effect.SignOut{Entry: asked.Entry}, last[effect.SignOut](v.box), "the session is not left open")
}

func TestGate_Deadline_SignsOut(t *testing.T) {
	v := visits(t, true)
	asked := v.demand(1)
	v.opens(asked.Entry)
	v.after(14 * time.Second)
	assert.Nil(t, last[effect.SignOut](v.box), "it is being killed")
	v.after(time.Second)
	require.NotNil(t, last[effect.SignOut](v.box))
}

func TestGate_DemandWithdrawn_NextTakesItsPlace(t *testing.T) {
	v := visits(t, true)
	asked := v.demand(1)
	v.demand(2)
	v.step(member.Withdraw{Request: 1})
	assert.Nil(t, last[effect.SignOut](v.box), "the second one knocks now")
	assert.Equal(t, 1, v.Status().Slots[0].Waiting)
	v.step(member.Withdraw{Request: 2})
	assert.Equal(t, &effect.SignOut{Entry: asked.Entry}, last[effect.SignOut](v.box))
	assert.Zero(t, v.Status().Slots[0].Waiting)
	v.opens(asked.Entry)
	assert.Nil(t, granted(v.box), "it was given up")
	v.meet(v.taker)
	assert.True(t, v.passes(5*time.Second))
}

// TestGate_NextIsLonger_KnocksAnew: the session of a short program that was withdrawn is not enough for the next one.
func TestGate_NextIsLonger_KnocksAnew(t *testing.T) {
	v := visits(t, true)
	v.step(member.Demand{Request: 1, Resource: resource, MaxHold: time.Second})
	asked := last[effect.SignIn](v.box)
	require.NotNil(t, asked)
	v.demand(2)
	v.step(member.Withdraw{Request: 1})
	assert.Equal(t, &effect.SignOut{Entry: asked.Entry}, last[effect.SignOut](v.box))
	again := last[effect.SignIn](v.box)
	require.NotNil(t, again)
	assert.Equal(t, 16*time.Second, again.Length)
	v.says(asked.Entry, gate.RefuseAnswer{Code: gate.Replaced})
	require.NotNil(t, v.opens(again.Entry))
	assert.Equal(t, 14*time.Second, granted(v.box).Length)
	assert.EqualValues(t, 2, granted(v.box).Request)
}

func TestGate_Stopping_KnocksNoMore(t *testing.T) {
	v := visits(t, true)
	v.meet(v.taker)
	asked := v.demand(1)
	v.step(member.Shutdown{})
	assert.ErrorIs(t, refusal(v.box), member.ErrStopping)
	assert.Equal(t, &effect.SignOut{Entry: asked.Entry}, last[effect.SignOut](v.box))
	assert.True(t, v.passes(5*time.Second))
}

// TestGate_Restart_SessionIsGone: while it knocked, it knocks anew; while a program ran, it waits for its end.
func TestGate_Restart_SessionIsGone(t *testing.T) {
	v := visits(t, true)
	v.meet(v.taker)
	v.demand(1)
	v.restart()
	assert.False(t, v.gate().Reached)
	v.meet(v.taker)
	v.after(10 * time.Second)
	v.step(member.GateReachable{Resource: resource, Is: true})
	v.demand(2)
	asked := v.knocks(5 * time.Second)
	require.NotNil(t, asked)
	g := v.opens(asked.Entry)
	require.NotNil(t, g)
	v.restart()
	v.meet(v.taker)
	v.after(10 * time.Second)
	assert.False(t, v.passes(time.Second), "the program may still run")
	v.step(member.Ended{Grant: g.Grant, Operated: true})
	assert.Nil(t, last[effect.SignOut](v.box), "its connection is gone, and the session with it")
	assert.True(t, v.passes(5*time.Second))
}

// TestGate_AnyAnswers_OrderHolds: whatever a gate says and programs do, no program runs without an open session, none goes
// on under one that is over, and the token does not leave before the session has ended or its time has.
func TestGate_AnyAnswers_OrderHolds(t *testing.T) {
	var seen gateJudge
	rapid.Check(t, func(r *rapid.T) {
		v := visits(t, true)
		v.meet(v.taker)
		j := &gateJudge{t: r, v: v}
		for request := uint64(1); request < 80; request++ {
			switch rapid.IntRange(0, 9).Draw(r, "what") {
			case 0, 1:
				v.step(member.Demand{Request: request, Resource: resource})
			case 2:
				v.step(member.Withdraw{Request: rapid.Uint64Range(1, request).Draw(r, "request")})
			case 3, 4:
				j.answers(gate.OpenAnswer{Session: 7, Until: v.in(16 * time.Second)})
			case 5:
				j.answers(gate.BusyAnswer{Until: v.in(time.Duration(rapid.IntRange(0, 40).Draw(r, "s")) * time.Second)})
			case 6:
				j.answers(rapid.SampledFrom([]gate.Answer{
					nil, gate.RefuseAnswer{Code: gate.Full}, gate.RefuseAnswer{Code: gate.Shut, NotBefore: v.in(20 * time.Second)}, gate.ClosedAnswer{},
				}).Draw(r, "answer"))
			case 7:
				in := member.Ended{Operated: rapid.Bool().Draw(r, "operated")}
				if g := j.running; g != nil {
					j.running, in.Grant = nil, g.Grant
				}
				v.step(in)
			default:
				v.after(time.Duration(rapid.IntRange(1, 3000).Draw(r, "ms")) * time.Millisecond)
			}
			j.looks()
			j.moves()
		}
		seen.granted, seen.passed, seen.killed, seen.slow = seen.granted+j.granted, seen.passed+j.passed, seen.killed+j.killed, seen.slow+j.slow
	})
	t.Logf("%d grants, %d passes, %d programs killed, %d sign-outs without an answer", seen.granted, seen.passed, seen.killed, seen.slow)
	assert.NotZero(t, seen.granted*seen.passed*seen.killed*seen.slow, "the walk is idle")
}

// gateJudge sees what a gate and a network see, and not the member's state.
type gateJudge struct {
	t       *rapid.T
	v       *visitor
	entry   uint64 // the last sign-in
	state   string // of it: knocking, open, closing, over
	since   time.Duration
	running *effect.Grant
	lost    bool          // the session of the program that runs
	shut    time.Duration // until then the windows are closed, as the gate has said
	title   token.Title

	granted, passed, killed, slow int
}

func (j *gateJudge) now() time.Duration { return time.Duration(j.v.now.Boot) }

func (j *gateJudge) goes(to string) { j.state, j.since = to, j.now() }

// answers says something about the last sign-in.
func (j *gateJudge) answers(a gate.Answer) {
	before := j.state
	switch a := a.(type) {
	case gate.RefuseAnswer:
		if a.Code == gate.Shut && before == "knocking" {
			j.shut = j.now() + 20*time.Second
		}
		j.lost = j.lost || before == "open"
		j.goes("over")
	case gate.OpenAnswer:
		if before == "knocking" {
			j.goes("open")
		}
	case gate.BusyAnswer:
	default:
		j.lost = j.lost || before == "open"
		j.goes("over")
	}
	j.v.says(j.entry, a)
}

// looks judges the effects of the last step.
func (j *gateJudge) looks() {
	if g := j.running; g != nil && j.v.now.Boot >= g.Deadline { // killed
		j.running = nil
	}
	for _, e := range j.v.effects {
		switch e := e.(type) {
		case effect.SignIn:
			j.settles()
			require.GreaterOrEqual(j.t, j.now(), j.shut, "the windows are closed")
			require.Contains(j.t, []string{"", "over"}, j.state, "two sessions of one custody")
			require.Nil(j.t, j.running)
			j.entry, j.lost = e.Entry, false
			j.goes("knocking")
		case effect.Grant:
			require.Equal(j.t, "open", j.state, "a program without a session")
			j.running = &e
			j.granted++
		case effect.SignOut:
			require.Equal(j.t, j.entry, e.Entry)
			switch j.state {
			case "knocking":
				j.goes("over")
			case "open":
				require.Nil(j.t, j.running, "the program runs on")
				j.goes("closing")
			}
		case effect.Lose:
			require.True(j.t, j.lost, "the session is open")
			require.NotNil(j.t, j.running)
			j.killed++
			j.lost = false
		case effect.Send:
			if m, ok := e.Message.(*wire.Transfer); ok {
				j.settles()
				require.Contains(j.t, []string{"", "over"}, j.state, "the token leaves before the session has ended")
				require.Nil(j.t, j.running)
				j.title.Genesis = j.v.minted(m.Genesis)
				j.title.Transfer = j.v.verified(m.Transfer, j.v.self, j.v.taker)
				j.passed++
			}
		}
	}
	require.False(j.t, j.lost, "the program goes on without its session")
	if j.state == "knocking" {
		require.Less(j.t, j.now()-j.since, 10*time.Second, "it waits for longer than the token may be kept")
	}
}

// settles: a sign-out that nobody has answered is over after its time.
func (j *gateJudge) settles() {
	if j.state == "closing" && j.now()-j.since >= 2*time.Second {
		j.goes("over")
		j.slow++
	}
}

// moves has the other member take the token, and give it back.
func (j *gateJudge) moves() {
	if j.v.offer != nil {
		j.v.accepts()
		j.looks()
	}
	if j.title.Transfer.IsZero() {
		return
	}
	title := j.title
	j.title = token.Title{}
	j.v.hear(j.v.taker, &wire.Receipt{Receipt: j.v.taker.answer(title.Transfer, token.Receipt)})
	j.looks()
	j.v.hear(j.v.taker, &wire.Offer{Token: title.Token(), Hop: title.Hop() + 1, Genesis: title.Genesis.Raw(), Signers: title.Signers()})
	j.looks()
	accept := said[*wire.Accept](j.v.box)
	if accept == nil { // it is busy with what has happened before
		return
	}
	j.v.hear(j.v.taker, j.v.taker.transfer(title, title.Next(j.v.ID(), accept.Reservation())))
	j.looks()
}
