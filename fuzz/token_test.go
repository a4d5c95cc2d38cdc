package fuzz

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/fuzz/corpus"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

// tokenObjects is a genesis, the first transfer and its void.
func tokenObjects() (token.Genesis, token.Transfer, token.Answer) {
	genesis := must(token.GenesisBody{
		Resource: "ftp", Slot: 1, Generator: adaID, Incarnation: ident.Incarnation{9},
		Sequence: 3, Time: millis, Nonce: [token.NonceSize]byte{5}, Extensions: later,
	}.Sign(group, ada))
	body := token.Title{Genesis: genesis}.Next(benID, ident.Reservation{Incarnation: ident.Incarnation{8}, Number: 4})
	body.Time, body.Field = millis+1000, []byte("field")
	transfer := must(body.Sign(group, ada))
	return genesis, transfer, must(token.AnswerTo(transfer, benID, ident.Incarnation{8}).Sign(group, token.Void, ben))
}

// anybody has the same key whoever is asked for, so that a target can sign for
// whomever a payload names.
type anybody struct{}

func (anybody) Key(ident.Member) *signature.PublicKey { return ada.Public() }

var verifier = token.NewVerifier(group, anybody{})

var tokenRefusals = []error{token.ErrMalformed, token.ErrSigner, token.ErrField}

// signed is what the objects of a token have in common.
type signed interface {
	Raw() []byte
	Hash() ident.Hash
}

// checkBody signs a payload for the member that it names, and checks that an
// accepted one is what its body signs to.
func checkBody[B any](t require.TestingT, kind envelope.Kind, payload []byte, signer func(B) ident.Member,
	verify func([]byte) (signed, B, error), sign func(B) (signed, error),
) bool {
	var b B
	_ = canonical.Unmarshal(payload, &b, generous) // only to learn the signer
	raw, err := sealIf(kind, signer(b), payload, ada, func(raw []byte) error {
		_, _, err := verify(raw)
		return err
	})
	if err != nil {
		isOneOf(t, err, tokenRefusals...)
		return false
	}
	object, body, err := verify(raw)
	require.NoError(t, err, "refused for its signature")
	again, err := sign(body)
	require.NoError(t, err)
	require.Equal(t, raw, again.Raw())
	require.Equal(t, object.Hash(), again.Hash())
	return true
}

// FuzzGenesis: the payload of a well signed genesis.
//
//fuzz:of protocol/token crypto/envelope crypto/canonical
func FuzzGenesis(f *testing.F) { targets["FuzzGenesis"].Fuzz(f) }

func checkGenesis(t require.TestingT, payload []byte) bool {
	return checkBody(t, envelope.Genesis, payload,
		func(b token.GenesisBody) ident.Member { return b.Generator },
		func(raw []byte) (signed, token.GenesisBody, error) {
			g, err := verifier.Genesis(raw)
			return g, g.Body(), err
		},
		func(b token.GenesisBody) (signed, error) { return b.Sign(group, ada) })
}

func genesisSeeds() map[string][]byte {
	genesis, _, _ := tokenObjects()
	least := must(canonical.Marshal(token.GenesisBody{Resource: "r"}))
	seeds := map[string][]byte{
		"good-full":      payloadOf(envelope.Genesis, genesis.Raw()),
		"good-least":     least,
		"bad-resource":   must(canonical.Marshal(token.GenesisBody{})),
		"bad-extension":  append(slices.Clone(least[:len(least)-1]), 0xa1, 0x02, 0x00),
		"bad-other-kind": must(canonical.Marshal(token.AnswerBody{Hop: 1})),
	}
	corpus.Spoil(seeds, "good-full")
	return seeds
}

// FuzzTransfer: the payload of a well signed transfer.
//
//fuzz:of protocol/token crypto/envelope crypto/canonical
func FuzzTransfer(f *testing.F) { targets["FuzzTransfer"].Fuzz(f) }

