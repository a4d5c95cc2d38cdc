package conformance

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// senderChecks are about chapter 8 §3: the member as sender, of tokens that were handed to it.
var senderChecks = []Check{
	{"own-offer", []string{"H-20", "H-8"}, "The member's own OFFER carries the genesis, names all signers of its title, and promises no more than it may.", ownOffer},
	{"own-offer-need", []string{"H-21"}, "After NEED, its next OFFER carries the signers' certificates, which verify.", ownOfferNeed},
	{"other-incarnation", []string{"H-9", "H-23"}, "An ACCEPT of another incarnation than that of HELLO is not used: its TRANSFER names the right one.", otherIncarnation},
	{"retransmission", []string{"H-24", "H-25", "O-12"}, "A TRANSFER that is not answered comes again, the same bytes, also after REFUSE and another ACCEPT for it.", retransmission},
	{"reconnected", []string{"H-33", "H-24"}, "After a new connection and HELLO, the unanswered TRANSFER comes again, the same bytes.", reconnected},
	{"unknown", []string{"H-28"}, "After UNKNOWN, custody does not go back: on the next connection the same TRANSFER comes again.", afterUnknown},
	{"void", []string{"H-27", "O-12", "O-11"}, "After VOID, the member offers the next hop, and its TRANSFER follows from the one that was declined, with the void.", afterVoid},
}

// comesBack hands a token to the member and waits until it offers it to this one.
func (t *trial) comesBack() (*session, token.Title, *wire.Offer) {
	r, _ := t.Group.Config().Resource(t.Resource)
	if r.Policy == "uncoordinated" {
		t.skip("the policy of the resource passes no token on")
	}
	s := t.greet()
	title, _, _, _ := s.hand()
	m, err := within(s, t.ctx, func(m *wire.Offer) bool { return m.Token == title.Token() && m.Hop == title.Hop()+1 })
	if errors.Is(err, errSilence) {
		t.skip("the member did not offer the token on to this one in time: its policy keeps it or names another receiver")
	}
	t.check(err == nil, "the connection ended: %v", s.reason(err))
	return s, title, m
}

// parts accepts an offer, and waits for the transfer, which must follow.
func (s *session) parts(title token.Title, m *wire.Offer) (token.Transfer, *wire.Transfer) {
	a := s.t.accept(m)
	s.t.open = m.Token
	s.say(a)
	got := expect(s, "TRANSFER after ACCEPT", s.of(title))
	x := s.follows(title, got)
	b := x.Body()
	s.t.check(b.Incarnation == a.Incarnation && b.Accept == a.Accept && b.MAC == a.MAC, "the TRANSFER does not name the reservation")
	return x, got
}

// of tells the transfers of a title's token.
func (s *session) of(title token.Title) func(*wire.Transfer) bool {
	return func(m *wire.Transfer) bool { return bytes.Equal(m.Genesis, title.Genesis.Raw()) }
}

// follows verifies a transfer of the member, which must follow from a title.
func (s *session) follows(title token.Title, m *wire.Transfer) token.Transfer {
	t := s.t
	x, err := t.verifier.Transfer(m.Transfer)
	t.check(err == nil, "the TRANSFER does not verify: %v", err)
	t.check(title.Admits(x) == nil, "the TRANSFER does not follow from the title: %v", title.Admits(x))
	t.check(x.Body().To == t.self, "the TRANSFER is for %v", x.Body().To)
	t.check(bytes.Equal(m.Genesis, title.Genesis.Raw()), "the TRANSFER carries another genesis")
	t.check(bytes.Equal(m.Previous, title.Transfer.Raw()), "the TRANSFER does not carry the transfer before it")
	t.check(bytes.Equal(m.Void, title.Void.Raw()), "the TRANSFER does not carry the void before it")
	return x
}

// again waits for a transfer once more.
func (s *session) again(m *wire.Transfer) {
	next := expect(s, "second TRANSFER", func(n *wire.Transfer) bool { return bytes.Equal(n.Genesis, m.Genesis) })
	s.t.check(bytes.Equal(next.Transfer, m.Transfer), "the TRANSFER that comes again is another one")
}

func ownOffer(t *trial) {
	s, title, m := t.comesBack()
	want := title.Signers()
	for _, id := range want {
		t.check(slices.Contains(m.Signers, id), "the OFFER does not name %v", id)
	}
	t.check(len(m.Signers) == len(want), "the OFFER names %d signers, want %d", len(m.Signers), len(want))
	t.check(bytes.Equal(m.Genesis, title.Genesis.Raw()), "the OFFER carries another genesis")
	if p := m.Settled; p != nil && p.Incarnation == t.incarnation {
		t.check(p.Below <= t.accepts+1, "it promises %d, above 1 + the highest number that it has, %d", p.Below, t.accepts)
	}
	x, _ := s.parts(title, m)
	s.receipt(x)
	s.fence()
}

