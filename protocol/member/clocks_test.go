package member_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/policytest"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// maker drops whatever comes, and makes a token when somebody wants to run.
type maker struct{ policytest.Untimed }

func (maker) Step(_ clock.Instant, e policy.Event, actions []policy.Action) []policy.Action {
	switch {
	case e.Kind == policy.Arrival:
		return append(actions, policy.Action{Kind: policy.Drop, Reason: policy.Superseded, Token: e.Token.ID})
	case e.Kind == policy.DemandChanged && e.Demand:
		return append(actions, policy.Action{Kind: policy.Generate})
	case e.Kind == policy.Generated:
		return append(actions, policy.Action{Kind: policy.Run, Token: e.Token.ID})
	case e.Kind == policy.OperationEnded:
		return append(actions, policy.Action{Kind: policy.Drop, Reason: policy.Spent, Token: e.Token.ID})
	}
	return actions
}

// making is a member with such a policy.
func (a *authority) making(s *someone) *box {
	return a.open(s, func(c *member.Config) {
		c.SetPolicies(func(policy.Surroundings) policy.Policy { return maker{} })
	})
}

// makes lets the member make a token, run under it and drop it. It returns the genesis
// time, by the journal, and the fence of the program.
func (b *box) makes() (born, fence uint64) {
	b.t.Helper()
	request := rand.Uint64()
	b.step(member.Demand{Request: request, Resource: resource})
	g := granted(b)
	require.NotNil(b.t, g)
	for _, r := range b.journal {
		if made, ok := r.Record.(*journal.Generated); ok {
			body, _, err := token.PeekGenesis(b.cfg.Group.ID(), made.Genesis)
			require.NoError(b.t, err)
			born = body.Time
		}
	}
	b.step(member.Ended{Grant: g.Grant, Operated: true})
	return born, g.Fence
}

// gets hands the member a token of a peer that was made so long after the beginning.
func (b *box) gets(s *someone, sequence uint64, after time.Duration) {
	b.t.Helper()
	g, err := token.GenesisBody{
		Resource: resource, Generator: s.id(), Incarnation: s.incarnation, Sequence: sequence,
		Time: uint64(began.Add(after).UnixMilli()),
	}.Sign(s.group, s.key)
	require.NoError(b.t, err)
	title := token.Title{Genesis: g}
	b.hear(s, &wire.Offer{Token: g.ID(), Hop: 1, Genesis: g.Raw(), Signers: []ident.Member{s.id()}})
	accept := said[*wire.Accept](b)
	require.NotNil(b.t, accept)
	b.hear(s, s.transfer(title, title.Next(b.id(), accept.Reservation())))
	require.NotNil(b.t, said[*wire.Receipt](b))
}

func (b *box) id() ident.Member { return b.cfg.Certificate.Member() }

func millis(after time.Duration) uint64 { return uint64(began.Add(after).UnixMilli()) }

// greets is a HELLO of a clock that is wrong.
func (s *someone) greets(b *box, wrong time.Duration) {
	b.step(member.Connected{Certificate: s.certificate})
	hello := s.hello()
	hello.Time = uint64(b.now.Wall.Add(wrong).UnixMilli())
	b.hear(s, hello)
}

func TestGenesis_EarlierTokenKnown_LaterTime(t *testing.T) {
	a := newAuthority(t)
	b, peer := a.making(a.issue(1, 72*time.Hour)), a.issue(2, 72*time.Hour)
	peer.greets(b, 0)
	born, fence := b.makes()
	assert.Equal(t, millis(0), born)
	assert.Equal(t, token.Fence(born, 0), fence)

	b.gets(peer, 1, 2*time.Hour) // of a fast clock
	b.gets(peer, 2, time.Hour)
	later, fence := b.makes()
	assert.Equal(t, millis(2*time.Hour)+1, later)
	assert.Equal(t, token.Fence(later, 0), fence)
	again, _ := b.makes()
	assert.Equal(t, later+1, again, "within the same instant")

	b.after(5 * time.Hour)
	born, _ = b.makes()
	assert.Equal(t, millis(5*time.Hour), born, "the clock is later than all that is known")
}

