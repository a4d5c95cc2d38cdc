package conformance

import (
	"bytes"
	"crypto/rand"
	"reflect"
	"time"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// transferChecks are about chapter 8 §4: TRANSFER. Each check that hands a token over waits for it to come
// back.
var transferChecks = []Check{
	{"transfer", []string{"H-47", "O-9", "S-5"}, "A transfer on a reservation is answered by a RECEIPT that verifies and is to it.", transferTaken},
	{"transfer-repeated", []string{"H-44", "S-5"}, "The same transfer again, also over another connection, gets the same receipt, but for its position (H-70).", transferRepeated},
	{"transfer-unreserved", []string{"H-46", "H-49"}, "A transfer with a number that was never drawn, with 0, with that of another token, or on another incarnation, is UNKNOWN; no VOID.", transferUnreserved},
	{"transfer-forged", []string{"H-46", "H-49"}, "A transfer whose MAC the member has not made for it is UNKNOWN, also where the OFFER was refused; no VOID.", transferForged},
	{"transfer-invalid", []string{"H-43", "O-10", "O-11", "E-2"}, "A transfer that is for another member, from another, of another hop, with another previous, by another key, or changed, gets no answer, and the right one is still taken.", transferInvalid},
	{"transfer-need", []string{"H-43", "H-49"}, "A transfer whose genesis is by somebody without certificate is answered by NEED, and by nothing else.", transferNeeds},
	{"transfer-extension", []string{"C-5"}, "A transfer with an unknown even extension gets no answer; one with an unknown odd extension is taken.", transferExtensions},
	{"transfer-field", []string{"P-1", "M-10"}, "A transfer with 512 bytes of noise in its policy field, and a malformed update beside it, is taken.", transferField},
	{"transfer-cancelled", []string{"H-40", "H-47"}, "After a CANCEL, the transfer on that reservation is still taken.", transferCancelled},
	{"transfer-lapsed", []string{"H-47"}, "After the lifetime of ACCEPT, the transfer on that reservation is still taken.", transferLapsed},
	{"transfer-reconnected", []string{"H-24", "H-47"}, "A transfer on the reservation of an earlier connection is taken.", transferReconnected},
	{"false-settled", []string{"H-7"}, "Reports of settled for another incarnation, and above the next number, are ignored: the transfer is still taken.", falseSettled},
}

func transferTaken(t *trial) {
	s := t.greet()
	title, _, _, _ := s.hand()
	s.retrieve(title.Token())
}

func transferRepeated(t *trial) {
	s := t.greet()
	title, x, m, receipt := s.hand()
	for range 2 {
		v, again := s.verdict(x, m)
		t.check(v == token.Receipt, "%v for a transfer that was taken, want RECEIPT", v)
		t.check(t.sameReceipt(receipt, again), "another receipt than before")
		s = t.greet()
	}
	s.retrieve(title.Token())
}

// sameReceipt reports whether two receipts say the same, but for where in its journal the
// member has signed them.
func (t *trial) sameReceipt(a, b []byte) bool {
	first, _, err := token.PeekAnswer(t.Group.ID(), token.Receipt, a)
	second, _, err2 := token.PeekAnswer(t.Group.ID(), token.Receipt, b)
	if err != nil || err2 != nil {
		return false
	}
	at, again := token.PositionOf(first.Extensions), token.PositionOf(second.Extensions)
	if at == again {
		return bytes.Equal(a, b)
	}
	other := first
	other.Extensions = second.Extensions
	return first.Extensions.Len() == 1 && second.Extensions.Len() == 1 && again.After(at) && reflect.DeepEqual(other, second)
}

func transferUnreserved(t *trial) {
	s := t.greet()
	other := s.reserve(t.mint())
	s.cancel(other)
	for _, c := range []struct {
		what   string
		change func(*token.TransferBody)
	}{
		{"a number that was never drawn", func(b *token.TransferBody) { b.Accept += 1 << 40 }},
		{"number 0", func(b *token.TransferBody) { b.Accept = 0 }},
		{"another incarnation", func(b *token.TransferBody) { b.Incarnation = t.incarnation }},
		{"the number of another token", func(*token.TransferBody) {}},
	} {
		title := t.mint()
		b := s.transferBody(title, other)
		c.change(&b)
		x, m := s.transfer(title, b)
		v, _ := s.verdict(x, m)
		t.check(v == token.Unknown, "%s: %v, want UNKNOWN", c.what, v)
	}
}

// transferForged hands over what the member has not accepted, with what it gave for
// something else, or gave nothing for.
func transferForged(t *trial) {
	s, title := t.greet(), t.mint()
	a := s.reserve(title)
	unknown := func(title token.Title, b token.TransferBody, what string) {
		x, m := s.transfer(title, b)
		v, _ := s.verdict(x, m)
		t.check(v == token.Unknown, "%s: %v, want UNKNOWN", what, v)
	}
	forged := s.transferBody(title, a)
	forged.MAC[0] ^= 1
	unknown(title, forged, "a transfer with a MAC that is not the member's")
	other := t.mint()
	unknown(other, s.transferBody(other, a), "a transfer with another token's number and MAC")
	old := t.genesis()
	old.Time -= uint64((t.Group.Config().Settings().ClockAllowance + time.Hour).Milliseconds())
	late := t.mintAs(old)
	s.refused(offer(late), wire.RefuseClock, "an OFFER of a token that is too old")
	unknown(late, s.transferBody(late, a), "the transfer of a token that was refused")
	s.take(title, a)
}

func transferInvalid(t *trial) {
	s, title := t.greet(), t.mint()
	a := s.reserve(title)
	right := s.transferBody(title, a)
	for _, c := range []struct {
		what   string
		change func(*token.TransferBody)
	}{
		{"for another member", func(b *token.TransferBody) { b.To = t.self.Next() }},
		{"of a later hop", func(b *token.TransferBody) { b.Hop = 7 }},
		{"with another previous", func(b *token.TransferBody) { b.Previous[0] ^= 1 }},
		{"that names a void", func(b *token.TransferBody) { b.Void = &b.Previous }},
	} {
		b := right
		c.change(&b)
		_, m := s.transfer(title, b)
		s.ignored(m, "a transfer "+c.what)
	}
	x, m := s.transfer(title, right)
	domain := envelope.Domain{Version: 1, Group: t.Group.ID(), Kind: envelope.Transfer}
	stolen, err := envelope.Sign(domain, t.self, payloadOf(t, x.Raw(), envelope.Transfer), t.newKey())
	t.check(err == nil, "transfer not signed: %v", err)
	changed := bytes.Clone(x.Raw())
	changed[len(changed)-30] ^= 1
	for what, raw := range map[string][]byte{"by another key": stolen.Raw(), "with a changed signature": changed} {
		bad := *m
		bad.Transfer = raw
		s.ignored(&bad, "a transfer "+what)
	}
	mixed := *m
	mixed.Genesis = t.mint().Genesis.Raw()
	s.ignored(&mixed, "a transfer with another token's genesis")
	s.heard = nil
	s.gives(title, x, m)
	s.retrieve(title.Token())
}

// strange is the title of a token that somebody without certificate has made, and
// given to this member.
func (t *trial) strange() (token.Title, ident.Member) {
	key := t.newKey()
	pub := key.Public().Bytes()
	id := ident.MemberOf(t.Group.ID(), pub[:])
	b := t.genesis()
	b.Generator = id
	g, err := b.Sign(t.Group.ID(), key)
	t.check(err == nil, "genesis not signed: %v", err)
	first := token.Title{Genesis: g}
	x, err := first.Next(t.self, ident.Reservation{Incarnation: t.incarnation, Number: 1}).Sign(t.Group.ID(), key)
	t.check(err == nil, "transfer not signed: %v", err)
	return token.Title{Genesis: g, Transfer: x}, id
}

func transferNeeds(t *trial) {
	s := t.greet()
	title, stranger := t.strange()
	a := s.reserve(t.mint())
	s.cancel(a)
	_, m := s.transfer(title, s.transferBody(title, a))
	need := request(s, m, "NEED", func(n *wire.Need) bool { return n.Token == title.Token() })
	t.check(len(need.Members) > 0 && need.Members[0] == stranger, "NEED of %v, want %v", need.Members, stranger)
	s.ignored(m, "a transfer that cannot be verified")
}

// transferExtended is a transfer with one extension of this key.
func (s *session) transferExtended(title token.Title, a *wire.Accept, key byte) (token.Transfer, *wire.Transfer) {
	x, m := s.transfer(title, s.transferBody(title, a))
	m.Transfer = s.t.signed(envelope.Transfer, extend(payloadOf(s.t, x.Raw(), envelope.Transfer), key)).Raw()
	if x, err := s.t.verifier.Transfer(m.Transfer); err == nil {
		return x, m
	}
	return token.Transfer{}, m
}

func transferExtensions(t *trial) {
	s, title := t.greet(), t.mint()
	a := s.reserve(title)
	_, even := s.transferExtended(title, a, evenKey)
	s.say(even)
	never(s, "a transfer with an unknown even extension is answered", func(m wire.Message) bool {
		_, _, is := answerIn(m)
		return is
	})
	x, odd := s.transferExtended(title, a, oddKey)
	s.gives(title, x, odd)
	s.retrieve(title.Token())
}

func transferField(t *trial) {
	s, title := t.greet(), t.mint()
	b := s.transferBody(title, s.reserve(title))
	b.Field = make([]byte, token.MaxField)
	rand.Read(b.Field)
	x, m := s.transfer(title, b)
	m.Updates = [][]byte{malformed}
	s.gives(title, x, m)
	s.stays()
	s.retrieve(title.Token())
}

func transferCancelled(t *trial) {
	s, title := t.greet(), t.mint()
	a := s.reserve(title)
	s.cancel(a)
	s.cancel(a)
	s.take(title, a)
}

// take hands a token over on a reservation, and waits for it to come back.
func (s *session) take(title token.Title, a *wire.Accept) {
	x, m := s.transfer(title, s.transferBody(title, a))
	s.gives(title, x, m)
	s.retrieve(title.Token())
}

func transferLapsed(t *trial) {
	s, title := t.greet(), t.mint()
	a := s.reserve(title)
	lifetime := time.Duration(min(a.Lifetime, 1<<40)) * time.Millisecond
	lifetime += lifetime/10 + 10*time.Millisecond
	t.needsTime(lifetime+time.Second, "the lifetime of a reservation has to pass")
	s.listen(lifetime)
	s.take(title, a)
}

func transferReconnected(t *trial) {
	title := t.mint()
	s := t.greet()
	a := s.reserve(title)
	s.close()
	t.greet().take(title, a)
}

func falseSettled(t *trial) {
	s, title := t.greet(), t.mint()
	a := s.reserve(title)
	for _, lie := range []wire.Settled{
		{Incarnation: t.incarnation, Below: a.Accept + 1000},
		{Incarnation: a.Incarnation, Below: 1 << 50},
	} {
		m := offer(t.mint())
		m.Settled = &lie
		s.cancel(s.reserved(m))
		h := s.greeting()
		h.Settled = &lie
		s.say(h)
	}
	s.take(title, a)
}
