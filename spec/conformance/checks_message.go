package conformance

import (
	"bytes"
	"slices"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/wire"
)

// messageChecks are about chapters 3 and 7.1 to 7.2: encodings, unknown messages, HELLO.
var messageChecks = []Check{
	{"hello", []string{"M-1", "G-1", "E-2"}, "The first message is HELLO: it has version 1, an incarnation, a configuration, and an endpoint record that the member itself has signed, if any.", helloFirst},
	{"incarnation", []string{"H-2"}, "Two connections show one incarnation.", oneIncarnation},
	{"before-hello", []string{"M-2"}, "What comes before this side's HELLO is not answered: WANT, GOSSIP and OFFER.", beforeHello},
	{"hello-version", []string{"M-3"}, "After a HELLO with versions 2 to 3, WANT and OFFER are not answered.", otherVersion},
	{"unknown-messages", []string{"F-3"}, "Bodies that are no message, and messages of types that nobody knows, odd and even, are dropped; the connection stays.", unknownMessages},
	{"encoding", []string{"C-2", "F-3"}, "A WANT that is not in deterministic encoding is dropped; the connection stays.", encodings},
	{"shape", []string{"C-4", "F-3"}, "A WANT with an element more or fewer, or with another type in its place, is dropped; the connection stays.", shapes},
	{"want-bounds", []string{"M-5"}, "A WANT of topic 0 or 5, and one that ends before it begins, is dropped; the connection stays.", wantBounds},
	{"bounds", []string{"C-3", "F-3"}, "An OFFER with five signers, none, or hop 0 is dropped; the connection stays.", offerBounds},
	{"policy-message", []string{"P-2", "P-9", "P-59"}, "POLICY with names, slots and versions that nobody has, and with any body for the resource's own policy or a keeper, is tolerated; the connection stays.", policyMessages},
	{"keeper-ask", []string{"P-50", "P-56"}, "In a slot with a keeper, an ask about a token that nobody knows is answered: by have, went or none.", keeperAsk},
}

func helloFirst(t *trial) {
	s := t.begin()
	s.say(s.greeting())
	first := s.next()
	hello, ok := first.(*wire.Hello)
	t.check(ok, "the first message is not HELLO")
	t.check(hello.Versions[0] <= 1 && hello.Versions[1] >= 1, "versions %d to %d do not include 1", hello.Versions[0], hello.Versions[1])
	t.check(hello.Incarnation != ident.Incarnation{}, "the incarnation is zero")
	t.check(hello.Configuration > 0, "configuration version 0")
	if len(hello.Endpoint) > 0 {
		_, err := certificate.ParseEndpoint(t.Group.ID(), hello.Endpoint, s.cert.Key())
		t.check(err == nil, "the endpoint record: %v", err)
	}
	if p := hello.Settled; p != nil && p.Incarnation == t.incarnation {
		t.check(p.Below <= t.accepts+1, "it promises %d, above 1 + the highest accept number that it has, %d (H-8)", p.Below, t.accepts)
	}
}

func oneIncarnation(t *trial) {
	first := t.greet().hello.Incarnation
	second := t.greet().hello.Incarnation
	t.check(first == second, "%v, then %v", first, second)
}

// revocationsWanted is a WANT whose answer is easily told from the fence's.
func revocationsWanted() *wire.Want { return &wire.Want{Topic: wire.WantRevocations, Version: 1 << 40} }

func beforeHello(t *trial) {
	s := t.begin()
	title := t.mint()
	s.say(revocationsWanted(), &wire.Gossip{Configuration: t.Group.Config().Version()}, offer(title))
	s.say(s.greeting())
	s.awaitHello()
	never(s, "WANT from before HELLO is answered", whatever[*wire.Revocations])
	never(s, "GOSSIP from before HELLO is answered", func(m *wire.Gossip) bool { return m.Answer })
	never(s, "OFFER from before HELLO is accepted", func(m *wire.Accept) bool { return m.Token == title.Token() })
}

func otherVersion(t *trial) {
	s := t.begin()
	h := s.greeting()
	h.Versions = [2]uint64{2, 3}
	title := t.mint()
	s.say(h, revocationsWanted(), offer(title))
	s.listen(t.Quiet)
	_ = s.stream.Close()
	for m := s.next(); m != nil; m = s.next() {
		switch m.(type) {
		case *wire.Revocations, *wire.Accept, *wire.Refuse, *wire.Need:
			t.fail("%v comes, though no version is common", m.Type())
		}
	}
}

