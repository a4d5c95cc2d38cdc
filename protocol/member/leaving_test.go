package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// sharing puts a configuration into force in which the resources have so many slots.
func (b *box) sharing(a *authority, version uint64, slots map[string]int) {
	b.t.Helper()
	b.step(member.Learn{Configuration: a.sharing(version, slots)})
	require.Equal(b.t, version, b.Settings().Version)
}

func (a *authority) sharing(version uint64, slots map[string]int) []byte {
	s := settings(version, quick)
	s.Resources = nil
	for _, name := range []string{"added", resource, "many", "more", "most"} { // in the order of their names
		if n := slots[name]; n > 0 {
			s.Resources = append(s.Resources, group.Resource{Name: name, Slots: n, Params: quick}.WithDefaults())
		}
	}
	c, err := s.Sign(a.group.ID(), a.key)
	require.NoError(a.t, err)
	return c.Raw()
}

// refusals are the demands that the last step has refused.
func (b *box) refusals() map[uint64]error {
	list := make(map[uint64]error)
	for _, e := range b.effects {
		if r, ok := e.(effect.Refuse); ok {
			list[r.Request] = r.Reason
		}
	}
	return list
}

// drops are the reasons of the tokens that the last step has dropped.
func (b *box) drops() (list []policy.DropReason) {
	for _, d := range b.dropped() {
		list = append(list, policy.DropReason(d.Reason))
	}
	return list
}

var (
	neither      = map[string]int{"added": 1}
	oneSlot      = map[string]int{resource: 1}
	twoSlots     = map[string]int{resource: 2}
	unconfigured = []policy.DropReason{policy.Unconfigured}
)

// TestLeaving_IdleToken_Dropped: P-46 of spec/policy/common.md.
func TestLeaving_IdleToken_Dropped(t *testing.T) {
	a := newAuthority(t)
	b := a.open(a.issue(1, 24*time.Hour), func(c *member.Config) { c.Found = true })
	require.True(t, b.Holds(resource))
	b.sharing(a, 2, neither)
	assert.Equal(t, unconfigured, b.drops())
	assert.False(t, b.Holds(resource))
	require.Len(t, b.Status().Slots, 1, "nothing is left of it")
	assert.Equal(t, "added", b.Status().Slots[0].Resource)
	assert.EqualValues(t, 1, b.Status().Dropped)
}

// TestLeaving_Waiting_Refused: P-46. Who waits is told at once, who asks later is, too.
func TestLeaving_Waiting_Refused(t *testing.T) {
	a := newAuthority(t)
	b := a.open(a.issue(1, 24*time.Hour), nil)
	b.step(member.Demand{Request: 1, Resource: resource})
	b.sharing(a, 2, neither)
	require.ErrorIs(t, b.refusals()[1], member.ErrResource)
	b.step(member.Demand{Request: 2, Resource: resource})
	require.ErrorIs(t, b.refusals()[2], member.ErrResource)
	b.step(member.Demand{Request: 3, Resource: "added"})
	b.sharing(a, 3, oneSlot)
	require.ErrorIs(t, b.refusals()[3], member.ErrResource)
	b.step(member.Demand{Request: 4, Resource: resource})
	assert.Empty(t, b.refusals(), "it is shared again")
}

// TestLeaving_ProgramRuns_Finishes: P-46. A program runs on to its end; then its token
// is dropped and the slot is gone. Nothing is granted meanwhile.
func TestLeaving_ProgramRuns_Finishes(t *testing.T) {
	for name, operated := range map[string]bool{"operated": true, "not started": false} {
		t.Run(name, func(t *testing.T) {
			a := newAuthority(t)
			b := a.open(a.issue(1, 24*time.Hour), func(c *member.Config) { c.Found = true })
			b.step(member.Demand{Request: 1, Resource: resource})
			g := granted(b)
			require.NotNil(t, g)
			b.sharing(a, 2, neither)
			assert.Empty(t, b.dropped())
			left := b.Status().Slots[1]
			assert.True(t, left.Leaving && left.Held && left.Executing)
			b.step(member.Demand{Request: 2, Resource: resource})
			require.ErrorIs(t, b.refusals()[2], member.ErrResource)
			b.step(member.Ended{Grant: g.Grant, Operated: operated})
			assert.Equal(t, unconfigured, b.drops())
			assert.Len(t, b.Status().Slots, 1)
		})
	}
}

// TestLeaving_Deadline_Dropped: P-46, when nobody says that the program has ended.
func TestLeaving_Deadline_Dropped(t *testing.T) {
	a := newAuthority(t)
	b := a.open(a.issue(1, 24*time.Hour), func(c *member.Config) { c.Found = true })
	b.step(member.Demand{Request: 1, Resource: resource})
	require.NotNil(t, granted(b))
	b.sharing(a, 2, neither)
	b.untilGone()
	assert.Equal(t, unconfigured, b.drops())
}

