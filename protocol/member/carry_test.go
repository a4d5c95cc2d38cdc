package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/protocol/wire"
)

// gives hands b a token with these updates, and returns the receipt.
func (s *someone) gives(b *box, sequence uint64, updates ...[]byte) *wire.Receipt {
	s.t.Helper()
	title := s.mint(sequence)
	b.hear(s, &wire.Offer{Token: title.Token(), Hop: 1, Genesis: title.Genesis.Raw(), Signers: title.Signers()})
	accept := said[*wire.Accept](b)
	require.NotNil(s.t, accept)
	transfer := s.transfer(title, title.Next(b.ID(), accept.Reservation()))
	transfer.Updates = updates
	b.hear(s, transfer)
	receipt := said[*wire.Receipt](b)
	require.NotNil(s.t, receipt)
	return receipt
}

// How old a token is counts where it is offered by its generator (H-41), and nowhere else.
func TestAge_LaterHop_NotCounted(t *testing.T) {
	a := newAuthority(t)
	b, maker, holder := a.open(a.issue(1, 72*time.Hour), nil), a.issue(2, 72*time.Hour), a.issue(3, 72*time.Hour)
	b.meet(maker)
	b.meet(holder)
	b.after(25 * time.Hour) // the clock allowance is a day
	title := maker.mint(1)
	b.hear(maker, &wire.Offer{Token: title.Token(), Hop: 1, Genesis: title.Genesis.Raw(), Signers: title.Signers()})
	require.NotNil(t, said[*wire.Refuse](b))
	assert.Equal(t, wire.RefuseClock, said[*wire.Refuse](b).Reason)

	first, err := title.Next(holder.id(), ident.Reservation{Incarnation: holder.incarnation, Number: 1}).Sign(maker.group, maker.key)
	require.NoError(t, err)
	title.Transfer = first
	b.hear(holder, &wire.Offer{Token: title.Token(), Hop: 2, Genesis: title.Genesis.Raw(), Signers: title.Signers()})
	accept := said[*wire.Accept](b)
	require.NotNil(t, accept)
	b.hear(holder, holder.transfer(title, title.Next(b.ID(), accept.Reservation())))
	assert.NotNil(t, said[*wire.Receipt](b))
}

// A receipt tells the sender of the token what its receiver has heard.
func TestUpdates_OnReceipt_Taken(t *testing.T) {
	a := newAuthority(t)
	b, peer, joiner := a.open(a.issue(1, 24*time.Hour), func(c *member.Config) { c.Found = true }), a.issue(2, 24*time.Hour), a.issue(9, 24*time.Hour)
	b.meet(peer)
	var offer *wire.Offer
	for n := 0; offer == nil && n < 20; n++ {
		b.after(time.Second)
		offer = said[*wire.Offer](b)
	}
	require.NotNil(t, offer)
	b.hear(peer, &wire.Accept{Token: offer.Token, Hop: offer.Hop, Incarnation: peer.incarnation, Accept: 1, Lifetime: 60000})
	sent := said[*wire.Transfer](b)
	require.NotNil(t, sent)
	receipt := &wire.Receipt{Updates: encoded(t, update.Join(joiner.certificate.Raw(), joiner.endpoint(1)))}
	receipt.Receipt = peer.answer(b.verified(sent.Transfer, &someone{certificate: b.cfg.Certificate, key: b.cfg.Key}), token.Receipt)
	b.hear(peer, receipt)
	assert.NotEmpty(t, b.Addresses(joiner.id()))
}

// No message carries more than update_capacity, and each update goes along with
// a limited number of messages. What is known after that is no news again.
func TestUpdates_Repeated_FewAndSeldom(t *testing.T) {
	a := newAuthority(t)
	const capacity = 3
	set := settings(2, quick)
	set.UpdateCapacity = capacity
	signed, err := set.Sign(a.group.ID(), a.key)
	require.NoError(t, err)
	b, peer := a.open(a.issue(1, 24*time.Hour), nil), a.issue(2, 24*time.Hour)
	b.step(member.Learn{Configuration: signed.Raw()})
	b.meet(peer)
	var joined []*someone
	for n := byte(10); n < 15; n++ {
		j := a.issue(n, 24*time.Hour)
		joined = append(joined, j)
		b.hear(peer, &wire.News{Updates: encoded(t, update.Join(j.certificate.Raw(), j.endpoint(5)))})
	}
	times := make(map[string]int)
	for n := uint64(1); b.Status().UpdatesPending > 0; n++ {
		require.Less(t, n, uint64(40))
		told := peer.gives(b, n).Updates
		assert.LessOrEqual(t, len(told), capacity)
		for _, raw := range told {
			times[string(raw)]++
		}
	}
	for _, j := range joined {
		raw := encoded(t, update.Join(j.certificate.Raw(), j.endpoint(5)))[0]
		assert.Equal(t, update.Times(len(joined)+2), times[string(raw)])
	}
	b.after(time.Hour)
	for _, j := range joined {
		b.hear(peer, &wire.News{Updates: encoded(t, update.Join(j.certificate.Raw(), j.endpoint(5)), update.Join(j.certificate.Raw(), j.endpoint(4)))})
	}
	assert.Zero(t, b.Status().UpdatesPending, "neither what is known nor what is older is news")
}

// A revocation that the operator's files, or the CA, tell travels on tokens, too.
func TestRevocation_Token_TravelsOnIt(t *testing.T) {
	a := newAuthority(t)
	b, peer, bad := a.open(a.issue(1, 24*time.Hour), nil), a.issue(2, 24*time.Hour), a.issue(3, 24*time.Hour)
	b.meet(peer)
	raw := a.revoke(1, bad)
	b.step(member.Learn{Revocations: [][]byte{raw}})
	assert.Contains(t, peer.gives(b, 1).Updates, encoded(t, update.Revocation(raw))[0])
}
