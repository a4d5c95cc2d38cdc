package node_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// TestStopping_AcceptGiven_TakenBack: a holder that counts on it is told, and
// a transfer that is in progress already is declined, before the node ends.
func TestStopping_AcceptGiven_TakenBack(t *testing.T) {
	x := newExchange(t)
	first, second := x.mint(1), x.mint(2)
	one, two := x.offer(first), x.offer(second)
	ended := make(chan error, 1)
	go func() { ended <- x.n.Close(context.Background()) }()

	refused := map[ident.Token]bool{}
	for len(refused) < 2 {
		r := hear[*wire.Refuse](x.peer)
		require.Equal(t, wire.RefuseStopping, r.Reason)
		refused[r.Token] = true
	}
	require.Equal(t, map[ident.Token]bool{first.Token(): true, second.Token(): true}, refused)

	x.take() // what it holds itself
	for range 500 {
		x.marked() // it is still there, and would not be if it waited for nothing
	}
	x.say(x.n, &wire.Cancel{Token: one.Token, Hop: one.Hop, Incarnation: one.Incarnation, Accept: one.Accept})
	x.say(x.n, x.transfer(second, second.Next(x.n.ID(), two.Reservation()), x.id))
	hear[*wire.Void](x.peer)
	require.NoError(t, await.Next(t, "the end of the node", ended))
}

// take takes the token that the node offers, as a member does.
func (x *exchange) take() {
	offer := hear[*wire.Offer](x.peer)
	for offer.Token != x.genesis.ID() {
		offer = hear[*wire.Offer](x.peer)
	}
	x.say(x.n, &wire.Accept{Token: offer.Token, Hop: offer.Hop, Incarnation: x.incarnation, Accept: 2, Lifetime: 30_000})
	x.receive(hear[*wire.Transfer](x.peer))
}

// TestAccept_TakenBack_NotUsed: the holder cancels it, and keeps the token
// until somebody else accepts.
func TestAccept_TakenBack_NotUsed(t *testing.T) {
	a := newAuthority(t, quick)
	n, _ := openNode(t, a.issue(t, "holder"), func(c *node.Config) { c.Found = true })
	p := a.openPeer(t, a.issue(t, "leaving"))
	ctx := context.Background()
	require.NoError(t, wander.Of(n).Do(ctx, resource, func(context.Context, wander.Grant) error {
		p.meet(n)
		offer := hear[*wire.Offer](p)
		p.say(n, &wire.Accept{Token: offer.Token, Hop: 1, Incarnation: p.incarnation, Accept: 1, Lifetime: 30_000})
		p.say(n, &wire.Refuse{Token: offer.Token, Hop: 1, Reason: wire.RefuseStopping})
		cancel := hear[*wire.Cancel](p)
		require.EqualValues(t, 1, cancel.Accept)
		require.Equal(t, p.incarnation, cancel.Incarnation)
		return nil
	}))
	q := a.openPeer(t, a.issue(t, "staying"))
	q.meet(n)
	offer := hear[*wire.Offer](q)
	q.say(n, &wire.Accept{Token: offer.Token, Hop: 1, Incarnation: q.incarnation, Accept: 1, Lifetime: 30_000})
	hear[*wire.Transfer](q)
	for len(p.messages) > 0 {
		require.NotEqual(t, wire.TypeTransfer, (<-p.messages).Type())
	}
}

// A member that leaves takes its grants away first, and passes the token on as soon as its program has ended.
func TestLeave_ProgramRuns_TokenPassedOn(t *testing.T) {
	long := quick
	long.MaxHold = time.Hour // no deadline passes the token on
	a := newAuthority(t, long)
	n, _ := openNode(t, a.issue(t, "leaving"), func(c *node.Config) { c.Found = true })
	other, _ := openNode(t, a.issue(t, "staying"), func(c *node.Config) { c.Bootstrap = []string{n.Address()} })
	held, err := n.Acquire(t.Context(), api.AcquireRequest{Resource: resource})
	require.NoError(t, err)
	await.Until(t, "a connection", func() bool { return len(n.Status().Peers) == 1 })
	left := make(chan error, 1)
	go func() { left <- n.Leave(context.Background()) }()
	require.Equal(t, api.LostStopped, await.Next(t, "the loss", held.Lost()))
	held.Release(true, 0)
	require.NoError(t, await.Next(t, "the end of the node", left))
	require.NoError(t, wander.Of(other).Do(t.Context(), resource, func(context.Context, wander.Grant) error { return nil }, wander.Wait(time.Minute)))
}