// untilGone lets a grant's deadline pass, before which nothing is dropped.
func (b *box) untilGone() {
	for range 20 {
		if !b.Holds(resource) {
			return
		}
		require.Empty(b.t, b.dropped())
		b.after(100 * time.Millisecond)
	}
}

// TestLeaving_Restart_SameAsRunning: P-46. The journal of a slot that is gone, with a
// program that may still run under its token, or without.
func TestLeaving_Restart_SameAsRunning(t *testing.T) {
	for name, running := range map[string]bool{"idle": false, "running": true} {
		t.Run(name, func(t *testing.T) {
			a := newAuthority(t)
			b := a.open(a.issue(1, 24*time.Hour), func(c *member.Config) { c.Found = true })
			if running {
				b.step(member.Demand{Request: 1, Resource: resource})
				require.NotNil(t, granted(b))
			}
			down := *b // what the configuration does to it while it runs is not in this journal
			b.sharing(a, 2, neither)
			down.cfg.Group, down.cfg.Found = b.Group(), false
			down.restart()
			if running {
				require.Empty(t, down.dropped(), "not before the program's end")
				require.True(t, down.Status().Slots[1].Leaving)
				assert.Empty(t, down.Status().Slots[1].Policy)
				down.restart()
				require.True(t, down.Status().Slots[1].Executing, "however often it restarts")
				down.untilGone()
			}
			assert.Equal(t, unconfigured, down.drops())
			assert.Len(t, down.Status().Slots, 1)
		})
	}
}

// TestLeaving_AddedAgain_Works: P-46. While its program runs, or later.
func TestLeaving_AddedAgain_Works(t *testing.T) {
	a := newAuthority(t)
	b := a.open(a.issue(1, 24*time.Hour), func(c *member.Config) { c.Found = true })
	b.step(member.Demand{Request: 1, Resource: resource})
	g := granted(b)
	b.sharing(a, 2, neither)
	b.sharing(a, 3, oneSlot)
	require.False(t, b.Status().Slots[0].Leaving)
	b.step(member.Demand{Request: 2, Resource: resource})
	b.step(member.Ended{Grant: g.Grant, Operated: true})
	for range 100 {
		if g = granted(b); g != nil {
			break
		}
		b.after(100 * time.Millisecond)
	}
	require.NotNil(t, g, "the token is still good")
	b.step(member.Ended{Grant: g.Grant, Operated: true})
	b.sharing(a, 4, neither)
	require.False(t, b.Holds(resource))
	b.sharing(a, 5, oneSlot)
	require.Len(t, b.Status().Slots, 1)
	assert.Zero(t, b.Status().Slots[0].LastSeen, "it begins anew")
}

// TestLeaving_Offer_Refused: H-40, and a transfer on a reservation from before is
// declined (H-48): its sender may go by a configuration that has the slot.
func TestLeaving_Offer_Refused(t *testing.T) {
	a := newAuthority(t)
	maker := a.issue(2, 24*time.Hour)
	b := a.open(a.issue(1, 24*time.Hour), nil)
	b.meet(maker)
	title := maker.mint(1)
	offer := &wire.Offer{Token: title.Token(), Hop: 1, Genesis: title.Genesis.Raw(), Signers: title.Signers()}
	b.hear(maker, offer)
	accept := said[*wire.Accept](b)
	require.NotNil(t, accept)
	b.sharing(a, 2, neither)
	b.hear(maker, offer)
	refuse := said[*wire.Refuse](b)
	require.NotNil(t, refuse)
	assert.Equal(t, wire.RefuseResource, refuse.Reason)
	b.hear(maker, maker.transfer(title, title.Next(b.ID(), accept.Reservation())))
	assert.NotNil(t, said[*wire.Void](b))
	assert.Nil(t, said[*wire.Receipt](b))
	assert.False(t, b.Holds(resource))
}