// However many earlier tokens come after it, and also after a checkpoint.
func TestGenesis_AfterRestart_LaterTime(t *testing.T) {
	a := newAuthority(t)
	b, peer := a.making(a.issue(1, 72*time.Hour)), a.issue(2, 72*time.Hour)
	peer.greets(b, 0)
	b.gets(peer, 1, 2*time.Hour)
	for sequence := range uint64(40) {
		b.gets(peer, 2+sequence, time.Minute)
	}
	b.restart()
	peer.greets(b, 0)
	b.checkpoint()
	b.restart()
	peer.greets(b, 0)
	born, _ := b.makes()
	assert.Equal(t, millis(2*time.Hour)+1, born)
}

// The middle one of the clocks counts, the lower one of two; a clock that the machine
// shows later changes nothing of those of the others.
func TestGenesis_WrongClock_TimeOfMost(t *testing.T) {
	const year = 365 * 24 * time.Hour
	for name, c := range map[string]struct {
		own   time.Duration
		peers []time.Duration
		want  time.Duration
	}{
		"alone":        {year, nil, year},
		"fast, of two": {year, []time.Duration{0}, 0},
		"slow, of two": {-time.Minute, []time.Duration{0}, -time.Minute},
		"of three":     {year, []time.Duration{0, time.Second}, time.Second},
		"a fast peer":  {0, []time.Duration{year}, 0},
		"fast peers":   {0, []time.Duration{year, year, 0}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAuthority(t)
			b := a.making(a.issue(1, 2*year))
			for i, wrong := range c.peers {
				a.issue(byte(2+i), 2*year).greets(b, wrong)
			}
			b.now.Wall = b.now.Wall.Add(c.own)
			born, _ := b.makes()
			assert.Equal(t, millis(c.want), born)
		})
	}
}

// A token so far in the future that nobody would take the next one does not count.
func TestGenesis_EarlierTokenOfFarFuture_NotCounted(t *testing.T) {
	a := newAuthority(t)
	b, peer := a.making(a.issue(1, 72*time.Hour)), a.issue(2, 72*time.Hour)
	b.now.Wall = began.Add(3 * time.Hour)
	peer.greets(b, 0)
	b.gets(peer, 1, 26*time.Hour) // the allowance is a day
	b.now.Wall = began.Add(time.Hour)
	peer.greets(b, 0)
	born, _ := b.makes()
	assert.Equal(t, millis(time.Hour), born)
}

// TestClockAhead_WrongClockOfAPeer_Clamped: a peer may say any time.
func TestClockAhead_WrongClockOfAPeer_Clamped(t *testing.T) {
	const most = clock.Instant(1<<63-1) / 1e6 * 1e6
	for wrong, want := range map[uint64]time.Duration{0: began.Sub(time.UnixMilli(0)), 1<<64 - 1: -time.Duration(most)} {
		a := newAuthority(t)
		me, peer := a.issue(1, 24*time.Hour), a.issue(2, 24*time.Hour)
		b := a.making(me)
		hello := peer.hello()
		hello.Time = wrong
		b.step(member.Connected{Certificate: peer.certificate})
		b.hear(peer, hello)
		assert.Equal(t, want, b.Status().ClockAhead)
	}
}

// TestStatus_Ends_WhenTheProgramIsKilled: before the deadline by what the kill may take, as long as it has not begun.
func TestStatus_Ends_WhenTheProgramIsKilled(t *testing.T) {
	a := newAuthority(t)
	b := a.making(a.issue(1, 24*time.Hour))
	b.step(member.Demand{Request: 1, Resource: resource})
	g := granted(b)
	require.NotNil(t, g)
	s := b.Status().Slots[0]
	require.True(t, s.Executing)
	assert.Equal(t, b.now.Boot.Add(g.Length), s.Ends)
	b.after(g.Length)
	assert.Equal(t, b.now.Boot.Add(250*time.Millisecond), b.Status().Slots[0].Ends, "the kill takes a while")
}
