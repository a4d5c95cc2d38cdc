package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// A receiver that offers the very hop that it was sent, and then declines it,
// must not make the sender forget what it got back.
func TestOfferOfTheHopThatComesBack(t *testing.T) {
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
// asking one peer for ever.
func TestAcceptWithoutALifetime(t *testing.T) {
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
