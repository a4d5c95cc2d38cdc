package cluster

import (
	"math/rand/v2"
	"slices"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// liar is a driver that does not do what its member says. It has the member's key
// and speaks for it; the member itself knows of nothing.
type liar struct {
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
func (n *node) hears(from ident.Member, body []byte) {
	m, err := wire.Decode(body)
	if err != nil {
		return
	}
	if a, ok := m.(*wire.Accept); ok {
		n.lies.heard = append(n.lies.heard, heard{from, a})
		if len(n.lies.heard) > memoryOfLies {
			n.lies.heard = slices.Delete(n.lies.heard, 0, 1)
		}
	}
}

// lie sends a message as the liar likes. It reports false when the truth is to be
// sent.
func (n *node) lie(e effect.Send) bool {
	r := n.c.hazards.rng(Lie)
	n.remember(e)
	if o, ok := e.Message.(*wire.Offer); ok && r.Float64() < 2*lieShare {
		n.offerToAnother(r, e.To, o) // no lie yet
	}
	if r.Float64() >= lieShare || n.c.calm {
		return false
	}
	tell := n.lieAbout(r, e)
	if tell == nil || !n.c.hazards.happens(Lie) {
		return false
	}
	return tell()
}

// lieAbout is a lie about a message, or nil. It reports whether the message itself is
// not to be sent.
func (n *node) lieAbout(r *rand.Rand, e effect.Send) func() bool {
	choice := r.IntN(4)
	switch m := e.Message.(type) {
	case *wire.Transfer:
		return []func() bool{
			func() bool { return n.fork(e.To, m) }, func() bool { return n.fork(e.To, m) },
			func() bool { return n.withhold(m) }, func() bool { return n.forge(e.To, m) },
		}[choice]
	case *wire.Receipt:
		return []func() bool{
			func() bool { return n.answerFalsely(e.To, m, token.Unknown) }, func() bool { return n.answerFalsely(e.To, m, token.Void) },
			func() bool { return n.answerFalsely(e.To, m, token.Void) }, func() bool { return n.replay(r) },
		}[choice]
	case *wire.Accept:
		return func() bool {
			n.says(e.To, &wire.Refuse{Token: m.Token, Hop: m.Hop, Reason: wire.RefuseBusy})
			return true
		}
	case *wire.Offer:
		if choice == 0 {
			return func() bool { return n.flood(r) }
		}
		return func() bool { return n.replay(r) }
	case *wire.Policy:
		return []func() bool{
			func() bool { return n.garble(r, e.To, m) }, func() bool { return n.garble(r, e.To, m) },
			func() bool { return n.chatter(r, m) }, n.deny,
		}[choice]
	}
	return nil
}

// garble says something else to a peer's policy: with one byte changed, which may
// still be read as a claim, or cut off.
func (n *node) garble(r *rand.Rand, to ident.Member, m *wire.Policy) bool {
	other := *m
	other.Body = slices.Clone(m.Body)
	if len(other.Body) > 0 {
		other.Body[r.IntN(len(other.Body))] = byte(r.Uint32())
		if r.IntN(4) == 0 {
			other.Body = other.Body[:r.IntN(len(other.Body))]
		}
	}
	n.says(to, &other)
	return true
}

// chatter says the same and much nonsense to the policies of anybody.
func (n *node) chatter(r *rand.Rand, m *wire.Policy) bool {
	for range floodOf {
		o, nonsense := n.c.nodes.one(r), *m
		if r.IntN(2) == 0 {
			nonsense.Body = make([]byte, r.IntN(wire.MaxPolicyBody+1))
			for i := range nonsense.Body {
				nonsense.Body[i] = byte(r.Uint32())
			}
		}
		if o != n {
			n.says(o.id, &nonsense)
		}
	}
	return false
}

// deny keeps to itself what its policy has to say.
func (n *node) deny() bool {
	n.c.log(n, "LIES by saying nothing")
	return true
}

// says sends what nobody's member has said.
func (n *node) says(to ident.Member, m wire.Message) {
	n.c.log(n, "LIES to %s", n.c.name(to))
	n.send(to, m)
}

// taint notes that a token was lied about: what becomes of it is no member's fault.
func (c *cluster) taint(t ident.Token) { c.tainted[t] = true }

func (n *node) remember(e effect.Send) {
	body, err := wire.Encode(e.Message)
	if err != nil {
		return
	}
	n.lies.kept = append(n.lies.kept, letter{body: body})
	if len(n.lies.kept) > memoryOfLies {
		n.lies.kept = slices.Delete(n.lies.kept, 0, 1)
	}
}

// offerToAnother lets somebody else accept a token as well.
func (n *node) offerToAnother(r *rand.Rand, to ident.Member, m *wire.Offer) {
	if o := n.c.nodes.one(r); o != n && o.id != to {
		offer := *m
		offer.Settled = nil
		n.send(o.id, &offer)
	}
}

// fork signs a second transfer of a hop, for somebody else who has accepted it.
func (n *node) fork(to ident.Member, m *wire.Transfer) bool {
	b, _, err := token.PeekTransfer(n.c.group.ID(), m.Transfer)
	if err != nil {
		return false
	}
	for _, h := range n.lies.heard {
		if h.msg.Token != b.Token || h.msg.Hop != b.Hop || h.from == to {
			continue
		}
		b.To, b.Incarnation, b.Accept = h.from, h.msg.Incarnation, h.msg.Accept
		second, err := b.Sign(n.c.group.ID(), n.key)
		must(err)
		n.c.taint(b.Token)
		n.c.count.forks++
		other := *m
		other.Transfer = second.Raw()
		n.says(h.from, &other)
		return false
	}
	return false
}

// withhold keeps a transfer back; the member sends it again some time.
func (n *node) withhold(m *wire.Transfer) bool {
	n.c.log(n, "LIES by withholding a transfer")
	return true
}

// forge sends a transfer with a signature that does not hold, before the true one.
func (n *node) forge(to ident.Member, m *wire.Transfer) bool {
	forged := *m
	forged.Transfer = slices.Clone(m.Transfer)
	forged.Transfer[len(forged.Transfer)-1] ^= 1
	n.says(to, &forged)
	return false
}

// answerFalsely says of a transfer that was taken that it is declined, or not known.
func (n *node) answerFalsely(to ident.Member, m *wire.Receipt, v token.Verdict) bool {
	b, err := peekReceipt(n.c.group.ID(), m.Receipt)
	if err != nil {
		return false
	}
	answer, err := b.Sign(n.c.group.ID(), v, n.key)
	must(err)
	n.c.taint(b.Token)
	if v == token.Unknown {
		n.says(to, &wire.Unknown{Unknown: answer.Raw()})
	} else {
		n.says(to, &wire.Void{Void: answer.Raw()})
	}
	return v == token.Unknown // after the void the receipt follows, which convicts
}

// replay sends something that was said before to whomever.
func (n *node) replay(r *rand.Rand) bool {
	if len(n.lies.kept) == 0 {
		return false
	}
	old := n.lies.kept[r.IntN(len(n.lies.kept))]
	if m, err := wire.Decode(old.body); err == nil {
		if o := n.c.nodes.one(r); o != n {
			n.says(o.id, m)
		}
	}
	return false
}

// flood offers tokens that it has just made up, two of them with each number.
func (n *node) flood(r *rand.Rand) bool {
	o := n.c.nodes.one(r)
	if o == n {
		return false
	}
	for i := range floodOf {
		body := token.GenesisBody{
			Resource: n.c.resources[0].Name, Generator: n.id, Incarnation: n.guard.ledger.incarnation,
			Sequence: 1<<32 + uint64(i/2), Time: n.reading().Millis(),
		}
		body.Nonce[0] = byte(i)
		g, err := body.Sign(n.c.group.ID(), n.key)
		must(err)
		n.c.taint(g.ID())
		n.says(o.id, &wire.Offer{Token: g.ID(), Hop: 1, Genesis: g.Raw(), Signers: []ident.Member{n.id}})
	}
	return false
}

// received is what a liar's driver looks at before its member does.
func (n *node) received(in member.Input) {
	if m, ok := in.(member.Received); ok && n.liar {
		n.hears(m.From, m.Body)
	}
}
