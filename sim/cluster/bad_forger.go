package cluster

import (
	"time"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

// forger makes tokens with a friend that signs the hop before as if there had been others:
// their geneses are of times at which none was made, and their hops as many as can be.
type forger struct{ minter }

const (
	// forgerPause is from one token of a forger to the next.
	forgerPause = time.Second
	// forgerBack is how long before now every other token of a forger was made.
	forgerBack = 29 * 24 * time.Hour
)

func newForger(n *node) badness {
	return &forger{minter{n: n, pause: forgerPause, pending: make(map[ident.Token]*minted)}}
}

// friend is another forger, if there is one: else the token has its first hop.
func (b *forger) friend() *node {
	for _, n := range b.n.c.nodes {
		if n != b.n && n.kind == b.n.kind {
			return n
		}
	}
	return nil
}

func (b *forger) ticks() {
	if b.n.c.now < b.next || b.n.guard.oracle.incarnation == (ident.Incarnation{}) {
		return
	}
	b.next = b.n.c.now + b.pause
	list := b.n.c.nodes.honest()
	to, friend := list[b.made/2%uint64(len(list))].id, b.friend()
	at, hops := b.n.c.now+2*b.n.c.group.Config().Settings().ClockAllowance-minterMargin, uint64(1)
	if friend == nil {
		at = b.n.c.now + b.n.c.group.Config().Settings().ClockAllowance - minterMargin
	}
	if b.made%2 == 1 && friend != nil {
		at = b.n.c.now - forgerBack
		hops = uint64(forgerBack.Milliseconds()) / 2
	}
	title := token.Title{Genesis: b.n.bad.forged(b.made, at)}
	b.made++
	if friend != nil {
		title.Transfer = b.invents(title.Genesis, friend, max(hops, 2))
	}
	b.offers(title, to)
}

// invents is a hop from the friend to this member, which follows from nothing.
func (b *forger) invents(g token.Genesis, friend *node, number uint64) token.Transfer {
	t, err := token.TransferBody{
		Token: g.ID(), Hop: number, From: friend.id, To: b.n.id, Incarnation: b.n.guard.oracle.incarnation,
		Accept: 1, Previous: g.Hash(), Time: b.n.reading(b.n.skew).Millis(),
	}.Sign(b.n.c.group.ID(), friend.key)
	must(err)
	return t
}
