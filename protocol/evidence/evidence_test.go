package evidence_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

func TestCrimes(t *testing.T) {
	each(t, func(t *testing.T, c crime) {
		for _, order := range [][2]evidence.Object{{c.a, c.b}, {c.b, c.a}} {
			kind, accused, ok := evidence.Of(groupID, order[0], order[1])
			assert.True(t, ok)
			assert.Equal(t, c.kind, kind)
			if !c.kind.AgainstGate() { // an answer does not name its gate
				assert.Equal(t, c.by.id, accused)
			}
			e, err := evidence.New(groupID, chain(t), c.by.certificate(t), order[0], order[1])
			require.NoError(t, err)
			assert.Equal(t, c.evidence(t), e, "whoever has which object first")
		}
		e := c.evidence(t)
		proof, err := e.Verify(groupID)
		require.NoError(t, err)
		assert.Equal(t, c.kind, proof.Kind)
		assert.Equal(t, c.by.id, proof.Accused)
		assert.Equal(t, "ftp-03", proof.Name)
		assert.Equal(t, uint64(7), proof.Serial)
		assert.Equal(t, c.hop, proof.Hop)
		assert.Equal(t, e.ID(), proof.ID)
		assert.NotEmpty(t, proof.Account)

		text, err := e.Text()
		require.NoError(t, err)
		again, err := evidence.ParseText(text)
		require.NoError(t, err)
		assert.Equal(t, e, again)
	})
}

// A token that was forked comes to ben by two chains, of which he has settled and
// forgotten the first before the second comes: his two transfers of one hop convict
// nobody.
func TestFork_SecondChain_Found(t *testing.T) {
	fresh, _, _, _ := titles(t)
	by := func(from party) token.Title {
		return token.Title{Genesis: fresh.Genesis, Transfer: pass(t, fresh, from, ben, func(b *token.TransferBody) { b.Hop = 5 })}
	}
	one, other := pass(t, by(cleo), ben, ada), pass(t, by(dan), ben, ada)
	require.Equal(t, one.Body().Hop, other.Body().Hop)
	_, _, ok := evidence.Of(groupID, aTransfer(one), aTransfer(other))
	assert.False(t, ok)
}

func TestKinds_Each_HasACrime(t *testing.T) {
	seen := map[evidence.Kind]bool{}
	for _, c := range crimes(t) {
		seen[c.kind] = true
	}
	for _, k := range evidence.Kinds() {
		assert.True(t, seen[k], k)
	}
}

// What one honest member may have signed is no evidence, in either order.
func TestNoCrime(t *testing.T) {
	fresh, atBen, atCleo, back := titles(t)
	onward := pass(t, back, ben, dan)
	unknown := answer(t, token.Unknown, atCleo.Transfer, cleo)
	for name, pair := range map[string][2]evidence.Object{
		"one object twice":         {aTransfer(atCleo.Transfer), aTransfer(atCleo.Transfer)},
		"two signers of one hop":   {aTransfer(atCleo.Transfer), aTransfer(pass(t, atBen, dan, cleo))},
		"hop after hop":            {aTransfer(atBen.Transfer), aTransfer(atCleo.Transfer)},
		"after a void":             {aTransfer(atCleo.Transfer), aTransfer(onward)},
		"the void of it":           {anAnswer(back.Void), aTransfer(onward)},
		"void and its transfer":    {anAnswer(back.Void), aTransfer(atCleo.Transfer)},
		"hop 1":                    {aGenesis(fresh.Genesis), aTransfer(atBen.Transfer)},
		"numbers in a row":         {aGenesis(fresh.Genesis), aGenesis(genesis(t, ada, 4, 1))},
		"number of another":        {aGenesis(fresh.Genesis), aGenesis(genesis(t, ben, 3, 1))},
		"unknown and receipt":      {anAnswer(unknown), anAnswer(answer(t, token.Receipt, atCleo.Transfer, cleo))},
		"void and receipt of two":  {anAnswer(back.Void), anAnswer(answer(t, token.Receipt, onward, cleo))},
		"void and receipt by two":  {anAnswer(back.Void), anAnswer(answer(t, token.Receipt, atCleo.Transfer, dan))},
		"void and receipt for two": {anAnswer(back.Void), anAnswer(answer(t, token.Receipt, atBen.Transfer, ben))},
		"not an object":            {aTransfer(atCleo.Transfer), {Kind: envelope.Transfer, Raw: []byte{1}}},
		"not of a token":           {aTransfer(atCleo.Transfer), {Kind: envelope.Leave, Raw: atCleo.Transfer.Raw()}},
	} {
		for _, p := range [][2]evidence.Object{pair, {pair[1], pair[0]}} {
			_, _, ok := evidence.Of(groupID, p[0], p[1])
			assert.False(t, ok, name)
			_, err := evidence.New(groupID, chain(t), ben.certificate(t), p[0], p[1])
			assert.ErrorIs(t, err, evidence.ErrNoProof, name)
		}
	}
}

