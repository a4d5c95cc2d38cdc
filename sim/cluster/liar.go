package cluster

import (
	"math/rand/v2"
	"slices"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// liar is a driver that does not do what its member says. It has the member's key
// and speaks for it; the member itself knows of nothing.
type liar struct {
	n     *node    // whose driver it is
	heard []heard  // ACCEPTs of others, newest last: what a fork needs
	kept  []letter // messages that it sent, to say them again
}

// heard is an ACCEPT that came in.
type heard struct {
	from ident.Member
	msg  *wire.Accept
}

const (
	// lieShare is how many of the messages about custody that a liar sends are lies,
	// or come with one.
	lieShare = 0.25
	// memoryOfLies bounds what a liar remembers.
	memoryOfLies = 64
	// floodOf is how many offers a flood is.
	floodOf = 50
)

// hears lets a liar remember what it can use.
func (l *liar) hears(from ident.Member, body []byte) {
	m, err := wire.Decode(body)
	if err != nil {
		return
	}
	if a, ok := m.(*wire.Accept); ok {
		l.heard = append(l.heard, heard{from, a})
		if len(l.heard) > memoryOfLies {
			l.heard = slices.Delete(l.heard, 0, 1)
		}
	}
}

// lie sends a message as the liar likes. It reports false when the truth is to be
// sent.
func (l *liar) lie(e effect.Send) bool {
	r := l.n.c.hazards.rng(faultLie)
	l.remember(e)
	if o, ok := e.Message.(*wire.Offer); ok && r.Float64() < 2*lieShare {
		l.offerToAnother(r, e.To, o) // no lie yet
	}
	if r.Float64() >= lieShare || l.n.c.calm {
		return false
	}
	tell := l.lieAbout(r, e)
	if tell == nil || !l.n.c.hazards.happens(faultLie) {
		return false
	}
	return tell()
}

// lieAbout is a lie about a message, or nil. It reports whether the message itself is
// not to be sent.
func (l *liar) lieAbout(r *rand.Rand, e effect.Send) func() bool {
	choice := r.IntN(4)
	switch m := e.Message.(type) {
	case *wire.Transfer:
		return []func() bool{
			func() bool { return l.fork(e.To, m) }, func() bool { return l.fork(e.To, m) },
			func() bool { return l.withhold(m) }, func() bool { return l.forge(e.To, m) },
		}[choice]
	case *wire.Receipt:
		return []func() bool{
			func() bool { return l.answerFalsely(e.To, m, token.Unknown) }, func() bool { return l.answerFalsely(e.To, m, token.Void) },
			func() bool { return l.answerFalsely(e.To, m, token.Void) }, func() bool { return l.replay(r) },
		}[choice]
	case *wire.Accept:
		return func() bool {
			l.says(e.To, &wire.Refuse{Token: m.Token, Hop: m.Hop, Reason: wire.RefuseBusy})
			return true
		}
	case *wire.Offer:
		if choice == 0 {
			return func() bool { return l.flood(r) }
		}
		return func() bool { return l.replay(r) }
	case *wire.Policy:
		return []func() bool{
			func() bool { return l.garble(r, e.To, m) }, func() bool { return l.garble(r, e.To, m) },
			func() bool { return l.chatter(r, m) }, l.deny,
		}[choice]
	}
	return nil
}

// garble says something else to a peer's policy: with one byte changed, which may
// still be read as a claim, or cut off.
func (l *liar) garble(r *rand.Rand, to ident.Member, m *wire.Policy) bool {
	other := *m
	other.Body = slices.Clone(m.Body)
	if len(other.Body) > 0 {
		other.Body[r.IntN(len(other.Body))] = byte(r.Uint32())
		if r.IntN(4) == 0 {
			other.Body = other.Body[:r.IntN(len(other.Body))]
		}
	}
	l.says(to, &other)
	return true
}

// chatter says the same and much nonsense to the policies of anybody.
func (l *liar) chatter(r *rand.Rand, m *wire.Policy) bool {
	for range floodOf {
		o, nonsense := l.n.c.nodes.one(r), *m
		if r.IntN(2) == 0 {
			nonsense.Body = make([]byte, r.IntN(wire.MaxPolicyBody+1))
			for i := range nonsense.Body {
				nonsense.Body[i] = byte(r.Uint32())
			}
		}
		if o != l.n {
			l.says(o.id, &nonsense)
		}
	}
	return false
}

// deny keeps to itself what its policy has to say.
func (l *liar) deny() bool {
	l.n.c.log(l.n, "LIES by saying nothing")
	return true
}

// says sends what nobody's member has said.
func (l *liar) says(to ident.Member, m wire.Message) {
	l.n.c.log(l.n, "LIES to %s", l.n.c.name(to))
	l.n.send(to, m)
}

// taint notes that a token was lied about: what becomes of it is no member's fault.
func (c *cluster) taint(t ident.Token) { c.tainted[t] = true }

func (l *liar) remember(e effect.Send) {
	body, err := wire.Encode(e.Message)
	if err != nil {
		return
	}
	l.kept = append(l.kept, letter{body: body})
	if len(l.kept) > memoryOfLies {
		l.kept = slices.Delete(l.kept, 0, 1)
	}
}

// offerToAnother lets somebody else accept a token as well.
func (l *liar) offerToAnother(r *rand.Rand, to ident.Member, m *wire.Offer) {
	if o := l.n.c.nodes.one(r); o != l.n && o.id != to {
		offer := *m
		offer.Settled = nil
		l.n.send(o.id, &offer)
	}
}

// fork signs a second transfer of a hop, for somebody else who has accepted it.
func (l *liar) fork(to ident.Member, m *wire.Transfer) bool {
	b, _, err := token.PeekTransfer(l.n.c.group.ID(), m.Transfer)
	if err != nil {
		return false
	}
	for _, h := range l.heard {
		if h.msg.Token != b.Token || h.msg.Hop != b.Hop || h.from == to {
			continue
		}
		b.To, b.Incarnation, b.Accept = h.from, h.msg.Incarnation, h.msg.Accept
		second, err := b.Sign(l.n.c.group.ID(), l.n.key)
		must(err)
		l.n.c.taint(b.Token)
		l.n.c.count.forks++
		other := *m
		other.Transfer = second.Raw()
		l.says(h.from, &other)
		return false
	}
	return false
}

// withhold keeps a transfer back; the member sends it again some time.
func (l *liar) withhold(m *wire.Transfer) bool {
	l.n.c.log(l.n, "LIES by withholding a transfer")
	return true
}

// forge sends a transfer with a signature that does not hold, before the true one.
func (l *liar) forge(to ident.Member, m *wire.Transfer) bool {
	forged := *m
	forged.Transfer = slices.Clone(m.Transfer)
	forged.Transfer[len(forged.Transfer)-1] ^= 1
	l.says(to, &forged)
	return false
}

// answerFalsely says of a transfer that was taken that it is declined, or not known.
func (l *liar) answerFalsely(to ident.Member, m *wire.Receipt, v token.Verdict) bool {
	b, err := peekReceipt(l.n.c.group.ID(), m.Receipt)
	if err != nil {
		return false
	}
	answer, err := b.Sign(l.n.c.group.ID(), v, l.n.key)
	must(err)
	l.n.c.taint(b.Token)
	if v == token.Unknown {
		l.says(to, &wire.Unknown{Unknown: answer.Raw()})
	} else {
		l.says(to, &wire.Void{Void: answer.Raw()})
	}
	return v == token.Unknown // after the void the receipt follows, which convicts
}

// replay sends something that was said before to whomever.
func (l *liar) replay(r *rand.Rand) bool {
	if len(l.kept) == 0 {
		return false
	}
	old := l.kept[r.IntN(len(l.kept))]
	if m, err := wire.Decode(old.body); err == nil {
		if o := l.n.c.nodes.one(r); o != l.n {
			l.says(o.id, m)
		}
	}
	return false
}

// flood offers tokens that it has just made up, two of them with each number.
func (l *liar) flood(r *rand.Rand) bool {
	o := l.n.c.nodes.one(r)
	if o == l.n {
		return false
	}
	for i := range floodOf {
		body := token.GenesisBody{
			Resource: l.n.c.resources[0].Name, Generator: l.n.id, Incarnation: l.n.guard.oracle.incarnation,
			Sequence: 1<<32 + uint64(i/2), Time: l.n.reading(l.n.skew).Millis(),
		}
		body.Nonce[0] = byte(i)
		g, err := body.Sign(l.n.c.group.ID(), l.n.key)
		must(err)
		l.n.c.taint(g.ID())
		l.says(o.id, &wire.Offer{Token: g.ID(), Hop: 1, Genesis: g.Raw(), Signers: []ident.Member{l.n.id}})
	}
	return false
}
