package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// minter makes tokens, one after the other, and hands them to honest members in turn.
type minter struct {
	silent
	turn int
}

func newMinter(a *agent) (kind, error) { return &minter{silent: silent{a}}, nil }

// next is the honest member whose turn it is.
func next(a *agent, turn *int) ident.Member {
	list := a.honest()
	*turn++
	return list[*turn%len(list)]
}

func (m *minter) act() {
	incarnation, sequence := m.incarnation, m.nextSequence()
	if m.fresh {
		if _, err := rand.Read(incarnation[:]); err != nil {
			m.ended = err
			return
		}
		sequence = 0
	}
	title, err := m.mint(time.Now().Add(m.shift), incarnation, sequence)
	if err != nil {
		m.ended = err
		return
	}
	m.offer(&heldToken{to: next(m.agent, &m.turn), title: title})
}

// forger has the keys of two members. It signs a genesis of long ago, or far ahead, and has
// the other one sign that it got the token at a hop that no token reaches, after a transfer
// that does not exist. It hands the next hop to honest members in turn.
type forger struct {
	silent
	other node.Identity
	turn  int
}

// hugeHop is the last one but one that there is: the next custody is the last.
const hugeHop = ident.MaxHop - 1

// errAccomplice says that a kind takes two.
var errAccomplice = errors.New("-accomplice must be given")

func newForger(a *agent) (kind, error) {
	if a.options.accomplice == "" {
		return nil, errAccomplice
	}
	other, err := identity(a.options.accomplice)
	return &forger{silent: silent{a}, other: other}, err
}

// forgedTimes are the genesis times of a forger: before all others, and after them.
var forgedTimes = map[string]time.Time{
	"":     time.UnixMilli(1000),
	"1970": time.UnixMilli(1000),
	"2100": time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
}

func (f *forger) act() {
	title, err := f.forge()
	if err != nil {
		f.ended = err
		return
	}
	f.offer(&heldToken{
		to: next(f.agent, &f.turn), title: title, certificates: [][]byte{f.id.Certificate.Raw(), f.other.Certificate.Raw()},
	})
}

// forge makes a token that has come a long way.
func (f *forger) forge() (token.Title, error) {
	born, known := forgedTimes[f.variant]
	if !known {
		return token.Title{}, fmt.Errorf("-variant %q: must be 1970 or 2100", f.variant)
	}
	title, err := f.mint(born, f.incarnation, f.nextSequence())
	if err != nil {
		return title, err
	}
	body := token.TransferBody{
		Token: title.Token(), Hop: hugeHop, From: f.other.Certificate.Member(), To: f.self,
		Incarnation: f.incarnation, Accept: f.nextSequence(), Time: uint64(time.Now().UnixMilli()),
	}
	if _, err := rand.Read(body.Previous[:]); err != nil {
		return title, err
	}
	title.Transfer, err = body.Sign(f.id.Group.ID(), f.other.Key)
	return title, err
}

// bypasser makes tokens whose genesis time no honest member accepts. It offers each one all
// the same, and then sends it without an ACCEPT, with an accept number that was drawn for
// another offerer, and the MAC of an ACCEPT that it has. It knows such numbers: they are between those of two ACCEPTs that it gets
// for tokens which it never sends.
type bypasser struct {
	silent
	turn int
	last map[ident.Member]*wire.Accept
}

// maxGaps bounds the numbers that are used after one ACCEPT, so that the rate is what was asked for.
const maxGaps = 4

func newBypasser(a *agent) (kind, error) {
	return &bypasser{silent: silent{a}, last: make(map[ident.Member]*wire.Accept)}, nil
}

func (b *bypasser) act() {
	title, err := b.mint(time.Now(), b.incarnation, b.nextSequence())
	if err != nil {
		b.ended = err
		return
	}
	p := &heldToken{to: next(b.agent, &b.turn), title: title, done: func() {}}
	p.accepted = func(m *wire.Accept) { b.learn(p, m) }
	b.offer(p)
}

// learn uses the numbers that others were given since the last ACCEPT.
func (b *bypasser) learn(p *heldToken, m *wire.Accept) {
	last := b.last[p.to]
	b.last[p.to] = m
	b.say(p.to, &wire.Cancel{Token: m.Token, Hop: m.Hop, Incarnation: m.Incarnation, Accept: m.Accept})
	if last == nil || last.Incarnation != m.Incarnation {
		return
	}
	first := max(last.Accept+1, m.Accept-min(m.Accept, maxGaps))
	for number := first; number < m.Accept; number++ {
		title, err := b.mint(time.Now().Add(b.shift), b.incarnation, b.nextSequence())
		if err != nil {
			b.ended = err
			return
		}
		late := &heldToken{to: p.to, title: title}
		late.refused = func() {
			if err := b.transfer(late, ident.Reservation{Incarnation: m.Incarnation, Number: number, MAC: m.MAC}); err != nil {
				b.ended = err
			}
		}
		late.accepted = func(*wire.Accept) {} // it was not to be
		b.offer(late)
	}
}
