package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/wandering"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

const (
	allowance = 24 * time.Hour
	longLife  = 90 * allowance // of a certificate
)

// elderly is a member, another one with a token, and the one that made it.
type elderly struct {
	*box
	maker, holder *someone
}

func newElderly(t *testing.T) *elderly {
	a := newAuthority(t)
	e := &elderly{box: a.open(a.issue(1, longLife), nil), maker: a.issue(2, longLife), holder: a.issue(3, longLife)}
	e.meet(e.maker)
	e.meet(e.holder)
	return e
}

// title is that of the holder, for the custody of a hop of a token that was made some
// time after the start of the test.
func (e *elderly) title(made time.Duration, hop uint64) token.Title {
	g, err := token.GenesisBody{
		Resource: resource, Generator: e.maker.id(), Incarnation: e.maker.incarnation, Sequence: 1,
		Time: uint64(began.Add(made).UnixMilli()),
	}.Sign(e.maker.group, e.maker.key)
	require.NoError(e.t, err)
	body := token.Title{Genesis: g}.Next(e.holder.id(), ident.Reservation{Incarnation: e.holder.incarnation, Number: 1})
	if body.Hop = hop; hop > 1 {
		body.Previous = ident.Hash{1}
	}
	signed, err := body.Sign(e.maker.group, e.maker.key)
	require.NoError(e.t, err)
	return token.Title{Genesis: g, Transfer: signed}
}

// offered is why an offer of the next hop is refused; 0 if it is accepted.
func (e *elderly) offered(title token.Title) wire.Refusal {
	e.hear(e.holder, &wire.Offer{
		Token: title.Token(), Hop: title.Hop() + 1, Genesis: title.Genesis.Raw(),
		Signers: []ident.Member{e.maker.id(), e.holder.id()},
	})
	if r := said[*wire.Refuse](e.box); r != nil {
		return r.Reason
	}
	require.NotNil(e.t, said[*wire.Accept](e.box))
	return 0
}

// Two members can sign a genesis of any time and a transfer of any hop. They cannot bring it
// to an honest member if it could not be passed on from there, or is of the future (H-41).
func TestOffer_AgeOrHopImpossible_Refused(t *testing.T) {
	const free = 1 << 20
	anHour := uint64(time.Hour.Milliseconds())
	allowed := free + uint64(allowance.Milliseconds())
	for name, c := range map[string]struct {
		made time.Duration // before now
		hop  uint64
		want wire.Refusal
	}{
		"the last possible hop":   {0, allowed, 0},
		"one hop too many":        {0, allowed + 1, wire.RefuseHop},
		"older, with more hops":   {time.Hour, allowed + anHour, 0},
		"older, with too many":    {time.Hour, allowed + anHour + 1, wire.RefuseHop},
		"the highest hop":         {time.Hour, ident.MaxHop, wire.RefuseHop},
		"of 1970":                 {began.Sub(time.Unix(0, 0)), 2, 0},
		"of 1970, with many hops": {began.Sub(time.Unix(0, 0)), 1 << 42, wire.RefuseHop},
		"ahead of a fast clock":   {-2 * allowance, 2, 0},
		"ahead of any clock":      {-2*allowance - time.Millisecond, 2, wire.RefuseClock},
		"of the year 2100, later": {-75 * 365 * allowance, 1 << 30, wire.RefuseClock},
	} {
		t.Run(name, func(t *testing.T) {
			e := newElderly(t)
			assert.Equal(t, c.want, e.offered(e.title(-c.made, c.hop-1)))
		})
	}
}

// A member with a slow clock is not left without tokens: where it greeted others, it goes by
// their clocks.
func TestOffer_OwnClockSlow_Accepted(t *testing.T) {
	e := newElderly(t)
	e.after(5 * allowance)
	e.now.Wall = e.now.Wall.Add(-3 * allowance)
	assert.Equal(t, wire.RefuseClock, e.offered(e.title(5*allowance, 1)))
	for _, s := range []*someone{e.maker, e.holder} {
		s.greets(e.box, 3*allowance)
	}
	assert.Zero(t, e.offered(e.title(5*allowance, 1)))
}

// TestOffer_GeneratorBackedOffFrom_Refused: P-69. A member that has got a token from its maker while
// another one was here takes no other one from that member, for a while. It takes those that
// others have had.
func TestOffer_GeneratorBackedOffFrom_Refused(t *testing.T) {
	a := newAuthority(t)
	c := &change{self: a.issue(1, longLife), peer: a.issue(2, longLife), maker: a.issue(3, longLife)}
	c.box = a.open(c.self, nil)
	c.reconfigure(a, 2, catalog.Wandering, policy.Params{Preset: wandering.Fair, OperationTime: time.Second, MembersMax: 10, SkipDelay: 10 * time.Millisecond})
	c.meet(c.peer)
	c.meet(c.maker)
	offers := func(sequence uint64) wire.Refusal {
		title := c.maker.mint(sequence)
		c.hear(c.maker, &wire.Offer{Token: title.Token(), Hop: 1, Genesis: title.Genesis.Raw(), Signers: title.Signers()})
		if r := said[*wire.Refuse](c.box); r != nil {
			return r.Reason
		}
		return 0
	}
	c.comes(1)
	require.Zero(t, offers(2))
	title := c.maker.mint(2)
	c.hear(c.maker, c.maker.transfer(title, title.Next(c.self.id(), said[*wire.Accept](c.box).Reservation())))
	require.Equal(t, wire.RefuseNewborn, offers(3))
	c.after(time.Hour)
	assert.Zero(t, offers(4))
}

// TestOffer_Newborn_PolicyToldIfAccepted: P-69, 7. The policy learns which newborn token was accepted, of the member that has made
// it and offers it. Another one that has seen the genesis has nothing spent that is for that member.
func TestOffer_Newborn_PolicyToldIfAccepted(t *testing.T) {
	for name, c := range map[string]struct {
		hop   uint64
		maker bool // offers it
		ahead time.Duration
		told  int
	}{
		"newborn":                {1, true, 0, 2},
		"newborn, by another":    {1, false, 0, 0},
		"newborn, and refused":   {1, true, 2 * allowance, 0},
		"with a hop before this": {2, true, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAuthority(t)
			m := a.marionette(a.issue(1, longLife), nil)
			maker, other := a.issue(2, longLife), a.issue(3, longLife)
			m.meet(maker)
			m.meet(other)
			m.puppet.events = nil
			from := maker
			if !c.maker {
				from = other
			}
			m.now.Wall = m.now.Wall.Add(-c.ahead)
			title := maker.mint(1)
			for range 2 { // it is offered once more
				m.hear(from, &wire.Offer{Token: title.Token(), Hop: c.hop, Genesis: title.Genesis.Raw(), Signers: title.Signers()})
			}
			var told []policy.Event
			for _, e := range m.puppet.events {
				if e.Kind == policy.Accepted {
					told = append(told, e)
				}
			}
			require.Len(t, told, c.told)
			for _, e := range told {
				assert.Equal(t, maker.id(), e.From)
				assert.Equal(t, policy.Token{ID: title.Token(), Born: title.Genesis.Body().Time, Generator: maker.id()}, e.Token)
			}
		})
	}
}
