package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/protocol/wire"
)

// What is said and kept for nothing.

// Who has shown that it knows a revocation is not told of it: a member that joins
// would tell everybody of all there ever were.
func TestRevocations_PeerBehind_Sent(t *testing.T) {
	a := newAuthority(t)
	b, gone := a.open(a.issue(1, time.Hour), nil), a.issue(9, time.Hour)
	old, lagging := a.issue(2, time.Hour), a.issue(3, time.Hour)
	for s, version := range map[*someone]uint64{old: 5, lagging: 4} {
		b.step(member.Connected{Certificate: s.certificate})
		hello := s.hello()
		hello.Revocations = version
		b.hear(s, hello)
	}
	b.step(member.Learn{Revocations: [][]byte{a.revoke(5, gone)}})
	assert.Empty(t, messages[*wire.Revocations](b, old.id()))
	assert.Len(t, messages[*wire.Revocations](b, lagging.id()), 1)
	b.step(member.Learn{Revocations: [][]byte{a.revoke(6, gone)}})
	assert.Len(t, messages[*wire.Revocations](b, old.id()), 1)
}

// Who refuses to talk lives, and is not dialled on and on to find out.
func TestSuspicion_Refusal_Ends(t *testing.T) {
	_, b, p := crowd(t)
	rude, dials := p[2].id(), 0
	b.step(member.Unreachable{Peer: rude, Silent: true})
	for range 600 {
		b.hear(p[0], &wire.Gossip{Configuration: 1, Answer: true})
		b.after(time.Second)
		if len(messages[*wire.Gossip](b, rude)) > 0 {
			dials++
			b.step(member.Unreachable{Peer: rude, Refused: true})
		}
	}
	assert.Less(t, dials, 25)
	assert.Zero(t, b.Status().Suspects)
}

// A transfer that is sent again and again to somebody who is not there uses up no
// news.
func TestUpdates_Absent_NotSpent(t *testing.T) {
	a := newAuthority(t)
	me, gone, peer := a.issue(1, 24*time.Hour), a.issue(2, 24*time.Hour), a.issue(3, 24*time.Hour)
	b := a.open(me, func(c *member.Config) { c.Found = true })
	b.meet(gone)
	b.after(time.Second)
	offer := said[*wire.Offer](b)
	require.NotNil(t, offer)
	b.hear(gone, &wire.Accept{Token: offer.Token, Hop: 1, Incarnation: gone.incarnation, Accept: 1, Lifetime: 30_000})
	b.after(time.Second)
	require.NotNil(t, said[*wire.Transfer](b))
	b.step(member.Disconnected{Peer: gone.id()})
	b.meet(peer)
	joiner := a.issue(9, 24*time.Hour)
	b.hear(peer, &wire.News{Updates: encoded(t, update.Join(joiner.certificate.Raw(), joiner.endpoint(5)))})
	pending := b.Status().UpdatesPending
	require.Positive(t, pending)
	again := 0
	for range 60 {
		b.after(10 * time.Second)
		again += len(messages[*wire.Transfer](b, gone.id()))
	}
	require.Greater(t, again, 5)
	assert.Equal(t, pending, b.Status().UpdatesPending)
}

// A member that knows a sample takes in of what it hears unasked only what the
// sample wants.
func TestSample_LargeGroup_Small(t *testing.T) {
	a := newAuthority(t)
	b := a.open(a.issue(201, 24*time.Hour), func(c *member.Config) { c.Sample = 4 })
	peer := a.issue(202, 24*time.Hour)
	b.meet(peer)
	list := a.strangers(200)
	for i, s := range list {
		w := list[(i+1)%len(list)]
		b.now.Boot = b.now.Boot.Add(time.Second)
		b.hear(peer, &wire.News{Updates: encoded(t,
			update.Join(s.certificate.Raw(), s.endpoint(1)),
			update.Failure(peer.failure(s.id(), 1), peer.certificate.Raw()),
			update.Leave(w.leave(), w.certificate.Raw()),
		)})
	}
	assert.Greater(t, len(b.IDs()), 4)
	assert.Less(t, len(b.IDs()), 80)
}

// A peer that tells of something by a CA key that is not known here yet tells no
// lie, and what it tells besides counts.
func TestUpdates_NewKey_OthersNotHidden(t *testing.T) {
	a := newAuthority(t)
	b, peer := a.open(a.issue(1, 24*time.Hour), nil), a.issue(2, 24*time.Hour)
	b.meet(peer)
	gone, joiner := a.issue(7, 24*time.Hour), a.issue(8, 24*time.Hour)
	revocation := a.revoke(2, gone)
	a.key = keyOf(t, 254)
	early := a.issue(9, 24*time.Hour)
	b.hear(peer, &wire.News{Updates: encoded(t,
		update.Join(early.certificate.Raw(), early.endpoint(1)),
		update.Join(joiner.certificate.Raw(), joiner.endpoint(1)),
	)})
	assert.NotEmpty(t, b.Addresses(joiner.id()))
	b.hear(peer, &wire.Revocations{Revocations: [][]byte{a.revoke(1, early), revocation}})
	_, revoked := b.Revocation(gone.id())
	assert.True(t, revoked)
	assert.Empty(t, b.Status().Faults)
}

// A shorter gossip_interval counts at once, not when the longer one is over.
func TestMinInterval_Shorter_AtOnce(t *testing.T) {
	a, b, p := crowd(t)
	s := settings(2, quick)
	s.GossipInterval = time.Hour
	slow, err := s.Sign(a.group.ID(), a.key)
	require.NoError(t, err)
	b.step(member.Learn{Configuration: slow.Raw()})
	for _, o := range p {
		b.hear(o, &wire.Gossip{Configuration: 2, Answer: true})
	}
	for range 10 {
		b.after(10 * time.Minute)
	}
	before := b.Status().GossipExchanges
	s.Version, s.GossipInterval = 3, 5*time.Second
	fast, err := s.Sign(a.group.ID(), a.key)
	require.NoError(t, err)
	b.step(member.Learn{Configuration: fast.Raw()})
	b.ticksIn(20 * time.Second)
	assert.Greater(t, b.Status().GossipExchanges, before)
}