// What an honest gate may have signed is no evidence, in either order.
func TestNoCrime_Gate(t *testing.T) {
	ofAda := says(t, ada, 2, opens(7, 3))
	for name, o := range map[string]evidence.Object{
		"the same once more":              ofAda,
		"its end":                         says(t, ada, 2, closes(7)),
		"its wait before":                 says(t, ada, 2, isBusy(6, 2, ben)),
		"the end of a wait":               says(t, ada, 2, closes(0)),
		"busy with it":                    says(t, ben, 2, isBusy(7, 3, ada)),
		"busy with nobody known":          says(t, ben, 2, gate.BusyAnswer{Session: 7}),
		"the next one":                    says(t, ben, 2, opens(8, 3)),
		"another sign-in refused":         says(t, ada, 3, refuses()),
		"a refusal on another connection": says(t, ada, 2, refuses(), func(b *wire.AnswerBody) { b.Exporter[0]++ }),
		"another resource":                says(t, ben, 2, opens(7, 3), func(b *wire.AnswerBody) { b.Resource = "tape" }),
		"a transfer":                      forkOf(t).a,
		"not an object":                   {Kind: envelope.GateAnswer, Raw: []byte{1}},
	} {
		for _, p := range [][2]evidence.Object{{ofAda, o}, {o, ofAda}} {
			_, _, ok := evidence.Of(groupID, p[0], p[1])
			assert.False(t, ok, name)
			_, err := evidence.New(groupID, chain(t), door.certificate(t), p[0], p[1])
			assert.ErrorIs(t, err, evidence.ErrNoProof, name)
		}
	}
}

// Two answers convict the gate that has the key, and nobody else.
func TestVerify_GateOfOthers_Refused(t *testing.T) {
	lie := lies(t)[0]
	other := party{newParty(6).id, newParty(6).key, certificate.GateRole}
	_, err := evidence.New(groupID, chain(t), other.certificate(t), lie.a, lie.b)
	assert.ErrorIs(t, err, evidence.ErrObject, "of another gate")
	member := door
	member.role = certificate.MemberRole
	_, err = evidence.New(groupID, chain(t), member.certificate(t), lie.a, lie.b)
	assert.ErrorIs(t, err, evidence.ErrCertificate, "of a member")
	assert.ErrorIs(t, err, certificate.ErrRole)
	_, err = evidence.New(groupID, chain(t)[:1], door.certificate(t), lie.a, lie.b)
	assert.ErrorIs(t, err, evidence.ErrCertificate, "of an unknown CA key")
	_, err = evidence.New(groupID, chain(t)[1:], door.certificate(t), lie.a, lie.b)
	assert.ErrorIs(t, err, evidence.ErrAuthority)
	thief := forkOf(t)
	e := thief.evidence(t)
	e.Accused, e.Certificate = door.id, door.certificate(t)
	_, err = e.Verify(groupID)
	assert.ErrorIs(t, err, certificate.ErrRole, "a gate signs no transfers")
}

