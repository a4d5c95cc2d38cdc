package conformance

import (
	"bytes"
	"crypto/rand"
	"math/big"
	"slices"
	"time"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// offerChecks are about chapter 8 §4: OFFER. The tokens are made for it, and never handed over.
var offerChecks = []Check{
	{"offer", []string{"H-40", "H-6"}, "An OFFER is answered by ACCEPT for the same token and hop, with the incarnation of HELLO, a lifetime, and a number that is not below the floor of HELLO.", offerAccepted},
	{"offer-repeated", []string{"H-40"}, "An OFFER that is repeated gets the same ACCEPT, also after a CANCEL.", offerRepeated},
	{"accept-numbers", []string{"H-3"}, "The accept numbers of ten tokens are strictly increasing, over two connections.", acceptNumbers},
	{"need", []string{"H-40", "H-42"}, "An OFFER that names a signer whose certificate nobody has is answered by NEED of it, and not accepted.", offerNeeds},
	{"bad-genesis", []string{"H-40", "E-1", "E-4", "S-2", "S-3"}, "An OFFER whose genesis is another token's, untagged, of another group, signed by another key, or whose signature is changed, or has S above the group order, is refused with reason 6.", badGenesis},
	{"unknown-resource", []string{"H-40"}, "An OFFER of a resource or slot that the configuration does not have is refused with reason 3.", unknownResource},
	{"genesis-time", []string{"H-41"}, "An OFFER of hop 1 whose genesis time is outside of clock_allowance, in either direction, is refused with reason 4.", genesisTime},
	{"offer-extension", []string{"C-5"}, "A genesis with an unknown odd extension is accepted, one with an unknown even extension refused with reason 6.", offerExtensions},
	{"floor", []string{"H-6", "H-7", "H-46"}, "After 40 reservations that this side has reported as settled, the floor in HELLO is not above what was reported, and a transfer below it is UNKNOWN.", floorRises},
}

func offerAccepted(t *trial) {
	s, title := t.greet(), t.mint()
	a := s.reserve(title)
	t.check(a.Incarnation == s.hello.Incarnation, "ACCEPT names another incarnation than HELLO")
	t.check(a.Lifetime > 0, "a lifetime of 0")
	t.check(a.Accept > 0 && a.Accept >= s.hello.Floor, "number %d, and the floor in HELLO is %d", a.Accept, s.hello.Floor)
	s.cancel(a)
}

// cancel gives a reservation back.
func (s *session) cancel(a *wire.Accept) {
	s.say(&wire.Cancel{Token: a.Token, Hop: a.Hop, Incarnation: a.Incarnation, Accept: a.Accept})
}

func offerRepeated(t *trial) {
	s, title := t.greet(), t.mint()
	first := s.reserve(title)
	second := s.reserve(title)
	t.check(second.Accept == first.Accept, "number %d, then %d", first.Accept, second.Accept)
	s.cancel(first)
	third := s.reserve(title)
	t.check(third.Accept == first.Accept, "number %d, after CANCEL %d", first.Accept, third.Accept)
	s.cancel(first)
}

func acceptNumbers(t *trial) {
	var last uint64
	for range 2 {
		s := t.greet()
		for range 5 {
			a := s.reserve(t.mint())
			t.check(a.Accept > last, "number %d comes after %d", a.Accept, last)
			last = a.Accept
			s.cancel(a)
		}
	}
}

func offerNeeds(t *trial) {
	s, title := t.greet(), t.mint()
	var stranger ident.Member
	rand.Read(stranger[:])
	m := offer(title)
	m.Signers = append(m.Signers, stranger)
	answer := s.reply(m)
	need, ok := answer.(*wire.Need)
	t.check(ok, "%v, want NEED", answer.Type())
	t.check(slices.Equal(need.Members, []ident.Member{stranger}), "NEED of %v, want %v", need.Members, stranger)
	never(s, "it is accepted all the same", func(a *wire.Accept) bool { return a.Token == m.Token })
}

// groupOrder is L (chapter 4).
var groupOrder, _ = new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)

// unreduced replaces S of an envelope's signature by S + L, which is as good to
// who does not look.
func unreduced(raw []byte) []byte {
	out := bytes.Clone(raw)
	s := out[len(out)-32:]
	slices.Reverse(s)
	sum := new(big.Int).Add(new(big.Int).SetBytes(s), groupOrder)
	sum.FillBytes(s)
	slices.Reverse(s)
	return out
}

