package fuzz

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/fuzz/corpus"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/gate"
	gatewire "github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

// thief is a member whose key the target has: it can sign whatever it likes.
// ben keeps the rules, and nobody has his key.
var (
	thief   = ada
	thiefID = adaID
)

// FuzzEvidence: the first byte says how the rest is taken. As evidence: what the
// decoder accepts has one encoding, and what verifies convicts the thief, never
// ben. As the payloads of two objects that the thief signs: what Of says to be
// evidence verifies, and what it does not cannot be made to.
//
//fuzz:of protocol/evidence protocol/token
func FuzzEvidence(f *testing.F) { targets["FuzzEvidence"].Fuzz(f) }

func checkEvidence(t require.TestingT, data []byte) bool {
	switch {
	case len(data) == 0:
		return false
	case data[0] == 0:
		return checkEvidenceFile(t, data[1:])
	}
	return checkTwoObjects(t, data)
}

func checkEvidenceFile(t require.TestingT, raw []byte) bool {
	e, err := evidence.Parse(raw)
	if err != nil {
		isOneOf(t, err, evidence.ErrMalformed, evidence.ErrKind)
		return false
	}
	again, err := e.Encode()
	require.NoError(t, err)
	require.Equal(t, raw, again)
	p, err := e.Verify(group)
	if err != nil {
		isOneOf(t, err, evidence.ErrGroup, evidence.ErrAuthority, evidence.ErrCertificate, evidence.ErrAccused,
			evidence.ErrObject, evidence.ErrOrder, evidence.ErrNoProof)
		return false
	}
	require.Equal(t, thiefID, p.Accused)
	return true
}

var thiefSigns = []envelope.Kind{envelope.Genesis, envelope.Transfer, envelope.Receipt, envelope.Void, envelope.GateAnswer}

// checkTwoObjects: two bytes for the kinds, two for the length of the first
// payload.
func checkTwoObjects(t require.TestingT, data []byte) bool {
	if len(data) < 4 || len(data)-4 < int(binary.BigEndian.Uint16(data[2:])) {
		return false
	}
	at := 4 + int(binary.BigEndian.Uint16(data[2:]))
	a := thiefObject(data[0]-1, data[4:at])
	b := thiefObject(data[1], data[at:])
	certificate := certificateOf(thief, "ada")
	if a.Kind == envelope.GateAnswer { // then its key is a gate's
		certificate = gateCertificateOf(thief, "ada")
	}
	kind, accused, ok := evidence.Of(group, a, b)
	turned, other, too := evidence.Of(group, b, a)
	require.Equal(t, ok, too)
	require.Equal(t, kind, turned)
	require.Equal(t, accused, other)
	e, err := evidence.New(group, [][]byte{authority().Raw()}, certificate.Raw(), a, b)
	if err != nil {
		if !ok {
			require.ErrorIs(t, err, evidence.ErrNoProof)
			return false
		}
		isOneOf(t, err, evidence.ErrAccused, evidence.ErrObject) // of somebody else, or not a good object
		return false
	}
	require.True(t, ok)
	require.Equal(t, thiefID, e.Accused)
	raw, err := e.Encode()
	require.NoError(t, err)
	return checkEvidenceFile(t, raw)
}

func thiefObject(kind byte, payload []byte) evidence.Object {
	k := thiefSigns[int(kind)%len(thiefSigns)]
	if k == envelope.GateAnswer {
		return evidence.Object{Kind: k, Raw: seal(k, gatewire.KeyID(thief.Public()), payload, thief)}
	}
	return evidence.Object{Kind: k, Raw: seal(k, thiefID, payload, thief)}
}

// twoObjects is the input for two payloads that the thief signs.
func twoObjects(a, b envelope.Kind, first, second any) []byte {
	payload := must(canonical.Marshal(first))
	head := []byte{byte(slices.Index(thiefSigns, a)) + 1, byte(slices.Index(thiefSigns, b))}
	head = binary.BigEndian.AppendUint16(head, uint16(len(payload)))
	return append(append(head, payload...), must(canonical.Marshal(second))...)
}

