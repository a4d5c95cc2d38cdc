package conformance

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// genesis is the body of a token's birth here and now.
func (t *trial) genesis() token.GenesisBody {
	t.sequence++
	b := token.GenesisBody{
		Resource: t.Resource, Generator: t.self, Incarnation: t.incarnation, Sequence: t.sequence,
		Time: uint64(time.Now().UnixMilli()),
	}
	rand.Read(b.Nonce[:])
	return b
}

// mint makes a token. Nobody hears of it before it is offered.
func (t *trial) mint() token.Title { return t.mintAs(t.genesis()) }

func (t *trial) mintAs(b token.GenesisBody) token.Title {
	g, err := b.Sign(t.Group.ID(), t.Identity.Key)
	t.check(err == nil, "genesis not signed: %v", err)
	return token.Title{Genesis: g}
}

// offer is the OFFER of a title's token.
func offer(title token.Title) *wire.Offer {
	return &wire.Offer{Token: title.Token(), Hop: title.Hop() + 1, Genesis: title.Genesis.Raw(), Signers: title.Signers()}
}

// reply waits for the answer to an OFFER, which is one of three messages.
func (s *session) reply(m *wire.Offer) wire.Message {
	return request(s, m, "answer to OFFER", func(answer wire.Message) bool {
		switch a := answer.(type) {
		case *wire.Accept:
			return a.Token == m.Token && a.Hop == m.Hop
		case *wire.Refuse:
			return a.Token == m.Token && a.Hop == m.Hop
		case *wire.Need:
			return a.Token == m.Token && a.Hop == m.Hop
		}
		return false
	})
}

// reserve offers a token, which has to be accepted. A member that is busy or stops
// cannot be tested for more.
func (s *session) reserve(title token.Title) *wire.Accept { return s.reserved(offer(title)) }

func (s *session) reserved(m *wire.Offer) *wire.Accept {
	t := s.t
	switch a := s.reply(m).(type) {
	case *wire.Accept:
		t.drawn = max(t.drawn, a.Accept)
		return a
	case *wire.Refuse:
		if a.Reason == wire.RefuseBusy || a.Reason == wire.RefuseStopping {
			t.skip("the member takes no tokens now: REFUSE, reason %d (%v)", a.Reason, a.Reason)
		}
		if a.Reason == wire.RefuseNewborn && t.drawn > 0 { // it has taken one of this tester's before
			t.skip("the member backs off from this one, which makes a token for each check, as P-69 wants: have it share a resource of the policy multitoken")
		}
		t.fail("REFUSE, reason %d (%v), for a token that nothing is wrong with", a.Reason, a.Reason)
	case *wire.Need:
		t.fail("NEED of %v, whose certificate it has from the handshake", a.Members)
	}
	return nil
}

// refused offers a token that has to be refused for this reason.
func (s *session) refused(m *wire.Offer, want wire.Refusal, what string) {
	switch a := s.reply(m).(type) {
	case *wire.Refuse:
		s.t.check(a.Reason == want, "%s: REFUSE, reason %d (%v), want %d (%v)", what, a.Reason, a.Reason, want, want)
	default:
		s.t.drop(a)
		s.t.fail("%s: %v, want REFUSE, reason %d (%v)", what, a.Type(), want, want)
	}
}

// drop notes the number of a reservation that will not be used.
func (t *trial) drop(m wire.Message) {
	if a, ok := m.(*wire.Accept); ok {
		t.drawn = max(t.drawn, a.Accept)
	}
}

// transferBody is the body of the transfer by which this member gives a token to the one
// under test.
func (s *session) transferBody(title token.Title, a *wire.Accept) token.TransferBody {
	b := title.Next(s.cert.Member(), a.Reservation())
	b.Time = uint64(time.Now().UnixMilli())
	return b
}

// transfer signs a transfer as this member, with what verifies it.
func (s *session) transfer(title token.Title, b token.TransferBody) (token.Transfer, *wire.Transfer) {
	x, err := b.Sign(s.t.Group.ID(), s.t.Identity.Key)
	s.t.check(err == nil, "transfer not signed: %v", err)
	return x, &wire.Transfer{
		Transfer: x.Raw(), Genesis: title.Genesis.Raw(), Previous: title.Transfer.Raw(), Void: title.Void.Raw(),
	}
}