// A member that stops within min_hold passes the token on: nobody could end the hold afterwards.
func TestClose_WithinMinHold_TokenPassedOn(t *testing.T) {
	long := quick
	long.MaxHold = time.Hour
	a := newAuthority(t, long)
	n, _ := openNode(t, a.issue(t, "stopping"), func(c *node.Config) { c.Found = true })
	other, _ := openNode(t, a.issue(t, "staying"), func(c *node.Config) { c.Bootstrap = []string{n.Address()} })
	held, err := n.Acquire(t.Context(), api.AcquireRequest{Resource: resource, MinHoldMS: time.Hour.Milliseconds()})
	require.NoError(t, err)
	await.Until(t, "a connection", func() bool { return len(n.Status().Peers) == 1 })
	held.Release(true, 0)
	require.NoError(t, n.Close(context.Background()))
	require.NoError(t, wander.Of(other).Do(t.Context(), resource, func(context.Context, wander.Grant) error { return nil }, wander.Wait(time.Minute)))
}

// A member does not leave under a grant that lasts across the restart of its machine: nobody could end the grant before its deadline.
func TestLeave_GrantAcrossRestart_Refused(t *testing.T) {
	a := newAuthority(t, quick)
	n, _ := openNode(t, a.issue(t, "one"), func(c *node.Config) { c.Found = true })
	_, err := n.Acquire(t.Context(), api.AcquireRequest{Resource: resource, AcrossReboot: true})
	require.NoError(t, err)
	err = n.Leave(t.Context())
	require.ErrorIs(t, err, api.ErrUnavailable)
	require.ErrorContains(t, err, "wander release "+resource)
	count, err := n.Back(resource)
	require.NoError(t, err)
	require.Equal(t, 1, count)
	require.NoError(t, n.Leave(context.Background()))
}

// A grant whose record waits for the disk as the daemon begins to stop is taken away, too, and the daemon waits for its release: the token
// would stay here until the deadline otherwise.
func TestClose_GrantOnItsWayToTheDisk_TakenAway(t *testing.T) {
	first, second := quick, quick
	first.MaxHold, second.MaxHold = time.Hour, time.Hour
	second.Name = "second"
	a := newAuthority(t, first, second)
	disk := newSlowDisk()
	n, _ := openNode(t, a.issue(t, "one"), func(c *node.Config) { c.Found = true; c.SetFS(disk) })
	early, err := n.Acquire(context.Background(), api.AcquireRequest{Resource: resource})
	require.NoError(t, err)
	await.Until(t, "the other token is here", func() bool { return n.Status().Resources[1].Slots[0].Held })
	disk.shut()
	before := disk.begun()
	granted := make(chan api.HeldGrant, 1)
	go func() {
		if held, err := n.Acquire(context.Background(), api.AcquireRequest{Resource: second.Name}); err == nil {
			granted <- held
		}
	}()
	await.Until(t, "the grant's record waits for the disk", func() bool { return disk.begun() > before })
	closed := make(chan error, 1)
	go func() { closed <- n.Close(context.Background()) }()
	require.Equal(t, api.LostStopped, await.Next(t, "the word that the early grant is lost", early.Lost()))
	close(disk.open)
	late := await.Next(t, "the grant", granted)
	require.Equal(t, api.LostStopped, await.Next(t, "the word that it is lost", late.Lost()))
	require.Empty(t, closed, "the daemon waits for the releases")
	early.Release(true, 0)
	late.Release(true, 0)
	require.NoError(t, await.Next(t, "the end", closed))
}
