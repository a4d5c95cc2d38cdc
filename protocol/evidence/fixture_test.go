package evidence_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

func keyOf(n byte) *signature.PrivateKey {
	key, err := signature.NewPrivateKey(bytes.Repeat([]byte{n}, signature.SeedSize))
	if err != nil {
		panic(err)
	}
	return key
}

var (
	epoch        = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	first, later = keyOf(100), keyOf(101) // CA keys
	groupID      = func() ident.Group { raw := first.Public().Bytes(); return ident.GroupOf(raw[:]) }()
)

// chain is the statements about both CA keys.
func chain(t require.TestingT) [][]byte {
	say := func(key, by *signature.PrivateKey, version uint64) []byte {
		a, err := group.Statement{
			Name: "example", Group: groupID, Key: key.Public().Bytes(), Version: version,
			NotBefore: epoch, NotAfter: epoch.AddDate(10, 0, 0),
		}.Sign(by)
		require.NoError(t, err)
		return a.Raw()
	}
	return [][]byte{say(first, first, 0), say(later, first, 2)}
}

// party is a member of the group.
type party struct {
	id   ident.Member
	key  *signature.PrivateKey
	role certificate.Role
}

func newParty(n byte) party {
	raw := keyOf(n).Public().Bytes()
	return party{id: ident.MemberOf(groupID, raw[:]), key: keyOf(n), role: certificate.MemberRole}
}

var (
	ada, ben, cleo, dan = newParty(1), newParty(2), newParty(3), newParty(4)
	door                = party{newParty(5).id, newParty(5).key, certificate.GateRole}
)

// certificate is p's, from the CA's second key.
func (p party) certificate(t require.TestingT) []byte {
	c, err := certificate.Claims{
		Name: "ftp-03", Serial: 7, NotBefore: epoch, NotAfter: epoch.AddDate(0, 3, 0), IssuedAt: epoch,
		Key: p.key.Public().Bytes(), Group: groupID, Role: p.role,
	}.Sign(later)
	require.NoError(t, err)
	return c.Raw()
}

func genesis(t require.TestingT, by party, sequence uint64, nonce byte) token.Genesis {
	g, err := token.GenesisBody{
		Resource: "ftp", Generator: by.id, Incarnation: ident.Incarnation{9}, Sequence: sequence,
		Time: 1700000000000, Nonce: [token.NonceSize]byte{nonce},
	}.Sign(groupID, by.key)
	require.NoError(t, err)
	return g
}

// pass signs the transfer by which the title's holder gives the token away.
func pass(t require.TestingT, title token.Title, from, to party, change ...func(*token.TransferBody)) token.Transfer {
	body := title.Next(to.id, ident.Reservation{Incarnation: ident.Incarnation{to.id[0]}, Number: 4})
	body.From = from.id
	for _, c := range change {
		c(&body)
	}
	signed, err := body.Sign(groupID, from.key)
	require.NoError(t, err)
	return signed
}

func answer(t require.TestingT, v token.Verdict, tr token.Transfer, by party) token.Answer {
	signed, err := token.AnswerTo(tr, by.id, ident.Incarnation{by.id[0]}).Sign(groupID, v, by.key)
	require.NoError(t, err)
	return signed
}

// The objects as evidence has them.
func aGenesis(g token.Genesis) evidence.Object {
	return evidence.Object{Kind: envelope.Genesis, Raw: g.Raw()}
}
func aTransfer(o token.Transfer) evidence.Object {
	return evidence.Object{Kind: envelope.Transfer, Raw: o.Raw()}
}
func anAnswer(a token.Answer) evidence.Object {
	kinds := map[token.Verdict]envelope.Kind{
		token.Receipt: envelope.Receipt, token.Void: envelope.Void, token.Unknown: envelope.Unknown,
	}
	return evidence.Object{Kind: kinds[a.Verdict()], Raw: a.Raw()}
}

// crime is two objects and what they prove.
type crime struct {
	name string
	kind evidence.Kind
	by   party
	a, b evidence.Object
	hop  uint64
}

// titles are those of a token that goes from ada to ben to cleo, who declines it.
func titles(t require.TestingT) (fresh, atBen, atCleo, back token.Title) {
	fresh = token.Title{Genesis: genesis(t, ada, 3, 1)}
	atBen = token.Title{Genesis: fresh.Genesis, Transfer: pass(t, fresh, ada, ben)}
	atCleo = token.Title{Genesis: fresh.Genesis, Transfer: pass(t, atBen, ben, cleo)}
	back = atCleo
	back.Void = answer(t, token.Void, atCleo.Transfer, cleo)
	return fresh, atBen, atCleo, back
}

// says is an answer of the door to the sign-in of a member with a number.
func says(t require.TestingT, to party, number uint64, a gate.Answer, change ...func(*wire.AnswerBody)) evidence.Object {
	b := wire.AnswerBody{
		Resource: "ftp", Slot: 1, Member: to.id, Title: ident.Hash{to.id[0]}, Exporter: [32]byte{to.id[1]}, Number: number, Time: 1700000000000, Answer: a,
	}
	for _, c := range change {
		c(&b)
	}
	signed, err := b.Sign(groupID, door.key)
	require.NoError(t, err)
	return evidence.Object{Kind: envelope.GateAnswer, Raw: signed.Raw()}
}

