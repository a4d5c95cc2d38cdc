package wire_test

import (
	"bytes"
	"slices"

	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// object is a byte string in the place of a signed object of n bytes.
func object(n int) []byte { return bytes.Repeat([]byte{0xc5}, n) }

func repeat[T any](n int, x T) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = x
	}
	return list
}

// samples has one good message of each type, in the order of types. Every call
// makes new ones, so that a test can spoil them.
func samples() []wire.Message {
	token, member := ident.Token{1}, ident.Member{2}
	incarnation := ident.Incarnation{3}
	return []wire.Message{
		&wire.Hello{
			Versions: [2]uint64{1, 1}, Incarnation: incarnation, MaxFrame: wire.MaxFrame, Configuration: 7,
			Revocations: 2, Floor: 9, Settled: &wire.Settled{Incarnation: incarnation, Below: 4},
			Endpoint: object(90), Time: 1700000000000,
			Shown: &wire.Shown{Kind: wire.ShownVoid, Object: object(180)},
		},
		&wire.Offer{
			Token: token, Hop: 5, Genesis: object(200), Signers: []ident.Member{member},
			Certificates: [][]byte{object(300)}, Settled: &wire.Settled{Incarnation: incarnation, Below: 4},
		},
		&wire.Need{Token: token, Hop: 5, Members: []ident.Member{member}},
		&wire.Accept{Token: token, Hop: 5, Incarnation: incarnation, Accept: 8, MAC: ident.MAC{9}, Lifetime: 60000},
		&wire.Refuse{Token: token, Hop: 5, Reason: wire.RefuseBusy, RetryAfter: 250},
		&wire.Cancel{Token: token, Hop: 5, Incarnation: incarnation, Accept: 8},
		&wire.Transfer{
			Transfer: object(300), Genesis: object(200), Previous: object(301), Void: object(180),
			Certificates: [][]byte{object(300), object(310)}, Updates: [][]byte{object(120)},
		},
		&wire.Receipt{Receipt: object(180), Updates: [][]byte{object(120)}},
		&wire.Void{Void: object(180)},
		&wire.Unknown{Unknown: object(180)},
		&wire.Policy{Resource: "ftp", Slot: 1, Policy: "ring", Configuration: 7, Body: object(40)},
		&wire.Want{Topic: wire.WantMembers, From: ident.Member{1}, Through: member, Version: 3},
		&wire.Members{
			Entries: []wire.Entry{{
				Certificate: object(300), Endpoint: object(120), Leave: object(110), Failures: [][]byte{object(130)},
			}},
			Through: member, More: true,
		},
		&wire.Configuration{Configuration: object(900), Authorities: [][]byte{object(200)}},
		&wire.Revocations{Revocations: [][]byte{object(150)}, More: true},
		&wire.Gossip{Configuration: 7, Revocations: 2, Members: 191, Fingerprint: wire.Fingerprint{4}, Answer: true},
		&wire.Summary{From: ident.Member{1}, Parts: []wire.Part{
			{Through: member, Members: 2, Fingerprint: wire.Fingerprint{4}}, {Through: ident.Member{9}},
		}},
		&wire.Probe{Subject: member, Sequence: 3},
		&wire.News{Updates: [][]byte{object(120)}},
	}
}

// smallest has the same messages with everything left out that may be.
func smallest() []wire.Message {
	token, member := ident.Token{1}, ident.Member{2}
	return []wire.Message{
		&wire.Hello{Versions: [2]uint64{1, 1}},
		&wire.Offer{Token: token, Hop: 1, Genesis: object(1), Signers: []ident.Member{member}},
		&wire.Need{Token: token, Hop: 1, Members: []ident.Member{member}},
		&wire.Accept{Token: token, Hop: 1},
		&wire.Refuse{Token: token, Hop: 1, Reason: wire.RefuseBusy},
		&wire.Cancel{Token: token, Hop: 1},
		&wire.Transfer{Transfer: object(1), Genesis: object(1)},
		&wire.Receipt{Receipt: object(1)},
		&wire.Void{Void: object(1)},
		&wire.Unknown{Unknown: object(1)},
		&wire.Policy{Resource: "r", Policy: "p"},
		&wire.Want{Topic: wire.WantMembers},
		&wire.Members{},
		&wire.Configuration{Configuration: object(1)},
		&wire.Revocations{},
		&wire.Gossip{},
		&wire.Summary{},
		&wire.Probe{},
		&wire.News{Updates: [][]byte{object(1)}},
	}
}

