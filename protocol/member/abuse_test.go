package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// A receiver that offers the very hop that it was sent, and then declines it,
// must not make the sender forget what it got back.
func TestOffer_HopComesBack_Accepted(t *testing.T) {
	a := newAuthority(t)
	me, evil := a.issue(1, 24*time.Hour), a.issue(2, 24*time.Hour)
	b := a.open(me, func(c *member.Config) { c.Found = true })
	b.meet(evil)
	b.after(time.Second)
	offer := said[*wire.Offer](b)
	require.NotNil(t, offer)
	b.hear(evil, &wire.Accept{Token: offer.Token, Hop: 1, Incarnation: evil.incarnation, Accept: 1, Lifetime: 30_000})
	b.after(time.Second)
	transfer := said[*wire.Transfer](b)
	require.NotNil(t, transfer)
	sent := b.verified(transfer.Transfer, me)

	b.hear(evil, &wire.Offer{Token: offer.Token, Hop: 1, Genesis: offer.Genesis, Signers: offer.Signers})
	b.hear(evil, &wire.Void{Void: evil.answer(sent, token.Void)})
	require.True(t, b.Holds(resource))
	b.step(member.Disconnected{Peer: evil.id()})
	for range 20 {
		b.after(time.Minute)
	}
	good := a.issue(3, 24*time.Hour)
	b.meet(good)
	var again *wire.Offer
	for range 20 {
		b.after(time.Second)
		if o := said[*wire.Offer](b); o != nil {
			again = o
		}
	}
	require.NotNil(t, again, "the token is still offered")
	assert.EqualValues(t, 2, again.Hop)
	b.checkpoint()
	b.restart()
	assert.True(t, b.Holds(resource), "and in the next checkpoint")
}

// An accept that is over when it arrives is none: it must not keep the holder
// asking one peer without end.
func TestAccept_NoLifetime_Ignored(t *testing.T) {
	a := newAuthority(t)
	me, evil, good := a.issue(1, 24*time.Hour), a.issue(2, 24*time.Hour), a.issue(3, 24*time.Hour)
	b := a.open(me, func(c *member.Config) { c.Found = true })
	b.meet(evil)
	b.after(time.Second)
	offer := said[*wire.Offer](b)
	require.NotNil(t, offer)
	b.step(member.Connected{Certificate: good.certificate})
	b.hear(good, good.hello())
	rounds := 0
	for ; offer != nil && rounds < 100; rounds++ {
		b.hear(evil, &wire.Accept{Token: offer.Token, Hop: 1, Incarnation: evil.incarnation, Accept: uint64(rounds) + 1, Lifetime: 0})
		offer = nil
		for _, e := range b.effects {
			if s, ok := e.(effect.Send); ok && s.To == evil.id() {
				if o, ok := s.Message.(*wire.Offer); ok {
					offer = o
				}
			}
		}
	}
	assert.Less(t, rounds, 10)
}

// What a peer says about itself is written to the journal, but not as often as
// it likes.
func TestFlood_EndpointRecords_Bounded(t *testing.T) {
	a := newAuthority(t)
	me, evil := a.issue(1, 24*time.Hour), a.issue(2, 24*time.Hour)
	b := a.open(me, nil)
	b.meet(evil)
	before := len(b.journal)
	for n := range uint64(100) {
		h := evil.hello()
		h.Endpoint = evil.endpoint(n + 1)
		b.hear(evil, h)
	}
	assert.Equal(t, 1, len(b.journal)-before)
	b.after(time.Hour)
	h := evil.hello()
	h.Endpoint = evil.endpoint(101)
	b.hear(evil, h)
	assert.Equal(t, 2, len(b.journal)-before, "and not seldom either")
	kept, _ := b.Endpoint(evil.id())
	b.checkpoint()
	b.restart()
	again, _ := b.Endpoint(evil.id())
	assert.Equal(t, kept, again)
	assert.Equal(t, evil.endpoint(101), again)
}