func ownOfferNeed(t *trial) {
	s, title, m := t.comesBack()
	s.say(&wire.Need{Token: m.Token, Hop: m.Hop, Members: m.Signers})
	m = expect(s, "OFFER after NEED", func(o *wire.Offer) bool { return o.Token == m.Token })
	found := map[ident.Member]bool{}
	for _, raw := range m.Certificates {
		c, err := certificate.Parse(t.Group.ID(), raw, t.Group.History())
		t.check(err == nil, "a certificate in OFFER: %v", err)
		found[c.Member()] = true
	}
	for _, id := range m.Signers {
		t.check(found[id], "after NEED, the OFFER lacks the certificate of %v", id)
	}
	x, _ := s.parts(title, m)
	s.receipt(x)
	s.fence()
}

func otherIncarnation(t *trial) {
	s, title, m := t.comesBack()
	wrong := t.accept(m)
	wrong.Incarnation[0] ^= 1
	s.say(wrong)
	x, _ := s.parts(title, m)
	s.receipt(x)
	s.fence()
}

func retransmission(t *trial) {
	s, title, m := t.comesBack()
	x, first := s.parts(title, m)
	other := t.accept(m)
	t.accepts++
	other.Accept = t.accepts
	s.say(&wire.Refuse{Token: m.Token, Hop: m.Hop, Reason: wire.RefuseBusy}, other)
	s.again(first)
	s.receipt(x)
	s.fence()
}

func reconnected(t *trial) {
	s, title, m := t.comesBack()
	x, first := s.parts(title, m)
	s.close()
	s = t.greet()
	s.again(first)
	s.receipt(x)
	s.fence()
}

func afterUnknown(t *trial) {
	s, title, m := t.comesBack()
	x, first := s.parts(title, m)
	s.heard = nil
	raw, err := t.answerTo(x, token.Unknown)
	t.check(err == nil, "answer not signed: %v", err)
	s.say(&wire.Unknown{Unknown: raw})
	never(s, "after UNKNOWN it offers the token again", func(o *wire.Offer) bool { return o.Token == title.Token() })
	s.close()
	s = t.greet()
	s.again(first)
	s.receipt(x)
	s.fence()
}

// offerAgainSlack is what a second offer may take beyond what the first one took: the
// pause after a receiver that has declined, which is 1 second in this project's members.
const offerAgainSlack = 8 * time.Second

// offeredAgain waits for the next offer of a token that has come back. The policy may wait
// before it as it did before the first one: with less time than twice that, silence says
// nothing.
func (s *session) offeredAgain(title token.Title, first time.Duration) *wire.Offer {
	t, began := s.t, time.Now()
	m, err := within(s, t.ctx, func(o *wire.Offer) bool { return o.Token == title.Token() })
	slack := cmp.Or(t.slack, offerAgainSlack)
	switch waited := time.Since(began); {
	case err == nil:
		return m
	case errors.Is(err, errSilence) && waited < 2*first+slack:
		t.skip("the first offer of the token took %v; for the second one after VOID the check needs a timeout above %v",
			first.Round(time.Second/10), (3*first + slack).Round(time.Second/10))
	case errors.Is(err, errSilence):
		t.fail("no OFFER of the token that came back by VOID")
	}
	t.fail("no OFFER of the token that came back by VOID: the connection ended: %v", s.reason(err))
	return nil
}

func afterVoid(t *trial) {
	began := time.Now()
	s, title, m := t.comesBack()
	first := time.Since(began)
	x, _ := s.parts(title, m)
	raw, err := t.answerTo(x, token.Void)
	t.check(err == nil, "answer not signed: %v", err)
	void, err := t.verifier.Answer(token.Void, raw)
	t.check(err == nil, "void: %v", err)
	s.say(&wire.Void{Void: raw})
	declined := token.Title{Genesis: title.Genesis, Transfer: x, Void: void}
	next := s.offeredAgain(title, first)
	t.check(next.Hop == m.Hop+1, "after VOID of hop %d, an OFFER of hop %d", m.Hop, next.Hop)
	x, _ = s.parts(declined, next)
	s.receipt(x)
	s.fence()
}
