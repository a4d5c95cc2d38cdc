package main

import (
	"crypto/rand"
	"slices"
	"time"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// desk hands over tokens that the honest machine of a bad member does not know of.
type desk struct {
	held map[ident.Token]*heldToken
}

// maxHeld bounds the tokens that are remembered, the last answered ones included.
const maxHeld = 1 << 16

// heldToken is a token that is being handed over.
type heldToken struct {
	to           ident.Member
	title        token.Title
	field        []byte
	certificates [][]byte // that the receiver may lack
	refused      func()   // what to do when the OFFER was; nil: nothing
	accepted     func(*wire.Accept)
	done         func() // when there is a RECEIPT; nil: it is one that the bad member made up
	sent         *wire.Transfer
	answered     bool
}

// mint makes up a genesis, signed by this member.
func (a *agent) mint(at time.Time, incarnation ident.Incarnation, sequence uint64) (token.Title, error) {
	return a.mintAs(a.self, a.id.Key, at, incarnation, sequence)
}

func (a *agent) mintAs(generator ident.Member, key *signature.PrivateKey, at time.Time, incarnation ident.Incarnation, sequence uint64) (token.Title, error) {
	body := token.GenesisBody{
		Resource: a.resource, Generator: generator, Incarnation: incarnation, Sequence: sequence, Time: uint64(max(0, at.UnixMilli())),
	}
	if _, err := rand.Read(body.Nonce[:]); err != nil {
		return token.Title{}, err
	}
	g, err := body.Sign(a.id.Group.ID(), key)
	return token.Title{Genesis: g}, err
}

// nextSequence is one that no other genesis of this member has.
func (a *agent) nextSequence() uint64 {
	a.sequence++
	return a.sequence
}

// offer begins to hand over a token.
func (a *agent) offer(p *heldToken) {
	if len(a.desk.held) >= maxHeld {
		return
	}
	a.desk.held[p.title.Token()] = p
	if p.done == nil {
		a.report.Offered++
	}
	a.sayOffer(p)
}

func (a *agent) sayOffer(p *heldToken) {
	a.say(p.to, &wire.Offer{
		Token: p.title.Token(), Hop: p.title.Hop() + 1, Genesis: p.title.Genesis.Raw(), Signers: p.title.Signers(), Certificates: p.certificates,
	})
}

// transfer signs custody away, by a reservation that the receiver gave, or did not. It
// signs once: two transfers of one hop are another crime than the one to be measured.
func (a *agent) transfer(p *heldToken, r ident.Reservation) error {
	if p.sent != nil {
		p.sent.Certificates = p.certificates
		a.say(p.to, p.sent)
		return nil
	}
	body := p.title.Next(p.to, r)
	body.Time, body.Field = uint64(time.Now().UnixMilli()), p.field
	t, err := body.Sign(a.id.Group.ID(), a.id.Key)
	if err != nil {
		return err
	}
	if p.done == nil {
		a.report.Sent++
	}
	p.sent = &wire.Transfer{
		Transfer: t.Raw(), Genesis: p.title.Genesis.Raw(), Previous: p.title.Transfer.Raw(), Void: p.title.Void.Raw(), Certificates: p.certificates,
	}
	a.say(p.to, p.sent)
	return nil
}

// heard handles the answers about tokens of the desk, and reports whether m is one. A token
// may come back to the machine, which then passes it on at a later hop.
func (d *desk) heard(a *agent, from ident.Member, m wire.Message) bool {
	of := func(id ident.Token, hop uint64) *heldToken {
		if p := d.held[id]; p != nil && p.to == from && p.title.Hop()+1 == hop {
			return p
		}
		return nil
	}
	switch m := m.(type) {
	case *wire.Accept:
		p := of(m.Token, m.Hop)
		if p == nil {
			return false
		}
		if p.accepted != nil {
			p.accepted(m)
		} else if err := a.transfer(p, m.Reservation()); err != nil {
			a.ended = err
		}
		return true
	case *wire.Need:
		p := of(m.Token, m.Hop)
		if p == nil {
			return false
		}
		if len(p.certificates) > 0 {
			return true
		}
		p.certificates = a.certificates(p.title.Signers())
		if p.sent != nil {
			p.sent.Certificates = p.certificates
			a.say(p.to, p.sent)
		} else {
			a.sayOffer(p)
		}
		return true
	case *wire.Refuse:
		p := of(m.Token, m.Hop)
		if p == nil {
			return false
		}
		if p.done == nil {
			a.report.Refused++
		}
		if p.refused != nil {
			p.refused()
		}
		return true
	case *wire.Receipt:
		return d.answered(a, of, token.Receipt, m.Receipt)
	case *wire.Void:
		return d.answered(a, of, token.Void, m.Void)
	case *wire.Unknown:
		return d.answered(a, of, token.Unknown, m.Unknown)
	}
	return false
}

func (d *desk) answered(a *agent, of func(ident.Token, uint64) *heldToken, v token.Verdict, raw []byte) bool {
	b, _, err := token.PeekAnswer(a.id.Group.ID(), v, raw)
	if err != nil {
		return false
	}
	p := of(b.Token, b.Hop)
	if p == nil {
		return false
	}
	if p.answered {
		return true
	}
	p.answered = true
	switch {
	case p.done != nil:
		if v == token.Receipt {
			p.done()
		}
	case v == token.Receipt:
		a.report.Receipts++
		a.report.Tokens = append(a.report.Tokens, b.Token.String())
	case v == token.Void:
		a.report.Voids++
	default:
		a.report.Unknowns++
	}
	return true
}

// certificates are those of members, as far as they are known.
func (a *agent) certificates(of []ident.Member) (list [][]byte) {
	for _, id := range of {
		if c, known := a.newest(id); known {
			list = append(list, c.Raw())
		}
	}
	return list
}

// receive answers a TRANSFER to this member by a RECEIPT, and returns the token. The machine
// is told nothing.
func (a *agent) receive(from ident.Member, m *wire.Transfer) (token.Title, []byte, error) {
	t, err := a.verifier.Transfer(m.Transfer)
	if err != nil {
		return token.Title{}, nil, err
	}
	g, err := a.verifier.Genesis(m.Genesis)
	if err != nil {
		return token.Title{}, nil, err
	}
	r, err := token.AnswerTo(t, a.self, a.incarnation).Sign(a.id.Group.ID(), token.Receipt, a.id.Key)
	if err != nil {
		return token.Title{}, nil, err
	}
	a.say(from, &wire.Receipt{Receipt: r.Raw()})
	return token.Title{Genesis: g, Transfer: t}, slices.Clone(t.Body().Field), nil
}