// verdict says a transfer until it is answered, and verifies the answer.
func (s *session) verdict(x token.Transfer, m *wire.Transfer) (v token.Verdict, raw []byte) {
	request(s, m, "answer to TRANSFER", func(m wire.Message) (fits bool) {
		if v, raw, fits = answerIn(m); fits {
			a, err := s.t.verifier.Answer(v, raw)
			s.t.check(err == nil, "the signed object in %v does not verify: %v", m.Type(), err)
			fits = a.Body().Transfer == x.Hash()
		}
		return fits
	})
	s.verified(x, v, raw)
	return v, raw
}

// answerIn is the signed answer to a transfer in a message, if it has one.
func answerIn(m wire.Message) (v token.Verdict, raw []byte, ok bool) {
	switch a := m.(type) {
	case *wire.Receipt:
		return token.Receipt, a.Receipt, true
	case *wire.Void:
		return token.Void, a.Void, true
	case *wire.Unknown:
		return token.Unknown, a.Unknown, true
	}
	return 0, nil, false
}

// verified fails unless an answer is one to the transfer, by O-9, and names the
// incarnation of the member's HELLO.
func (s *session) verified(x token.Transfer, v token.Verdict, raw []byte) {
	a, err := s.t.verifier.Answer(v, raw)
	s.t.check(err == nil && a.Answers(x), "%v: token, hop or signer are not those of the transfer", v)
	s.t.check(a.Body().Incarnation == s.hello.Incarnation, "%v names another incarnation than HELLO", v)
}

// gives hands over what has to be taken, and returns the receipt.
func (s *session) gives(title token.Title, x token.Transfer, m *wire.Transfer) (receipt []byte) {
	t := s.t
	t.given[title.Token()] = true
	v, raw := s.verdict(x, m)
	if v == token.Receipt {
		return raw
	}
	t.given[title.Token()] = false
	t.check(v != token.Void || !s.hasRoom(), "VOID, although the member takes reservations for others")
	if v == token.Void {
		t.skip("the member declines: it has no room, or stops")
	}
	t.fail("%v, want RECEIPT", v)
	return nil
}

// hasRoom reports whether the member accepts an offer now.
func (s *session) hasRoom() bool {
	answer := s.reply(offer(s.t.mint()))
	s.t.drop(answer)
	_, ok := answer.(*wire.Accept)
	return ok
}

// hand makes a token and gives it away by the book.
func (s *session) hand() (token.Title, token.Transfer, *wire.Transfer, []byte) {
	title := s.t.mint()
	x, m := s.transfer(title, s.transferBody(title, s.reserve(title)))
	receipt := s.gives(title, x, m)
	return token.Title{Genesis: title.Genesis, Transfer: x}, x, m, receipt
}

// retrieve waits a little for a token to come back, as it does where the policy
// passes tokens on at once. It decides nothing.
func (s *session) retrieve(id ident.Token) {
	r, _ := s.t.Group.Config().Resource(s.t.Resource)
	if r.Policy == "uncoordinated" { // it drops what it has not made itself (P-15)
		return
	}
	ctx, cancel := context.WithTimeout(s.t.ctx, r.PolicyParams().SkipDelay+time.Second)
	defer cancel()
	for s.t.given[id] {
		m, err := s.receive(ctx)
		if err != nil {
			return
		}
		s.mind(m)
	}
}

// ignored fails if the member answers a transfer by a signature.
func (s *session) ignored(m *wire.Transfer, what string) {
	s.say(m)
	_, hash, err := token.PeekTransfer(s.t.Group.ID(), m.Transfer)
	s.t.check(err == nil, "%s: %v", what, err)
	never(s, what+": it is answered", func(m wire.Message) bool {
		v, raw, ok := answerIn(m)
		if !ok {
			return false
		}
		a, err := s.t.verifier.Answer(v, raw)
		return err != nil || a.Body().Transfer == hash
	})
}