func unknownMessages(t *trial) {
	s := t.greet()
	for kind := byte(20); kind < 24; kind++ {
		s.body([]byte{0x82, kind, 0x80})
	}
	for _, body := range [][]byte{
		{0x82, 0x00, 0x80}, {0x82, 0x18, 0xff, 0x80}, {0x80}, {0xa0}, {0x00}, {0xff}, {0x82, 0x0c},
		{0x82, 0x20, 0x80}, []byte("hello"), bytes.Repeat([]byte{0x81}, 60000),
	} {
		s.body(body)
	}
	s.stays()
}

// unheard says bodies that would each be answered if they were taken for the WANT
// that they nearly are.
func (t *trial) unheard(bodies map[string][]byte) {
	for what, body := range bodies {
		s := t.greet()
		s.body(body)
		never(s, what+": answered", whatever[*wire.Revocations])
		s.close()
	}
}

// wanted is the WANT that the following ones are nearly: an array of type 12 and
// of four fields, of which the first is in byte 3.
func wanted() []byte {
	body, err := wire.Encode(revocationsWanted())
	if err != nil {
		panic(err) // it is the same every time
	}
	return body
}

func encodings(t *trial) {
	w := wanted()
	head := func(b ...byte) []byte { return append(b, w[3:]...) }
	t.unheard(map[string][]byte{
		"a byte behind it":            append(bytes.Clone(w), 0),
		"a second message behind it":  append(bytes.Clone(w), w...),
		"an outer array without end":  append(append([]byte{0x9f}, w[1:]...), 0xff),
		"an inner array without end":  append(head(0x82, 0x0c, 0x9f), 0xff),
		"a type in two bytes":         append([]byte{0x82, 0x18, 0x0c}, w[2:]...),
		"an array head in two bytes":  head(0x82, 0x0c, 0x98, 0x04),
		"a topic in two bytes":        append([]byte{0x82, 0x0c, 0x84, 0x18, 0x03}, w[4:]...),
		"a tag around it":             append([]byte{0xc1}, w...),
		"a tag inside":                append([]byte{0x82, 0x0c, 0x84, 0xc1}, w[3:]...),
		"a topic in floating point":   append([]byte{0x82, 0x0c, 0x84, 0xf9, 0x42, 0x00}, w[4:]...),
		"a version that ends early":   w[:len(w)-1],
		"a byte string without end":   append(append([]byte{0x82, 0x0c, 0x84, 0x03, 0x5f}, w[4:]...), 0xff),
		"a version that is undefined": append(bytes.Clone(w[:len(w)-9]), 0xf7),
	})
}

func shapes(t *trial) {
	w := wanted()
	fields := func(head byte, rest ...[]byte) []byte {
		return bytes.Join(append([][]byte{{0x82, 0x0c, head}}, rest...), nil)
	}
	topic, from, through, version := w[3:4], w[4:21], w[21:38], w[38:]
	t.unheard(map[string][]byte{
		"five fields":        fields(0x85, topic, from, through, version, []byte{0}),
		"three fields":       fields(0x83, topic, from, through),
		"an id of 15":        fields(0x84, topic, append([]byte{0x4f}, from[2:]...), through, version),
		"an id as text":      fields(0x84, topic, append([]byte{0x70}, from[1:]...), through, version),
		"an id that is null": fields(0x84, topic, []byte{0xf6}, through, version),
		"a version below 0":  fields(0x84, topic, from, through, []byte{0x20}),
		"three in a message": append([]byte{0x83}, append(bytes.Clone(w[1:]), 0)...),
	})
}

func wantBounds(t *trial) {
	s := t.greet()
	w := wanted()
	for _, topic := range []byte{0, 5, 23} {
		body := bytes.Clone(w)
		body[3] = topic
		s.body(body)
	}
	body := bytes.Clone(w)
	body[3], body[5] = byte(wire.WantMembers), 1 // from one on, through zero
	s.body(body)
	body = bytes.Clone(body)
	body[3] = byte(wire.WantSummary)
	s.body(body)
	never(s, "a WANT with another topic is answered", whatever[*wire.Revocations])
	never(s, "a WANT that ends before it begins is answered", whatever[*wire.Members])
	never(s, "a WANT that ends before it begins is answered", func(m *wire.Summary) bool { return m.From == ident.Member{0: 1} })
}