func checkTransfer(t require.TestingT, payload []byte) bool {
	return checkBody(t, envelope.Transfer, payload,
		func(b token.TransferBody) ident.Member { return b.From },
		func(raw []byte) (signed, token.TransferBody, error) {
			tr, err := verifier.Transfer(raw)
			return tr, tr.Body(), err
		},
		func(b token.TransferBody) (signed, error) { return b.Sign(group, ada) })
}

func transferSeeds() map[string][]byte {
	_, transfer, void := tokenObjects()
	hash := void.Hash()
	after := transfer.Body()
	after.Hop, after.Void, after.Extensions = 2, &hash, later
	marshal := func(b token.TransferBody) []byte { return must(canonical.Marshal(b)) }
	seeds := map[string][]byte{
		"good-full":   payloadOf(envelope.Transfer, transfer.Raw()),
		"good-voided": marshal(after),
		"good-least":  marshal(token.TransferBody{Hop: 1, From: adaID}),
		"bad-hop":     marshal(token.TransferBody{From: adaID}),
		"bad-oneself": marshal(token.TransferBody{Hop: 1}),
		"bad-field":   marshal(token.TransferBody{Hop: 1, From: adaID, Field: make([]byte, token.MaxField+1)}),
	}
	corpus.Spoil(seeds, "good-full")
	return seeds
}

// FuzzAnswer: the payload of a well signed receipt, void or unknown. The first
// byte says which.
//
//fuzz:of protocol/token crypto/envelope crypto/canonical
func FuzzAnswer(f *testing.F) { targets["FuzzAnswer"].Fuzz(f) }

var verdicts = map[token.Verdict]envelope.Kind{
	token.Receipt: envelope.Receipt, token.Void: envelope.Void, token.Unknown: envelope.Unknown,
}

func checkAnswer(t require.TestingT, data []byte) bool {
	if len(data) == 0 {
		return false
	}
	verdict := token.Verdict(data[0]%3 + 1)
	return checkBody(t, verdicts[verdict], data[1:],
		func(b token.AnswerBody) ident.Member { return b.Signer },
		func(raw []byte) (signed, token.AnswerBody, error) {
			a, err := verifier.Answer(verdict, raw)
			return a, a.Body(), err
		},
		func(b token.AnswerBody) (signed, error) { return b.Sign(group, verdict, ada) })
}

func answerSeeds() map[string][]byte {
	_, _, void := tokenObjects()
	payload := payloadOf(envelope.Void, void.Raw())
	seeds := map[string][]byte{
		"good-receipt": append([]byte{0}, payload...),
		"good-void":    append([]byte{1}, payload...),
		"good-unknown": append([]byte{2}, must(canonical.Marshal(token.AnswerBody{Hop: 1, Extensions: later}))...),
		"bad-hop":      append([]byte{0}, must(canonical.Marshal(token.AnswerBody{}))...),
	}
	corpus.Spoil(seeds, "good-receipt")
	return seeds
}

func complaint() token.Complaint {
	genesis, _, _ := tokenObjects()
	return must(token.ComplaintBody{
		Resource: "ftp", Slot: 1, Signer: adaID, Accused: benID, Token: genesis.ID(), Hop: 1, Measure: 1, Cause: 3, Time: millis,
	}.Sign(group, ada))
}

// FuzzComplaint: the payload of a well signed complaint.
//
//fuzz:of protocol/token crypto/envelope crypto/canonical
func FuzzComplaint(f *testing.F) { targets["FuzzComplaint"].Fuzz(f) }

func checkComplaint(t require.TestingT, payload []byte) bool {
	return checkBody(t, envelope.Complaint, payload,
		func(b token.ComplaintBody) ident.Member { return b.Signer },
		func(raw []byte) (signed, token.ComplaintBody, error) {
			c, err := verifier.Complaint(raw)
			return c, c.Body(), err
		},
		func(b token.ComplaintBody) (signed, error) { return b.Sign(group, ada) })
}