// Every reason to refuse evidence has one example that is nothing else.
func TestVerify_Invalid_Refused(t *testing.T) {
	fork := forkOf(t)
	for name, c := range map[string]struct {
		change func(*evidence.Evidence)
		err    error
	}{
		"another group":            {func(e *evidence.Evidence) { e.Group[0]++ }, evidence.ErrGroup},
		"kind 0":                   {func(e *evidence.Evidence) { e.Kind = 0 }, evidence.ErrKind},
		"another kind":             {func(e *evidence.Evidence) { e.Kind = evidence.DoubleMint }, evidence.ErrObject},
		"no authority":             {func(e *evidence.Evidence) { e.Authorities = nil }, evidence.ErrMalformed},
		"too many authorities":     {func(e *evidence.Evidence) { e.Authorities = make([][]byte, 9) }, evidence.ErrMalformed},
		"one object":               {func(e *evidence.Evidence) { e.Objects = e.Objects[:1] }, evidence.ErrMalformed},
		"not from the first key":   {func(e *evidence.Evidence) { e.Authorities = e.Authorities[1:] }, evidence.ErrAuthority},
		"key twice":                {func(e *evidence.Evidence) { e.Authorities = append(e.Authorities, e.Authorities[0]) }, group.ErrTwice},
		"CA key unknown":           {func(e *evidence.Evidence) { e.Authorities = e.Authorities[:1] }, evidence.ErrCertificate},
		"no certificate":           {func(e *evidence.Evidence) { e.Certificate = nil }, evidence.ErrCertificate},
		"certificate of another":   {func(e *evidence.Evidence) { e.Certificate = dan.certificate(t) }, evidence.ErrAccused},
		"accusing another":         {func(e *evidence.Evidence) { e.Accused = dan.id }, evidence.ErrAccused},
		"objects of another":       {func(e *evidence.Evidence) { e.Accused, e.Certificate = dan.id, dan.certificate(t) }, token.ErrUnknownSigner},
		"objects in another order": {func(e *evidence.Evidence) { slices.Reverse(e.Objects) }, evidence.ErrOrder},
		"one object twice":         {func(e *evidence.Evidence) { e.Objects[1] = e.Objects[0] }, evidence.ErrNoProof},
	} {
		e := fork.evidence(t)
		c.change(e)
		_, err := e.Verify(groupID)
		assert.ErrorIs(t, err, c.err, name)
	}
	_, err := fork.evidence(t).Verify(ident.Group{1})
	assert.ErrorIs(t, err, evidence.ErrGroup)
}

// The second object of a misfit is only what the first names, without its
// signature.
func TestMisfitNames(t *testing.T) {
	c := crimes(t)[len(lies(t))+5]
	e := c.evidence(t)
	e.Objects[1] = c.b.Raw
	_, err := e.Verify(groupID)
	assert.ErrorIs(t, err, evidence.ErrObject, "with a signature")

	fresh, _, _, _ := titles(t)
	raw := slices.Clone(fresh.Genesis.Raw())
	clear(raw[len(raw)-64:])
	e.Objects[1] = raw
	_, err = e.Verify(groupID)
	assert.ErrorIs(t, err, evidence.ErrObject, "another object")
}

func TestNew_Invalid_Refused(t *testing.T) {
	fork := forkOf(t)
	_, err := evidence.New(groupID, chain(t), make([]byte, evidence.MaxSize), fork.a, fork.b)
	assert.ErrorIs(t, err, evidence.ErrTooLarge)
	_, err = evidence.New(groupID, chain(t), dan.certificate(t), fork.a, fork.b)
	assert.ErrorIs(t, err, evidence.ErrAccused)
}