// sample is the good message of type T.
func sample[T wire.Message]() T {
	for _, m := range samples() {
		if m, ok := m.(T); ok {
			return m
		}
	}
	panic("no sample of this type")
}

// The generators keep lists and objects small, so that many fit a frame; the
// limits have tests of their own.
var (
	anyObject   = rapid.SliceOfN(rapid.Byte(), 1, 40)
	maybeObject = rapid.SliceOfN(rapid.Byte(), 0, 40)
	anyObjects  = rapid.SliceOfN(anyObject, 0, 4)
	anyNumber   = rapid.Uint64()
	anyHop      = rapid.Uint64Range(1, ident.MaxHop)
	anyName     = rapid.StringMatching(`[a-z0-9._-]{1,64}`)
	anyToken    = rapid.Custom(func(t *rapid.T) ident.Token { return ident.Token(bytes32(t)) })
	anyMember   = rapid.Custom(func(t *rapid.T) ident.Member { return ident.Member(bytes32(t)[:16]) })
	anyMemory   = rapid.Custom(func(t *rapid.T) ident.Incarnation { return ident.Incarnation(bytes32(t)[:16]) })
	anySigners  = rapid.SliceOfN(anyMember, 1, wire.MaxSigners)
	anySettled  = rapid.Custom(func(t *rapid.T) *wire.Settled {
		if !rapid.Bool().Draw(t, "settled") {
			return nil
		}
		return &wire.Settled{Incarnation: anyMemory.Draw(t, "settled incarnation"), Below: anyNumber.Draw(t, "below")}
	})
)

func bytes32(t *rapid.T) []byte {
	return rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "bytes")
}

// anyMessage draws a good message of any type.
var anyMessage = rapid.Custom(func(t *rapid.T) wire.Message {
	kind := rapid.SampledFrom(makers).Draw(t, "type")
	return kind(t)
})

