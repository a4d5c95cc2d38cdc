package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// passes has a peer hand over a token that it may or may not have.
func (s *someone) passes(b *box, title token.Title, hop uint64) {
	s.t.Helper()
	b.hear(s, &wire.Offer{
		Token: title.Token(), Hop: hop, Genesis: title.Genesis.Raw(), Signers: append(title.Signers(), s.id()),
	})
	accept := said[*wire.Accept](b)
	require.NotNil(s.t, accept)
	b.hear(s, s.transfer(title, title.Next(b.ID(), accept.Incarnation, accept.Accept)))
	require.NotNil(s.t, said[*wire.Receipt](b))
}

// dropped are the custodies that the last step has dropped.
func (b *box) dropped() (list []*journal.Dropped) {
	for _, e := range b.effects {
		if p, ok := e.(effect.Persist); ok {
			if d, ok := p.Record.(*journal.Dropped); ok {
				list = append(list, d)
			}
		}
	}
	return list
}

// TestForkEndsWhereItsChainsMeet (H-30): a token that a liar has passed to two comes to
// one of them a second time. The first custody stays, with the program that runs
// under it, over a checkpoint and a restart, too; the second is dropped at once.
func TestForkEndsWhereItsChainsMeet(t *testing.T) {
	a := newAuthority(t)
	b, liar, other := a.open(a.issue(1, 24*time.Hour), nil), a.issue(2, 24*time.Hour), a.issue(3, 24*time.Hour)
	b.meet(liar)
	b.meet(other)
	title := liar.mint(1)
	body := title.Next(other.id(), other.incarnation, 7)
	signed, err := body.Sign(liar.group, liar.key)
	require.NoError(t, err)

	b.step(member.Demand{Request: 1, Resource: resource, MaxHold: time.Minute})
	liar.passes(b, title, 1)
	b.after(time.Second)
	require.True(t, b.Status().Slots[0].Executing)

	other.passes(b, token.Title{Genesis: title.Genesis, Transfer: signed}, 2)
	require.Len(t, b.dropped(), 1)
	assert.EqualValues(t, 2, b.dropped()[0].Hop)
	assert.EqualValues(t, policy.Forked, b.dropped()[0].Reason)
	assert.EqualValues(t, 1, b.Status().Slots[0].Hop)
	assert.True(t, b.Status().Slots[0].Executing)

	b.checkpoint()
	b.restart()
	assert.EqualValues(t, 1, b.Status().Slots[0].Hop)
	assert.True(t, b.Status().Slots[0].Executing)
}

// A crash between the custody and its end changes nothing.
func TestForkEndsAfterARestart(t *testing.T) {
	a := newAuthority(t)
	b, liar, other := a.open(a.issue(1, 24*time.Hour), nil), a.issue(2, 24*time.Hour), a.issue(3, 24*time.Hour)
	b.meet(liar)
	b.meet(other)
	title := liar.mint(1)
	signed, err := title.Next(other.id(), other.incarnation, 7).Sign(liar.group, liar.key)
	require.NoError(t, err)
	other.passes(b, token.Title{Genesis: title.Genesis, Transfer: signed}, 2)
	b.step(member.Demand{Request: 1, Resource: resource, MaxHold: time.Minute})
	b.after(time.Second)
	require.True(t, b.Status().Slots[0].Executing)
	liar.passes(b, title, 1)
	require.Len(t, b.dropped(), 1)

	for i, r := range b.journal {
		if _, ok := r.Record.(*journal.Dropped); ok {
			b.journal = b.journal[:i:i]
			break
		}
	}
	b.restart()
	require.Len(t, b.dropped(), 1)
	assert.EqualValues(t, 1, b.dropped()[0].Hop, "no program runs under this one")
	assert.EqualValues(t, 2, b.Status().Slots[0].Hop)
	assert.True(t, b.Status().Slots[0].Executing)
}