// offerBody is an OFFER that breaks its bounds, which wire.Encode would not make.
func offerBody(m *wire.Offer, change func([]byte) []byte) []byte {
	body, err := wire.Encode(m)
	if err != nil {
		panic(err) // it was made here
	}
	return change(body)
}

func offerBounds(t *trial) {
	s, title := t.greet(), t.mint()
	m := offer(title)
	signers := append([]byte{0x81, 0x50}, t.self[:]...)
	swap := func(with []byte) func([]byte) []byte {
		return func(body []byte) []byte { return bytes.Replace(body, signers, with, 1) }
	}
	five := append([]byte{0x85}, bytes.Repeat(signers[1:], 5)...)
	s.body(offerBody(m, swap(five)))
	s.body(offerBody(m, swap([]byte{0x80})))
	hop := func(n byte) []byte { return slices.Concat([]byte{0x58, 0x20}, m.Token[:], []byte{n}) }
	s.body(offerBody(m, func(body []byte) []byte { return bytes.Replace(body, hop(1), hop(0), 1) }))
	never(s, "an OFFER that breaks its bounds is accepted", func(a *wire.Accept) bool { return a.Token == m.Token })
	never(s, "an OFFER that breaks its bounds is refused, not dropped", func(a *wire.Refuse) bool { return a.Token == m.Token })
}

func policyMessages(t *trial) {
	s := t.greet()
	r, _ := t.Group.Config().Resource(t.Resource)
	version := t.Group.Config().Version()
	s.say(
		&wire.Policy{Resource: "nobody-has-this", Policy: r.Policy, Configuration: version, Body: []byte{1}},
		&wire.Policy{Resource: t.Resource, Policy: "nobody-has-this", Configuration: version},
		&wire.Policy{Resource: t.Resource, Slot: 1 << 40, Policy: r.Policy, Configuration: version},
		&wire.Policy{Resource: t.Resource, Policy: r.Policy, Configuration: version + 1000},
		&wire.Policy{Resource: t.Resource, Policy: r.Policy, Configuration: version, Body: bytes.Repeat([]byte{0xff}, wire.MaxPolicyBody)},
		&wire.Policy{Resource: t.Resource, Policy: r.Policy, Configuration: version},
	)
	for kind := byte(127); kind < 168; kind++ { // of keepers, and beside them
		s.say(&wire.Policy{Resource: t.Resource, Policy: r.Policy, Configuration: version, Body: []byte{kind, 0}})
	}
	s.stays()
}

// Bodies of keepers (P-50).
const (
	keeperHave = 130
	keeperAsks = 136
	keeperWent = 137
	keeperNone = 138
)

// kept is a resource whose preset has a keeper.
func (t *trial) kept() group.Resource {
	for _, r := range t.Group.Config().Settings().Resources {
		for i, p := range catalog.Presets(r.Policy) {
			if p.Kept && (p.Name == r.Params.Preset || i == 0 && r.Params.Preset == "") {
				return r
			}
		}
	}
	t.skip("no resource's preset has a keeper")
	return group.Resource{}
}

func keeperAsk(t *trial) {
	r, s := t.kept(), t.greet()
	const size = 32 + 8 + 16 // token, hop, and who waits
	ask := &wire.Policy{Resource: r.Name, Policy: r.Policy, Configuration: t.Group.Config().Version(), Body: append([]byte{keeperAsks}, make([]byte, size)...)}
	request(s, ask, "answer to an ask", func(m *wire.Policy) bool {
		if m.Resource != r.Name || m.Slot != 0 || len(m.Body) == 0 {
			return false
		}
		size := map[byte]int{keeperHave: 45, keeperWent: 61, keeperNone: 5}[m.Body[0]]
		t.check(size == 0 || len(m.Body) == size, "a body of kind %d has %d bytes, not %d", m.Body[0], len(m.Body), size)
		return size > 0
	})
}