func evidenceSeeds() map[string][]byte {
	genesis := must(token.GenesisBody{
		Resource: "ftp", Generator: thiefID, Incarnation: ident.Incarnation{9}, Sequence: 3, Time: millis,
	}.Sign(group, thief))
	body := token.Title{Genesis: genesis}.Next(benID, ident.Reservation{Incarnation: ident.Incarnation{8}, Number: 4})
	transfer := must(body.Sign(group, thief))
	other := body
	other.Accept = 5
	another := must(other.Sign(group, thief))
	fromBen := token.Title{Genesis: genesis, Transfer: transfer}.Next(thiefID, ident.Reservation{Incarnation: ident.Incarnation{7}, Number: 1})
	toThief := must(fromBen.Sign(group, ben))
	void := must(token.AnswerTo(toThief, thiefID, ident.Incarnation{7}).Sign(group, token.Void, thief))
	kept := token.Title{Genesis: genesis, Transfer: toThief}.Next(benID, ident.Reservation{Incarnation: ident.Incarnation{8}, Number: 6})
	receipt := void.Body()

	file := func(a, b evidence.Object) []byte {
		e := must(evidence.New(group, [][]byte{authority().Raw()}, certificateOf(thief, "ada").Raw(), a, b))
		return append([]byte{0}, must(e.Encode())...)
	}
	word := func(number, session uint64) []byte {
		return must(gatewire.AnswerBody{
			Resource: "ftp", Member: benID, Title: ident.Hash{7}, Number: number, Time: millis,
			Answer: gate.OpenAnswer{Session: session, Until: millis + 1, Token: ident.Token(genesis.Hash()), Hop: 4},
		}.Sign(group, thief)).Raw()
	}
	against := func(a, b []byte) []byte {
		o := func(raw []byte) evidence.Object { return evidence.Object{Kind: envelope.GateAnswer, Raw: raw} }
		return append([]byte{0}, must(must(evidence.New(group, [][]byte{authority().Raw()}, gateCertificateOf(thief, "ada").Raw(), o(a), o(b))).Encode())...)
	}
	words := func(a, b []byte) []byte {
		return twoObjects(envelope.GateAnswer, envelope.GateAnswer, canonical.Raw(payloadOf(envelope.GateAnswer, a)), canonical.Raw(payloadOf(envelope.GateAnswer, b)))
	}
	as := func(k envelope.Kind, raw []byte) evidence.Object { return evidence.Object{Kind: k, Raw: raw} }
	fork := file(as(envelope.Transfer, transfer.Raw()), as(envelope.Transfer, another.Raw()))
	altered := slices.Clone(fork)
	altered[len(altered)-1] ^= 1
	skipped, twin := body, genesis.Body()
	skipped.Hop, twin.Time = 2, millis+1
	seeds := map[string][]byte{
		"good-fork":          fork,
		"good-misfit":        file(as(envelope.Transfer, must(skipped.Sign(group, thief)).Raw()), as(envelope.Genesis, genesis.Raw())),
		"good-two-transfers": twoObjects(envelope.Transfer, envelope.Transfer, other, body),
		"good-two-answers":   twoObjects(envelope.Void, envelope.Receipt, void.Body(), receipt),
		"good-void-transfer": twoObjects(envelope.Void, envelope.Transfer, void.Body(), kept),
		"good-two-geneses":   twoObjects(envelope.Genesis, envelope.Genesis, twin, genesis.Body()),
		"good-gate-file":     against(word(1, 7), word(1, 8)),
		"good-two-sessions":  words(word(1, 7), word(1, 8)),
		"good-two-sign-ins":  words(word(1, 7), word(2, 7)),
		"bad-two-openings":   words(word(1, 7), word(2, 8)),
		"bad-empty":          {},
		"bad-altered":        altered,
		"bad-one-object":     twoObjects(envelope.Transfer, envelope.Transfer, other, other),
		"bad-of-ben":         twoObjects(envelope.Transfer, envelope.Transfer, fromBen, fromBen),
		"bad-in-a-row":       twoObjects(envelope.Genesis, envelope.Transfer, genesis.Body(), body),
	}
	corpus.Spoil(seeds, "good-fork")
	return seeds
}