func TestParse_Invalid_Refused(t *testing.T) {
	raw, err := forkOf(t).evidence(t).Encode()
	require.NoError(t, err)
	for name, bad := range map[string][]byte{
		"nothing": nil, "cut": raw[:len(raw)-1], "with more": append(slices.Clone(raw), 0),
		"an array of 5": append([]byte{0x85}, raw[1:]...), "too long": make([]byte, evidence.MaxSize+1),
	} {
		_, err := evidence.Parse(bad)
		assert.ErrorIs(t, err, evidence.ErrMalformed, name)
	}
	for _, kind := range []byte{0, 8, 23} {
		bad := slices.Clone(raw)
		bad[1] = kind
		_, err = evidence.Parse(bad)
		assert.ErrorIs(t, err, evidence.ErrKind)
	}
}

func TestParseText_Invalid_Refused(t *testing.T) {
	text, err := forkOf(t).evidence(t).Text()
	require.NoError(t, err)
	other, err := keyfile.EncodeBlocks(keyfile.Block{Type: keyfile.Certificate, Bytes: ben.certificate(t)})
	require.NoError(t, err)
	for name, bad := range map[string][]byte{
		"nothing": nil, "two blocks": append(slices.Clone(text), text...), "another block": other,
		"no block": []byte("hello\n"), "too long": make([]byte, evidence.MaxText+1),
	} {
		_, err := evidence.ParseText(bad)
		assert.ErrorIs(t, err, evidence.ErrText, name)
	}
	_, err = evidence.ParseText(append([]byte("# from the audit of 3 March\n"), text...))
	assert.NoError(t, err)
}

// The largest evidence has a text that is read again.
func TestLargestText(t *testing.T) {
	e := forkOf(t).evidence(t)
	raw, err := e.Encode()
	require.NoError(t, err)
	e.Certificate = append(e.Certificate, make([]byte, evidence.MaxSize-len(raw)-1)...) // its head grows by 1
	text, err := e.Text()
	require.NoError(t, err)
	again, err := evidence.ParseText(text)
	require.NoError(t, err)
	assert.Equal(t, e, again)
	e.Certificate = append(e.Certificate, 0)
	_, err = e.Text()
	assert.ErrorIs(t, err, evidence.ErrTooLarge)
}

// What a journal has of evidence becomes evidence again; what it calls something
// else does not.
func TestRecover(t *testing.T) {
	each(t, func(t *testing.T, c crime) {
		require.Equal(t, c.kind.Objects()[0], c.a.Kind)
		a, b, ok := evidence.Recover(groupID, c.kind.String(), [][]byte{c.a.Raw, c.b.Raw})
		require.True(t, ok)
		e, err := evidence.New(groupID, chain(t), c.by.certificate(t), a, b)
		require.NoError(t, err)
		assert.Equal(t, c.evidence(t), e)
		for what, raws := range map[string][][]byte{
			"two givers of one hop": {c.a.Raw, c.b.Raw}, "": {c.a.Raw, c.b.Raw},
			c.kind.String(): {c.a.Raw, c.a.Raw}, evidence.Kind(c.kind%7 + 1).String(): {c.a.Raw, c.b.Raw},
		} {
			a, b, ok := evidence.Recover(groupID, what, raws)
			if ok { // one answer, once as a void and once as a receipt: its signature tells
				_, err := evidence.New(groupID, chain(t), c.by.certificate(t), a, b)
				assert.ErrorIs(t, err, evidence.ErrObject, what)
			}
		}
		_, _, ok = evidence.Recover(groupID, c.kind.String(), [][]byte{c.a.Raw})
		assert.False(t, ok)
	})
}

// The id is of what is proved, not of what else is in the file.
func TestID(t *testing.T) {
	ids := map[ident.Hash]string{}
	for _, c := range crimes(t) {
		e := c.evidence(t)
		assert.Empty(t, ids[e.ID()], c.name)
		ids[e.ID()] = c.name
		id := e.ID()
		e.Authorities, e.Certificate = nil, nil
		assert.Equal(t, id, e.ID())
	}
}
