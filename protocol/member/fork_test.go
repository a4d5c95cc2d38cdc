package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
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
	b.hear(s, s.transfer(title, title.Next(b.ID(), accept.Reservation())))
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

// forked is a member, and a token that a liar has passed to two: to the member as hop 1,
// and by another one as hop 2.
type forked struct {
	*box
	liar, other *someone
	fresh, long token.Title
}

func newForked(t *testing.T) *forked {
	a := newAuthority(t)
	f := &forked{box: a.open(a.issue(1, 24*time.Hour), nil), liar: a.issue(2, 24*time.Hour), other: a.issue(3, 24*time.Hour)}
	f.meet(f.liar)
	f.meet(f.other)
	f.fresh = f.liar.mint(1)
	signed, err := f.fresh.Next(f.other.id(), ident.Reservation{Incarnation: f.other.incarnation, Number: 7}).Sign(f.liar.group, f.liar.key)
	require.NoError(t, err)
	f.long = token.Title{Genesis: f.fresh.Genesis, Transfer: signed}
	return f
}

func (f *forked) runs() {
	f.step(member.Demand{Request: 1, Resource: resource, MaxHold: time.Minute})
	f.after(time.Second)
	require.True(f.t, f.Status().Slots[0].Executing)
}

// ends sees that the last step has dropped one hop, and that the other one stays, also
// over a checkpoint and a restart.
func (f *forked) ends(dropped, stays uint64, executing bool) {
	f.t.Helper()
	require.Len(f.t, f.dropped(), 1)
	assert.Equal(f.t, dropped, f.dropped()[0].Hop)
	assert.EqualValues(f.t, policy.Forked, f.dropped()[0].Reason)
	for range 2 {
		st := f.Status().Slots[0]
		assert.True(f.t, st.Held)
		assert.Equal(f.t, stays, st.Hop)
		assert.Equal(f.t, executing, st.Executing)
		f.checkpoint()
		f.restart()
	}
}

// TestFork_ChainsMeet_Ends (H-30).
func TestFork_ChainsMeet_Ends(t *testing.T) {
	t.Run("the lower hop goes", func(t *testing.T) {
		f := newForked(t)
		f.liar.passes(f.box, f.fresh, 1)
		f.other.passes(f.box, f.long, 2)
		f.ends(1, 2, false)
	})
	t.Run("also when it comes later", func(t *testing.T) {
		f := newForked(t)
		f.other.passes(f.box, f.long, 2)
		f.liar.passes(f.box, f.fresh, 1)
		f.ends(1, 2, false)
	})
	t.Run("unless a program runs under it", func(t *testing.T) {
		f := newForked(t)
		f.liar.passes(f.box, f.fresh, 1)
		f.runs()
		f.other.passes(f.box, f.long, 2)
		f.ends(2, 1, true)
	})
}

// A crash between the custody and its end changes nothing.
func TestFork_Restart_Ends(t *testing.T) {
	f := newForked(t)
	f.liar.passes(f.box, f.fresh, 1)
	f.runs()
	f.other.passes(f.box, f.long, 2)
	require.Len(t, f.dropped(), 1)
	for i, r := range f.journal {
		if _, ok := r.Record.(*journal.Dropped); ok {
			f.journal = f.journal[:i:i]
			break
		}
	}
	f.restart()
	f.ends(2, 1, true)
}
