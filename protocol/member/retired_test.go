package member_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/wire"
)

// rotate hands a member a new CA key, and retires the old one.
func (a *authority) rotate(b *box) {
	a.t.Helper()
	next := keyOf(a.t, 254)
	statement, err := group.Statement{
		Version: 2, Name: "test", Group: a.group.ID(), Key: next.Public().Bytes(),
		NotBefore: began.Add(-time.Hour), NotAfter: began.Add(10 * 365 * 24 * time.Hour),
	}.Sign(a.key)
	require.NoError(a.t, err)
	c, err := settings(2, quick).Sign(a.group.ID(), next)
	require.NoError(a.t, err)
	b.step(member.Learn{Configuration: c.Raw(), Authorities: [][]byte{statement.Raw()}})
	require.EqualValues(a.t, 2, b.Settings().Version)
	a.key = next
}

// A token outlives the CA key that has certified those who signed it: it is
// still here after a restart.
func TestToken_SignersKeyRetired_Lives(t *testing.T) {
	a := newAuthority(t)
	me, maker := a.issue(1, 24*time.Hour), a.issue(2, 24*time.Hour)
	b := a.open(me, nil)
	b.meet(maker)
	title := maker.mint(1)
	b.hear(maker, &wire.Offer{Token: title.Token(), Hop: 1, Genesis: title.Genesis.Raw(), Signers: title.Signers()})
	accept := said[*wire.Accept](b)
	require.NotNil(t, accept)
	b.hear(maker, maker.transfer(title, title.Next(me.id(), accept.Reservation())))
	require.True(t, b.Holds(resource))
	a.rotate(b)
	renewed := a.issue(1, 48*time.Hour)
	b.step(member.Renewed{Certificate: renewed.certificate})

	restart := func(g *group.Group) {
		b.cfg.Group = g
		b.cfg.Certificate = renewed.certificate
		b.cfg.Seed = [32]byte{byte(len(b.journal)), 9}
		m, effects, err := member.Restore(b.cfg, b.journal, b.now)
		require.NoError(t, err)
		b.Member = m
		b.took(effects)
		assert.True(t, b.Holds(resource))
	}
	newer := b.Group()
	t.Run("from the journal, with the old group file", func(t *testing.T) { restart(a.group) })
	t.Run("from the journal, with the new group file", func(t *testing.T) { restart(newer) })
	b.checkpoint()
	t.Run("from a checkpoint, with the old group file", func(t *testing.T) { restart(a.group) })
	t.Run("from a checkpoint, with the new group file", func(t *testing.T) { restart(newer) })
}

// Members whose certificates count no more are told why before the driver ends their
// connections: nobody else would tell them.
func TestRotation_KeyRetired_ToldBefore(t *testing.T) {
	a := newAuthority(t)
	b, peer := a.open(a.issue(1, 24*time.Hour), nil), a.issue(2, 24*time.Hour)
	b.meet(peer)
	a.rotate(b)
	order := func(is func(effect.Effect) bool) int {
		i := slices.IndexFunc(b.effects, is)
		require.GreaterOrEqual(t, i, 0)
		return i
	}
	told := order(func(e effect.Effect) bool {
		s, ok := e.(effect.Send)
		_, configuration := s.Message.(*wire.Configuration)
		return ok && s.To == peer.id() && configuration
	})
	ends := order(func(e effect.Effect) bool { _, ok := e.(effect.Reconfigure); return ok })
	assert.Less(t, told, ends)
}

// A group that permits fewer members than it has does not make a member forget
// who signed its tokens.
func TestToken_LowerHopLimit_Lives(t *testing.T) {
	a := newAuthority(t)
	me, maker := a.issue(1, 24*time.Hour), a.issue(2, 24*time.Hour)
	b := a.open(me, nil)
	for n := byte(3); n < 10; n++ {
		b.step(member.Learn{Certificates: [][]byte{a.issue(n, 24*time.Hour).certificate.Raw()}})
	}
	b.meet(maker)
	title := maker.mint(1)
	b.hear(maker, &wire.Offer{Token: title.Token(), Hop: 1, Genesis: title.Genesis.Raw(), Signers: title.Signers()})
	accept := said[*wire.Accept](b)
	require.NotNil(t, accept)
	b.hear(maker, maker.transfer(title, title.Next(me.id(), accept.Reservation())))
	require.True(t, b.Holds(resource))
	s := settings(2, quick)
	s.MembersMax = 2
	c, err := s.Sign(a.group.ID(), a.key)
	require.NoError(t, err)
	b.step(member.Learn{Configuration: c.Raw()})
	require.EqualValues(t, 2, b.Settings().Version)
	for range 2 {
		b.checkpoint()
		b.restart()
		assert.True(t, b.Holds(resource))
	}
}
