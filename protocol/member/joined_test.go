package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/protocol/wire"
)

// News of a member travel on the next transfer and receipt, and only news do.
func TestJoin_Token_TravelsOnIt(t *testing.T) {
	a, b, peers := crowd(t)
	joiner := a.issue(9, 24*time.Hour)
	news := encoded(t, update.Join(joiner.certificate.Raw(), joiner.endpoint(5)))
	b.hear(peers[0], &wire.News{Updates: news})
	assert.Equal(t, []string{"a.example.org:1"}, b.Addresses(joiner.id()))
	pending := b.Status().UpdatesPending

	b.hear(peers[1], &wire.News{Updates: news})
	assert.Equal(t, pending, b.Status().UpdatesPending, "the second time it is no news")

	title := peers[0].mint(1)
	b.hear(peers[0], &wire.Offer{Token: title.Token(), Hop: 1, Genesis: title.Genesis.Raw(), Signers: title.Signers()})
	accept := said[*wire.Accept](b)
	require.NotNil(t, accept)
	b.hear(peers[0], peers[0].transfer(title, title.Next(b.ID(), accept.Reservation())))
	receipt := said[*wire.Receipt](b)
	require.NotNil(t, receipt)
	assert.Contains(t, receipt.Updates, news[0])
}

// Who was not known is told of at once, by a member that knows who is there; a
// new record of somebody who is known waits for a token.
func TestJoin_New_DisseminatedAtOnce(t *testing.T) {
	a, b, p := crowd(t)
	for _, peer := range p { // its directory is like theirs
		members, fingerprint := b.fingerprint()
		b.hear(peer, &wire.Gossip{Configuration: 1, Members: members, Fingerprint: fingerprint})
	}
	require.Equal(t, 3, b.Status().Snapshots)
	joiner := a.issue(9, 24*time.Hour)
	tell := func(sequence uint64) {
		b.hear(p[0], &wire.News{Updates: encoded(t, update.Join(joiner.certificate.Raw(), joiner.endpoint(sequence)))})
	}
	tell(5)
	assert.Len(t, messages[*wire.News](b, p[1].id()), 1)
	b.after(time.Minute)
	pending := b.Status().UpdatesPending
	tell(6)
	assert.Empty(t, messages[*wire.News](b, p[1].id()))
	assert.Equal(t, pending, b.Status().UpdatesPending, "the newer record is on the list in the place of the older")
}

// fingerprint is what the member says of its directory.
func (b *box) fingerprint() (uint64, wire.Fingerprint) {
	for range 100 {
		for _, e := range b.effects {
			if s, ok := e.(effect.Send); ok {
				if g, ok := s.Message.(*wire.Gossip); ok {
					return g.Members, g.Fingerprint
				}
			}
		}
		b.after(time.Second)
	}
	return 0, wire.Fingerprint{}
}

// Of an update that a peer has just said itself, the receipt says nothing.
func TestReceipt_Updates_NotEchoed(t *testing.T) {
	a, b, peers := crowd(t)
	joiner := a.issue(9, 24*time.Hour)
	news := encoded(t, update.Join(joiner.certificate.Raw(), joiner.endpoint(5)))
	title := peers[0].mint(1)
	b.hear(peers[0], &wire.Offer{Token: title.Token(), Hop: 1, Genesis: title.Genesis.Raw(), Signers: title.Signers()})
	accept := said[*wire.Accept](b)
	require.NotNil(t, accept)
	transfer := peers[0].transfer(title, title.Next(b.ID(), accept.Reservation()))
	transfer.Updates = news
	b.hear(peers[0], transfer)
	assert.NotEmpty(t, b.Addresses(joiner.id()))
	receipt := said[*wire.Receipt](b)
	require.NotNil(t, receipt)
	assert.NotContains(t, receipt.Updates, news[0])
}
