package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// TestStopping_Holds_PassesOn: H-37 of spec/protocol.md. It is done when
// its token is elsewhere and the receipt is here.
func TestStopping_Holds_PassesOn(t *testing.T) {
	a := newAuthority(t)
	me, peer := a.issue(1, 24*time.Hour), a.issue(2, 24*time.Hour)
	b := a.open(me, func(c *member.Config) { c.Found = true })
	assert.False(t, b.Idle(), "nobody has told it to stop")
	b.step(member.Shutdown{})
	assert.False(t, b.Idle(), "it holds a token")
	b.step(member.Connected{Certificate: peer.certificate})
	b.hear(peer, peer.hello())
	offer := said[*wire.Offer](b)
	require.NotNil(t, offer)
	b.hear(peer, &wire.Offer{Token: offer.Token, Hop: 7, Genesis: offer.Genesis, Signers: offer.Signers})
	assert.Equal(t, wire.RefuseStopping, said[*wire.Refuse](b).Reason)
	b.hear(peer, &wire.Accept{Token: offer.Token, Hop: 1, Incarnation: peer.incarnation, Accept: 1, Lifetime: 30000})
	transfer := said[*wire.Transfer](b)
	require.NotNil(t, transfer)
	assert.False(t, b.Idle(), "the answer is due")
	b.hear(peer, &wire.Receipt{Receipt: peer.answer(b.verified(transfer.Transfer, me), token.Receipt)})
	assert.True(t, b.Idle())
}

// TestStopping_AcceptGiven_TakenBack: H-37. Who was told that there is room is told
// that there is none any more, and a token that comes all the same is declined.
func TestStopping_AcceptGiven_TakenBack(t *testing.T) {
	a := newAuthority(t)
	maker := a.issue(2, 24*time.Hour)
	b := a.open(a.issue(1, 24*time.Hour), nil)
	b.meet(maker)
	title := maker.mint(1)
	b.hear(maker, &wire.Offer{Token: title.Token(), Hop: 1, Genesis: title.Genesis.Raw(), Signers: title.Signers()})
	accept := said[*wire.Accept](b)
	require.NotNil(t, accept)
	b.step(member.Shutdown{})
	refuse := said[*wire.Refuse](b)
	require.NotNil(t, refuse)
	assert.Equal(t, &wire.Refuse{Token: title.Token(), Hop: 1, Reason: wire.RefuseStopping}, refuse)
	b.hear(maker, maker.transfer(title, title.Next(b.ID(), accept.Reservation())))
	assert.NotNil(t, said[*wire.Void](b))
	assert.False(t, b.Holds(resource))
	assert.True(t, b.Idle())
}