func badGenesis(t *trial) {
	s := t.greet()
	good := t.mint()
	raw := good.Genesis.Raw()
	flipped := bytes.Clone(raw)
	flipped[len(flipped)-50] ^= 1
	payload := payloadOf(t, raw, envelope.Genesis)
	foreign, err := envelope.Sign(envelope.Domain{Version: 1, Group: ident.Group{1}, Kind: envelope.Genesis}, t.self, payload, t.Identity.Key)
	t.check(err == nil, "genesis not signed: %v", err)
	forged, err := envelope.Sign(envelope.Domain{Version: 1, Group: t.Group.ID(), Kind: envelope.Genesis}, t.self, payload, t.newKey())
	t.check(err == nil, "genesis not signed: %v", err)
	for _, c := range []struct {
		what string
		raw  []byte
	}{
		{"another token's genesis", t.mint().Genesis.Raw()},
		{"a genesis without tag", raw[1:]},
		{"a byte behind the genesis", append(bytes.Clone(raw), 0)},
		{"a changed signature", flipped},
		{"S above the group order", unreduced(raw)},
		{"a genesis of another group", foreign.Raw()},
		{"a genesis that another key has signed", forged.Raw()},
	} {
		m := offer(good)
		m.Genesis = c.raw
		s.refused(m, wire.RefuseTitle, c.what)
	}
}

// payloadOf is what an envelope holds.
func payloadOf(t *trial, raw []byte, kind envelope.Kind) []byte {
	u, err := envelope.Parse(envelope.Domain{Version: 1, Group: t.Group.ID(), Kind: kind}, raw)
	t.check(err == nil, "envelope: %v", err)
	return bytes.Clone(u.Payload())
}

func unknownResource(t *trial) {
	s := t.greet()
	b := t.genesis()
	b.Resource = "nobody-has-this"
	s.refused(offer(t.mintAs(b)), wire.RefuseResource, "a resource that nobody has")
	b = t.genesis()
	b.Slot = 1 << 20
	s.refused(offer(t.mintAs(b)), wire.RefuseResource, "a slot that nobody has")
}

func genesisTime(t *trial) {
	s := t.greet()
	allowance := t.Group.Config().Settings().ClockAllowance + time.Hour
	for what, off := range map[string]time.Duration{"too old": -allowance, "of the future": allowance} {
		b := t.genesis()
		b.Time = uint64(time.Now().Add(off).UnixMilli())
		s.refused(offer(t.mintAs(b)), wire.RefuseClock, "a token that is "+what)
	}
}

// extended is an encoded genesis with one extension of this key.
func (t *trial) extended(key byte) (m *wire.Offer) {
	payload := payloadOf(t, t.mint().Genesis.Raw(), envelope.Genesis)
	signed := t.signed(envelope.Genesis, extend(payload, key))
	return &wire.Offer{Token: signed.Hash(), Hop: 1, Genesis: signed.Raw(), Signers: []ident.Member{t.self}}
}

// extend puts one extension into a payload without any.
func extend(payload []byte, key byte) []byte {
	return append(payload[:len(payload)-1], 0xa1, key, 0x00)
}

// signed is an envelope with any payload, signed by this member.
func (t *trial) signed(kind envelope.Kind, payload []byte) envelope.Verified {
	v, err := envelope.Sign(envelope.Domain{Version: 1, Group: t.Group.ID(), Kind: kind}, t.self, payload, t.Identity.Key)
	t.check(err == nil, "not signed: %v", err)
	return v
}

// Extension keys that version 1 does not know, in one byte.
const oddKey, evenKey = 0x17, 0x16

func offerExtensions(t *trial) {
	s := t.greet()
	s.cancel(s.reserved(t.extended(oddKey)))
	s.refused(t.extended(evenKey), wire.RefuseTitle, "an unknown even extension")
}

func floorRises(t *trial) {
	const reservations = 40
	s := t.greet()
	first := t.mint()
	low := s.reserve(first)
	s.cancel(low)
	for range reservations {
		s.cancel(s.reserve(t.mint()))
	}
	t.settled = t.drawn + 1
	s.close()
	s = t.greet() // it reports in HELLO
	s.fence()
	s.close()
	s = t.greet()
	floor := s.hello.Floor
	t.check(floor <= t.settled, "the floor is %d, and %d was reported", floor, t.settled)
	if floor <= low.Accept {
		t.skip("the member has not raised its floor, which it may put off")
	}
	x, m := s.transfer(first, s.transferBody(first, low))
	v, _ := s.verdict(x, m)
	t.check(v == token.Unknown, "%v for a number below the floor, want UNKNOWN", v)
}