var makers = []func(*rapid.T) wire.Message{
	func(t *rapid.T) wire.Message {
		low := rapid.Uint64Range(1, 9).Draw(t, "low")
		return &wire.Hello{
			Versions:    [2]uint64{low, rapid.Uint64Min(low).Draw(t, "high")},
			Incarnation: anyMemory.Draw(t, "incarnation"), Features: anyNumber.Draw(t, "features"),
			MaxFrame: anyNumber.Draw(t, "max frame"), Configuration: anyNumber.Draw(t, "configuration"),
			Revocations: anyNumber.Draw(t, "revocations"), Floor: anyNumber.Draw(t, "floor"),
			Settled: anySettled.Draw(t, "settled"), Endpoint: maybeObject.Draw(t, "endpoint"),
			Time: anyNumber.Draw(t, "time"),
		}
	},
	func(t *rapid.T) wire.Message {
		return &wire.Offer{
			Token: anyToken.Draw(t, "token"), Hop: anyHop.Draw(t, "hop"), Genesis: anyObject.Draw(t, "genesis"),
			Signers: anySigners.Draw(t, "signers"), Certificates: anyObjects.Draw(t, "certificates"),
			Settled: anySettled.Draw(t, "settled"),
		}
	},
	func(t *rapid.T) wire.Message {
		return &wire.Need{
			Token: anyToken.Draw(t, "token"), Hop: anyHop.Draw(t, "hop"), Members: anySigners.Draw(t, "members"),
		}
	},
	func(t *rapid.T) wire.Message {
		return &wire.Accept{
			Token: anyToken.Draw(t, "token"), Hop: anyHop.Draw(t, "hop"),
			Incarnation: anyMemory.Draw(t, "incarnation"), Accept: anyNumber.Draw(t, "accept"),
			MAC:      ident.MAC(rapid.SliceOfN(rapid.Byte(), ident.MACSize, ident.MACSize).Draw(t, "mac")),
			Lifetime: anyNumber.Draw(t, "lifetime"),
		}
	},
	func(t *rapid.T) wire.Message {
		return &wire.Refuse{
			Token: anyToken.Draw(t, "token"), Hop: anyHop.Draw(t, "hop"),
			Reason:     wire.Refusal(rapid.Uint64Min(1).Draw(t, "reason")),
			RetryAfter: anyNumber.Draw(t, "retry after"),
		}
	},
	func(t *rapid.T) wire.Message {
		return &wire.Cancel{
			Token: anyToken.Draw(t, "token"), Hop: anyHop.Draw(t, "hop"),
			Incarnation: anyMemory.Draw(t, "incarnation"), Accept: anyNumber.Draw(t, "accept"),
		}
	},
	func(t *rapid.T) wire.Message {
		return &wire.Transfer{
			Transfer: anyObject.Draw(t, "transfer"), Genesis: anyObject.Draw(t, "genesis"),
			Previous: maybeObject.Draw(t, "previous"), Void: maybeObject.Draw(t, "void"),
			Certificates: anyObjects.Draw(t, "certificates"), Updates: anyObjects.Draw(t, "updates"),
		}
	},
	func(t *rapid.T) wire.Message {
		return &wire.Receipt{Receipt: anyObject.Draw(t, "receipt"), Updates: anyObjects.Draw(t, "updates")}
	},
	func(t *rapid.T) wire.Message { return &wire.Void{Void: anyObject.Draw(t, "void")} },
	func(t *rapid.T) wire.Message { return &wire.Unknown{Unknown: anyObject.Draw(t, "unknown")} },
	func(t *rapid.T) wire.Message {
		return &wire.Policy{
			Resource: anyName.Draw(t, "resource"), Slot: anyNumber.Draw(t, "slot"), Policy: anyName.Draw(t, "policy"),
			Configuration: anyNumber.Draw(t, "configuration"), Body: maybeObject.Draw(t, "body"),
		}
	},
	func(t *rapid.T) wire.Message {
		ends := ascending(anyMember.Draw(t, "from"), anyMember.Draw(t, "through"))
		return &wire.Want{
			Topic: wire.Topic(rapid.Uint64Range(1, 4).Draw(t, "topic")),
			From:  ends[0], Through: ends[len(ends)-1], Version: anyNumber.Draw(t, "version"),
		}
	},
	func(t *rapid.T) wire.Message {
		entry := rapid.Custom(func(t *rapid.T) wire.Entry {
			return wire.Entry{
				Certificate: anyObject.Draw(t, "certificate"), Endpoint: maybeObject.Draw(t, "endpoint"),
				Leave: maybeObject.Draw(t, "leave"), Failures: anyObjects.Draw(t, "failures"),
			}
		})
		return &wire.Members{
			Entries: rapid.SliceOfN(entry, 0, 4).Draw(t, "entries"),
			Through: anyMember.Draw(t, "through"), More: rapid.Bool().Draw(t, "more"),
		}
	},
	func(t *rapid.T) wire.Message {
		if rapid.Bool().Draw(t, "part") {
			before := wire.ConfigurationPart * rapid.Uint64Range(0, wire.MaxConfiguration/wire.ConfigurationPart-2).Draw(t, "parts before")
			rest := rapid.Uint64Range(1, wire.MaxConfiguration-wire.ConfigurationPart-before).Draw(t, "rest")
			return &wire.Configuration{Configuration: object(wire.ConfigurationPart), Before: before, Rest: rest}
		}
		return &wire.Configuration{
			Configuration: anyObject.Draw(t, "configuration"), Authorities: anyObjects.Draw(t, "authorities"),
		}
	},
	func(t *rapid.T) wire.Message {
		return &wire.Revocations{Revocations: anyObjects.Draw(t, "revocations"), More: rapid.Bool().Draw(t, "more")}
	},
	func(t *rapid.T) wire.Message {
		return &wire.Gossip{
			Configuration: anyNumber.Draw(t, "configuration"), Revocations: anyNumber.Draw(t, "revocations"),
			Members: anyNumber.Draw(t, "members"), Fingerprint: anyMember.Draw(t, "fingerprint"),
			Answer: rapid.Bool().Draw(t, "answer"),
		}
	},
	func(t *rapid.T) wire.Message {
		ends := ascending(rapid.SliceOfN(anyMember, 1, 5).Draw(t, "ends")...)
		m := &wire.Summary{From: ends[0]}
		for _, end := range ends[1:] {
			m.Parts = append(m.Parts, wire.Part{
				Through: end, Members: anyNumber.Draw(t, "members"), Fingerprint: anyMember.Draw(t, "fingerprint"),
			})
		}
		return m
	},
	func(t *rapid.T) wire.Message {
		return &wire.Probe{Subject: anyMember.Draw(t, "subject"), Sequence: anyNumber.Draw(t, "sequence")}
	},
	func(t *rapid.T) wire.Message {
		return &wire.News{Updates: rapid.SliceOfN(anyObject, 1, 4).Draw(t, "updates")}
	},
}

// ascending is the members in order, each once.
func ascending(members ...ident.Member) []ident.Member {
	slices.SortFunc(members, ident.Member.Compare)
	return slices.Compact(members)
}