func opens(session, hop uint64) gate.Answer {
	return gate.OpenAnswer{Session: session, Until: 1700000001000, Token: ident.Token{6}, Hop: hop}
}

func isBusy(session, hop uint64, with party) gate.Answer {
	return gate.BusyAnswer{Session: session, Holder: with.id, Token: ident.Token{6}, Hop: hop}
}

func closes(session uint64) gate.Answer {
	return gate.ClosedAnswer{Session: session, Reason: gate.BySignOut, Confirmed: true}
}

func refuses() gate.Answer { return gate.RefuseAnswer{Code: gate.Stale} }

// lies are what no gate signs both of.
func lies(t require.TestingT) []crime {
	lie := func(name string, kind evidence.Kind, a, b evidence.Object) crime {
		return crime{name: name, kind: kind, by: door, a: a, b: b, hop: 3}
	}
	ofAda := says(t, ada, 2, opens(7, 3))
	return []crime{
		lie("two sessions for a sign-in", evidence.TwoAnswers, ofAda, says(t, ada, 2, opens(8, 3))),
		lie("a session and a refusal", evidence.TwoAnswers, ofAda, says(t, ada, 2, refuses())),
		lie("a session and the end of another", evidence.TwoAnswers, ofAda, says(t, ada, 2, closes(8))),
		lie("two sign-ins", evidence.NumberTwice, ofAda, says(t, ben, 2, opens(7, 3))),
		lie("two sign-ins of a member", evidence.NumberTwice, ofAda, says(t, ada, 3, opens(7, 3))),
		lie("the end of another's", evidence.NumberTwice, ofAda, says(t, ben, 2, closes(7))),
		lie("two slots", evidence.NumberTwice, ofAda, says(t, ada, 2, opens(7, 3), func(b *wire.AnswerBody) { b.Slot++ })),
		lie("two holders", evidence.NumberTwice, ofAda, says(t, cleo, 1, isBusy(7, 3, ben))),
		lie("two hops", evidence.NumberTwice, says(t, cleo, 1, isBusy(7, 3, ada)), says(t, dan, 1, isBusy(7, 3, ben))),
	}
}

// crimes are some of every kind.
func crimes(t require.TestingT) []crime {
	fresh, atBen, atCleo, back := titles(t)
	toDan := pass(t, atBen, ben, dan)
	receipt := answer(t, token.Receipt, atCleo.Transfer, cleo)
	kept := pass(t, atCleo, cleo, dan)
	hop := func(n uint64) func(*token.TransferBody) { return func(b *token.TransferBody) { b.Hop = n } }
	misfit := func(name string, by party, what token.Transfer, of evidence.Object) crime {
		return crime{name: name, kind: evidence.Misfit, by: by, a: aTransfer(what), b: of, hop: what.Body().Hop}
	}
	skipped := pass(t, atBen, ben, cleo, hop(5))
	stolen := pass(t, atBen, dan, cleo)
	early := pass(t, fresh, ada, ben, hop(2))
	taken := pass(t, back, dan, ada)
	other := pass(t, back, ben, dan, func(b *token.TransferBody) { b.Previous = ident.Hash{4} })
	return append(lies(t), []crime{
		{name: "fork", kind: evidence.Fork, by: ben, a: aTransfer(atCleo.Transfer), b: aTransfer(toDan), hop: 2},
		{name: "fork to the same member", kind: evidence.Fork, by: ben, a: aTransfer(atCleo.Transfer), hop: 2,
			b: aTransfer(pass(t, atBen, ben, cleo, func(b *token.TransferBody) { b.Accept = 5 }))},
		{name: "contradiction", kind: evidence.Contradiction, by: cleo, a: anAnswer(back.Void), b: anAnswer(receipt), hop: 2},
		{name: "reclaimed", kind: evidence.Reclaimed, by: cleo, a: anAnswer(back.Void), b: aTransfer(kept), hop: 2},
		{name: "double mint", kind: evidence.DoubleMint, by: ada, a: aGenesis(fresh.Genesis), b: aGenesis(genesis(t, ada, 3, 2))},
		misfit("wrong hop", ben, skipped, aTransfer(atBen.Transfer)),
		misfit("not the holder", dan, stolen, aTransfer(atBen.Transfer)),
		misfit("wrong hop after a genesis", ada, early, aGenesis(fresh.Genesis)),
		misfit("back to somebody else", dan, taken, aTransfer(back.Transfer)),
		misfit("void of another transfer", ben, other, anAnswer(back.Void)),
	}...)
}

// forkOf is the first crime of a member.
func forkOf(t require.TestingT) crime { return crimes(t)[len(lies(t))] }

// make is the evidence of a crime.
func (c crime) evidence(t require.TestingT) *evidence.Evidence {
	e, err := evidence.New(groupID, chain(t), c.by.certificate(t), c.a, c.b)
	require.NoError(t, err, c.name)
	return e
}

func each(t *testing.T, f func(*testing.T, crime)) {
	for _, c := range crimes(t) {
		t.Run(c.name, func(t *testing.T) { f(t, c) })
	}
}