// Pages of a directory are read only when they were asked for.
func TestMembers_NotAskedFor_Ignored(t *testing.T) {
	a := newAuthority(t)
	me, evil, other := a.issue(1, 24*time.Hour), a.issue(2, 24*time.Hour), a.issue(3, 24*time.Hour)
	b := a.open(me, nil)
	b.meet(evil)
	page := func(s *someone) *wire.Members {
		return &wire.Members{Entries: []wire.Entry{{Certificate: s.certificate.Raw()}}}
	}
	knows := func(s *someone) bool {
		for k := range b.Members() {
			if k.Certificate.Member() == s.id() {
				return true
			}
		}
		return false
	}
	b.hear(evil, page(other))
	assert.False(t, knows(other))
	b.hear(evil, &wire.Gossip{Configuration: 1, Members: 3})
	require.Equal(t, wire.WantSummary, said[*wire.Want](b).Topic)
	b.hear(evil, page(other))
	assert.False(t, knows(other), "it was asked for a summary")
	b.hear(evil, &wire.Summary{Parts: []wire.Part{{Through: ident.LastMember(), Members: 3}}})
	require.Equal(t, wire.WantMembers, said[*wire.Want](b).Topic)
	b.hear(evil, page(other))
	assert.True(t, knows(other))
	assert.EqualValues(t, 2, b.Status().Rejected["not asked for"])
}

// The certificates that a token needs are kept as long as the token is here,
// whatever has become of those who signed.
func TestGenerator_Token_Remembered(t *testing.T) {
	a := newAuthority(t)
	me, maker := a.issue(1, 9*365*24*time.Hour), a.issue(2, 24*time.Hour)
	b := a.open(me, nil)
	b.meet(maker)
	title := maker.mint(1)
	b.hear(maker, &wire.Offer{Token: title.Token(), Hop: 1, Genesis: title.Genesis.Raw(), Signers: title.Signers()})
	accept := said[*wire.Accept](b)
	require.NotNil(t, accept)
	b.hear(maker, maker.transfer(title, title.Next(me.id(), accept.Reservation())))
	require.NotNil(t, said[*wire.Receipt](b))
	require.True(t, b.Holds(resource))
	b.step(member.Disconnected{Peer: maker.id()})
	b.after(400 * 24 * time.Hour)
	b.after(2 * time.Hour)
	b.checkpoint()
	b.restart()
	require.True(t, b.Holds(resource))
	good := a.issue(3, 9*365*24*time.Hour)
	b.meet(good)
	var offer *wire.Offer
	for range 5 { // from the second one on certificates come along
		b.after(time.Second)
		if o := said[*wire.Offer](b); o != nil {
			offer = o
		}
	}
	require.NotNil(t, offer)
	assert.Len(t, offer.Certificates, len(offer.Signers))
}

// Every greeting makes the member send again all that waits for the peer, and so
// a peer may not greet as often as it likes.
func TestFlood_Greetings_Bounded(t *testing.T) {
	a := newAuthority(t)
	me, evil := a.issue(1, 24*time.Hour), a.issue(2, 24*time.Hour)
	b := a.open(me, func(c *member.Config) { c.Found = true })
	b.meet(evil)
	b.after(time.Second)
	offer := said[*wire.Offer](b)
	require.NotNil(t, offer)
	b.hear(evil, &wire.Accept{Token: offer.Token, Hop: 1, Incarnation: evil.incarnation, Accept: 1, Lifetime: 30_000})
	b.after(time.Second)
	again := func(greetings int) (n int) {
		for range greetings {
			b.hear(evil, evil.hello())
			if said[*wire.Transfer](b) != nil {
				n++
			}
		}
		return n
	}
	assert.Less(t, again(1000), 20)
	b.after(time.Minute)
	assert.Equal(t, 3, again(3))
}
