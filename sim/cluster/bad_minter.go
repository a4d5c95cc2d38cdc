package cluster

import (
	"time"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// minter makes tokens whose geneses are as far ahead as they may be, so that each wins over
// all others, and passes them to the honest members in turn.
type minter struct {
	meek
	n       *node
	pause   time.Duration // from one token to the next
	next    time.Duration
	made    uint64
	pending map[ident.Token]*minted // made, and not settled yet
	taken   int
}

// minted is a token that a minter offers, or has passed on.
type minted struct {
	title    token.Title
	to       ident.Member
	transfer *wire.Transfer // nil: nobody has accepted it
}

const (
	// minterPause is from one token of a minter to the next, which is as soon as it ticks.
	minterPause = badTick
	// minterMargin is how much less than they may be its geneses are ahead: messages take
	// time, and clocks differ.
	minterMargin = time.Second
)

func newMinter(n *node) badness { return makeMinter(n, minterPause) }

func newMinterSlow(n *node) badness { return makeMinter(n, n.c.resources[0].MaxHold) }

func makeMinter(n *node, pause time.Duration) badness {
	return &minter{n: n, pause: pause, pending: make(map[ident.Token]*minted)}
}

func (b *minter) ticks() {
	if b.n.c.now < b.next || b.n.guard.oracle.incarnation == (ident.Incarnation{}) {
		return
	}
	b.next = b.n.c.now + b.pause
	list := b.n.c.nodes.honest()
	to := list[b.made%uint64(len(list))].id
	g := b.n.bad.forged(b.made, b.n.c.now+b.n.c.group.Config().Settings().ClockAllowance-minterMargin)
	b.made++
	b.offers(token.Title{Genesis: g}, to)
}

// offers offers a token.
func (b *minter) offers(title token.Title, to ident.Member) {
	b.pending[title.Token()] = &minted{title: title, to: to}
	b.n.bad.adds(to, &wire.Offer{Token: title.Token(), Hop: title.Hop() + 1, Genesis: title.Genesis.Raw(), Signers: title.Signers()})
}

// hears passes on what is accepted. Its member knows of none of that.
func (b *minter) hears(from ident.Member, m wire.Message) bool {
	switch m := m.(type) {
	case *wire.Accept:
		p := b.pending[m.Token]
		if p != nil && p.to == from {
			b.transfers(p, m)
		}
		return p == nil
	case *wire.Refuse:
		_, mine := b.pending[m.Token]
		delete(b.pending, m.Token)
		return !mine
	case *wire.Receipt:
		r, err := peekReceipt(b.n.c.group.ID(), m.Receipt)
		if err != nil || b.pending[r.Token] == nil {
			return true
		}
		delete(b.pending, r.Token)
		b.taken++
		return false
	}
	return true
}

// transfers signs the transfer, once.
func (b *minter) transfers(p *minted, m *wire.Accept) {
	if p.transfer == nil {
		body := p.title.Next(p.to, m.Reservation())
		body.Time = b.n.reading(b.n.skew).Millis()
		t, err := body.Sign(b.n.c.group.ID(), b.n.key)
		must(err)
		p.transfer = &wire.Transfer{Transfer: t.Raw(), Genesis: p.title.Genesis.Raw()}
		if !p.title.Transfer.IsZero() {
			p.transfer.Previous = p.title.Transfer.Raw()
		}
	}
	b.n.bad.adds(p.to, p.transfer)
}