// TestLeaving_InDoubt_Settled: P-46. A transfer in progress is sent again until it is
// answered; custody that comes back is dropped.
func TestLeaving_InDoubt_Settled(t *testing.T) {
	for name, verdict := range map[string]token.Verdict{"receipt": token.Receipt, "void": token.Void} {
		t.Run(name, func(t *testing.T) {
			a := newAuthority(t)
			me, peer := a.issue(1, 24*time.Hour), a.issue(2, 24*time.Hour)
			b := a.open(me, func(c *member.Config) { c.Found = true })
			b.meet(peer)
			offer := said[*wire.Offer](b)
			for offer == nil {
				b.after(10 * time.Millisecond)
				offer = said[*wire.Offer](b)
			}
			b.hear(peer, &wire.Accept{Token: offer.Token, Hop: 1, Incarnation: peer.incarnation, Accept: 1, Lifetime: 30000})
			transfer := said[*wire.Transfer](b)
			for transfer == nil {
				b.after(10 * time.Millisecond)
				transfer = said[*wire.Transfer](b)
			}
			b.sharing(a, 2, neither)
			require.Empty(t, b.dropped())
			b.after(time.Minute)
			require.NotNil(t, said[*wire.Transfer](b), "it is still asked for")
			raw := peer.answer(b.verified(transfer.Transfer, me), verdict)
			if verdict == token.Receipt {
				b.hear(peer, &wire.Receipt{Receipt: raw})
				assert.Empty(t, b.dropped())
			} else {
				b.hear(peer, &wire.Void{Void: raw})
				assert.Equal(t, unconfigured, b.drops())
				back, _ := b.journal[len(b.journal)-2].Record.(*journal.Reclaimed)
				assert.NotNil(t, back, "custody is taken back before it ends")
			}
			assert.False(t, b.Holds(resource))
			assert.Zero(t, b.Status().InDoubt)
		})
	}
}

// TestLeaving_PreOffer_Cancelled: whoever has accepted a token that leaves is told.
func TestLeaving_PreOffer_Cancelled(t *testing.T) {
	a := newAuthority(t)
	me, peer := a.issue(1, 24*time.Hour), a.issue(2, 24*time.Hour)
	b := a.open(me, func(c *member.Config) { c.Found = true })
	b.step(member.Demand{Request: 1, Resource: resource})
	g := granted(b)
	b.meet(peer)
	offer := said[*wire.Offer](b)
	require.NotNil(t, offer)
	b.hear(peer, &wire.Accept{Token: offer.Token, Hop: 1, Incarnation: peer.incarnation, Accept: 1, Lifetime: 30000})
	b.sharing(a, 2, neither)
	assert.NotNil(t, said[*wire.Cancel](b))
	b.step(member.Ended{Grant: g.Grant, Operated: true})
	assert.Nil(t, said[*wire.Transfer](b))
	assert.Equal(t, unconfigured, b.drops())
}

// TestLeaving_FewerSlots_OthersStay: only the slots that are gone leave.
func TestLeaving_FewerSlots_OthersStay(t *testing.T) {
	a := newAuthority(t)
	b := a.open(a.issue(1, 24*time.Hour), func(c *member.Config) { c.Found = true })
	kept := b.Status().Slots[0].Token
	b.sharing(a, 2, twoSlots)
	require.Len(t, b.Status().Slots, 2)
	for !b.Status().Slots[1].Held { // alone, it founds the slot itself
		require.Less(t, b.now.Boot.Sub(0), time.Hour+5*time.Second)
		b.after(100 * time.Millisecond)
	}
	b.step(member.Demand{Request: 1, Resource: resource})
	b.step(member.Demand{Request: 2, Resource: resource})
	b.sharing(a, 3, oneSlot)
	st := b.Status()
	assert.Equal(t, kept, st.Slots[0].Token)
	assert.True(t, st.Slots[0].Held)
	if len(st.Slots) > 1 {
		assert.True(t, st.Slots[1].Leaving && st.Slots[1].Executing)
	}
}

// TestLeaving_Stopping_Idle: a member that is to stop waits for the program, as always.
func TestLeaving_Stopping_Idle(t *testing.T) {
	a := newAuthority(t)
	b := a.open(a.issue(1, 24*time.Hour), func(c *member.Config) { c.Found = true })
	b.step(member.Demand{Request: 1, Resource: resource})
	g := granted(b)
	b.sharing(a, 2, neither)
	b.step(member.Shutdown{})
	require.False(t, b.Idle())
	b.step(member.Ended{Grant: g.Grant, Operated: true})
	assert.True(t, b.Idle())
}

// TestLeaving_ThousandsOfSlots_OneStep: the work grows with the slots, not with their
// square.
func TestLeaving_ThousandsOfSlots_OneStep(t *testing.T) {
	a := newAuthority(t)
	b := a.open(a.issue(1, 24*time.Hour), nil)
	b.sharing(a, 2, map[string]int{resource: 1, "added": group.MaxSlots, "many": group.MaxSlots, "more": group.MaxSlots, "most": group.MaxSlots})
	require.Len(t, b.Status().Slots, 4*group.MaxSlots+1)
	b.sharing(a, 3, oneSlot)
	assert.Len(t, b.Status().Slots, 1)
}
