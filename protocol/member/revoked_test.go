package member_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/wire"
)

// nothingGoesTo revokes somebody and looks on for an hour and a half.
func (b *box) nothingGoesTo(a *authority, bad *someone) {
	b.t.Helper()
	b.step(member.Learn{Revocations: [][]byte{a.revoke(1, bad)}})
	require.NotEmpty(b.t, expelled(b))
	for range 100 {
		b.after(time.Minute)
		for _, e := range b.effects {
			if s, ok := e.(effect.Send); ok {
				require.NotEqual(b.t, bad.id(), s.To, "%T", s.Message)
			}
		}
	}
}

// Nobody talks to a member that was revoked, not even about a transfer that it was
// sent before and has not answered.
func TestRevoked_Peer_AskedNothing(t *testing.T) {
	a := newAuthority(t)
	b, bad := a.open(a.issue(1, 24*time.Hour), func(c *member.Config) { c.Found = true }), a.issue(2, 24*time.Hour)
	b.step(member.Announce{Addresses: []string{"self.example.org:1"}})
	b.meet(bad)
	b.step(member.Learn{Endpoints: [][]byte{bad.endpoint(1)}})
	var offer *wire.Offer
	for n := 0; offer == nil && n < 20; n++ {
		b.after(time.Second)
		offer = said[*wire.Offer](b)
	}
	require.NotNil(t, offer)
	b.hear(bad, &wire.Accept{Token: offer.Token, Hop: offer.Hop, Incarnation: bad.incarnation, Accept: 1, Lifetime: 60000})
	require.NotNil(t, said[*wire.Transfer](b))
	b.after(10 * time.Second)
	require.NotNil(t, said[*wire.Transfer](b), "until then it is asked again")
	b.nothingGoesTo(a, bad)
}

// A member that only dials out calls those back that may wait for its answer, but
// not one that was revoked. What that one has signed before is taken all the same.
func TestRevoked_Peer_NotCalledBack(t *testing.T) {
	a := newAuthority(t)
	b, bad := a.open(a.issue(1, 24*time.Hour), nil), a.issue(2, 24*time.Hour)
	b.step(member.Announce{})
	b.meet(bad)
	b.step(member.Learn{Endpoints: [][]byte{bad.endpoint(1)}})
	title := bad.mint(1)
	b.hear(bad, &wire.Offer{Token: title.Token(), Hop: 1, Genesis: title.Genesis.Raw(), Signers: title.Signers()})
	accept := said[*wire.Accept](b)
	require.NotNil(t, accept)
	b.hear(bad, bad.transfer(title, title.Next(b.ID(), accept.Reservation())))
	require.NotNil(t, said[*wire.Receipt](b))
	b.nothingGoesTo(a, bad)
	assert.True(t, b.Status().Slots[0].Held, "the token stays")
}

// A gate hears of a long list in parts: each says up to where it goes.
func TestRevocationsAbove_Many_InParts(t *testing.T) {
	a := newAuthority(t)
	b := a.open(a.issue(1, 24*time.Hour), nil)
	for n := range byte(5) {
		b.step(member.Learn{Revocations: [][]byte{a.revoke(uint64(n+1), a.issue(n+10, 24*time.Hour))}})
	}
	above, all := uint64(0), 0
	for _, want := range []uint64{2, 4, 5, 5} {
		upTo, list := member.RevocationsAbove(b.Member, above, 2)
		assert.Equal(t, want, upTo)
		above, all = upTo, all+len(list)
	}
	assert.Equal(t, 5, all)
	upTo, list := member.RevocationsAbove(b.Member, math.MaxUint64, 2)
	assert.Equal(t, uint64(5), upTo)
	assert.Empty(t, list)
}