func complaintSeeds() map[string][]byte {
	good := complaint().Body()
	change := func(with func(*token.ComplaintBody)) []byte {
		b := good
		with(&b)
		return must(canonical.Marshal(b))
	}
	seeds := map[string][]byte{
		"good-usual":          must(canonical.Marshal(good)),
		"good-with-extension": change(func(b *token.ComplaintBody) { b.Extensions = later }),
		"bad-self":            change(func(b *token.ComplaintBody) { b.Accused = b.Signer }),
		"bad-nobody":          change(func(b *token.ComplaintBody) { b.Accused = ident.Member{} }),
		"bad-hop":             change(func(b *token.ComplaintBody) { b.Hop = ident.MaxHop + 1 }),
		"bad-measure":         change(func(b *token.ComplaintBody) { b.Measure = token.MaxMeasure + 1 }),
		"bad-cause":           change(func(b *token.ComplaintBody) { b.Cause = 0 }),
	}
	corpus.Spoil(seeds, "good-usual")
	return seeds
}

// FuzzTokenObject: whole envelopes, which nobody signs. Only what ada and ben
// have signed, here or in a vector, verifies, and only as what it is.
//
//fuzz:of protocol/token crypto/envelope crypto/canonical
func FuzzTokenObject(f *testing.F) { targets["FuzzTokenObject"].Fuzz(f) }

// pair knows ada and ben.
type pair struct{}

func (pair) Key(m ident.Member) *signature.PublicKey {
	switch m {
	case adaID:
		return ada.Public()
	case benID:
		return ben.Public()
	}
	return nil
}

func checkTokenObject(t require.TestingT, raw []byte) bool {
	v := token.NewVerifier(group, pair{})
	genesis, transfer, void := tokenObjects()
	reasons := append(slices.Clone(tokenRefusals), token.ErrSignature, token.ErrUnknownSigner)
	_, isGenesis := v.Genesis(raw)
	_, isTransfer := v.Transfer(raw)
	_, isVoid := v.Answer(token.Void, raw)
	_, isReceipt := v.Answer(token.Receipt, raw)
	_, isUnknown := v.Answer(token.Unknown, raw)
	_, isComplaint := v.Complaint(raw)
	accepted := false
	for _, c := range []struct {
		err    error
		kind   string
		signed []byte
	}{
		{isGenesis, "genesis", genesis.Raw()}, {isTransfer, "transfer", transfer.Raw()}, {isVoid, "void", void.Raw()},
		{isReceipt, "receipt", nil}, {isUnknown, "unknown", nil}, {isComplaint, "complaint", complaint().Raw()},
	} {
		if c.err == nil {
			require.True(t, bytes.Equal(c.signed, raw) || vectorSigned(c.kind, raw), "a forged %s: %x", c.kind, raw)
			accepted = true
			continue
		}
		isOneOf(t, c.err, reasons...)
	}
	_, _, _ = token.PeekGenesis(group, raw)
	_, _, _ = token.PeekTransfer(group, raw)
	_, _, _ = token.PeekComplaint(group, raw)
	return accepted
}

func tokenObjectSeeds() map[string][]byte {
	genesis, transfer, void := tokenObjects()
	altered := slices.Clone(transfer.Raw())
	altered[60] ^= 1
	seeds := map[string][]byte{
		"good-genesis": genesis.Raw(), "good-transfer": transfer.Raw(), "good-void": void.Raw(), "good-complaint": complaint().Raw(),
		"bad-altered":     altered,
		"bad-other-group": must(genesis.Body().Sign(ident.Group{1}, ada)).Raw(),
		"bad-stranger":    must(token.AnswerBody{Hop: 1}.Sign(group, token.Receipt, ca)).Raw(),
		"bad-signer":      seal(envelope.Genesis, benID, payloadOf(envelope.Genesis, genesis.Raw()), ben),
	}
	corpus.Spoil(seeds, "good-genesis")
	return seeds
}
