package token_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

var group = ident.Group{7}

// party is a member that can sign.
type party struct {
	id  ident.Member
	key *signature.PrivateKey
}

func newParty(n byte) party {
	key, err := signature.NewPrivateKey(bytes.Repeat([]byte{n}, signature.SeedSize))
	if err != nil {
		panic(err)
	}
	raw := key.Public().Bytes()
	return party{id: ident.MemberOf(group, raw[:]), key: key}
}

var ada, ben, cleo, dan = newParty(1), newParty(2), newParty(3), newParty(4)

// keys knows members and counts how often it is asked.
type keys struct {
	known map[ident.Member]*signature.PublicKey
	asked int
}

func (k *keys) Key(m ident.Member) *signature.PublicKey {
	k.asked++
	return k.known[m]
}

func keysOf(parties ...party) *keys {
	k := &keys{known: map[ident.Member]*signature.PublicKey{}}
	for _, p := range parties {
		k.known[p.id] = p.key.Public()
	}
	return k
}

func everybody() *keys { return keysOf(ada, ben, cleo, dan) }

func genesisBody() token.GenesisBody {
	return token.GenesisBody{
		Resource: "ftp", Slot: 1, Generator: ada.id, Incarnation: ident.Incarnation{9},
		Sequence: 3, Time: 1700000000000, Nonce: [token.NonceSize]byte{5},
	}
}

func genesis(t require.TestingT) token.Genesis {
	g, err := genesisBody().Sign(group, ada.key)
	require.NoError(t, err)
	return g
}

// pass signs the transfer by which the title's holder gives the token to
// another member.
func pass(t require.TestingT, title token.Title, from, to party) token.Transfer {
	body := title.Next(to.id, ident.Reservation{Incarnation: ident.Incarnation{to.id[0]}, Number: 4})
	body.Time, body.Field = 1700000001000, []byte("field")
	signed, err := body.Sign(group, from.key)
	require.NoError(t, err)
	return signed
}

// answer signs what to says to a transfer.
func answer(t require.TestingT, v token.Verdict, tr token.Transfer, by party) token.Answer {
	signed, err := token.AnswerTo(tr, by.id, ident.Incarnation{by.id[0]}).Sign(group, v, by.key)
	require.NoError(t, err)
	return signed
}

// The titles of a token that goes from ada to ben to cleo, who declines it.
func titles(t require.TestingT) (fresh, first, second, declined token.Title) {
	fresh = token.Title{Genesis: genesis(t)}
	first = token.Title{Genesis: fresh.Genesis, Transfer: pass(t, fresh, ada, ben)}
	second = token.Title{Genesis: fresh.Genesis, Transfer: pass(t, first, ben, cleo)}
	declined = second
	declined.Void = answer(t, token.Void, second.Transfer, cleo)
	return fresh, first, second, declined
}

// forge signs any payload in any domain.
func forge(t *testing.T, kind envelope.Kind, kid ident.Member, body any, key *signature.PrivateKey) []byte {
	t.Helper()
	payload, err := canonical.Marshal(body)
	require.NoError(t, err)
	return forgeRaw(t, envelope.Domain{Version: token.Version, Group: group, Kind: kind}, kid, payload, key)
}

func forgeRaw(t *testing.T, d envelope.Domain, kid ident.Member, payload []byte, key *signature.PrivateKey) []byte {
	t.Helper()
	signed, err := envelope.Sign(d, kid, payload, key)
	require.NoError(t, err)
	return signed.Raw()
}

// object is one verified object behind what all kinds have in common.
type object struct {
	kind   envelope.Kind
	raw    []byte
	hash   ident.Hash
	signer party
	verify func(*token.Verifier, []byte) (hash ident.Hash, err error)
}

// verifiers has the method of Verifier for each kind.
var verifiers = map[envelope.Kind]func(*token.Verifier, []byte) (ident.Hash, error){
	envelope.Genesis: func(v *token.Verifier, raw []byte) (ident.Hash, error) {
		g, err := v.Genesis(raw)
		return hashUnlessZero(g, err)
	},
	envelope.Transfer: func(v *token.Verifier, raw []byte) (ident.Hash, error) {
		t, err := v.Transfer(raw)
		return hashUnlessZero(t, err)
	},
	envelope.Receipt: verifyAnswer(token.Receipt),
	envelope.Void:    verifyAnswer(token.Void),
	envelope.Unknown: verifyAnswer(token.Unknown),
	envelope.Complaint: func(v *token.Verifier, raw []byte) (ident.Hash, error) {
		c, err := v.Complaint(raw)
		return hashUnlessZero(c, err)
	},
}

// complaintBody is ada's about ben.
func complaintBody() token.ComplaintBody {
	return token.ComplaintBody{
		Resource: "ftp", Signer: ada.id, Accused: ben.id, Token: ident.Token{1}, Hop: 7, Measure: token.MaxMeasure, Cause: token.MaxCause, Time: 1 << 40,
	}
}

func verifyAnswer(verdict token.Verdict) func(*token.Verifier, []byte) (ident.Hash, error) {
	return func(v *token.Verifier, raw []byte) (ident.Hash, error) {
		a, err := v.Answer(verdict, raw)
		if err == nil && a.Verdict() != verdict {
			panic("an answer of another verdict")
		}
		return hashUnlessZero(a, err)
	}
}

// hashUnlessZero insists that there is an object exactly when there is no
// error.
func hashUnlessZero[T interface {
	IsZero() bool
	Hash() ident.Hash
}](o T, err error) (ident.Hash, error) {
	if o.IsZero() != (err != nil) {
		panic("an object together with an error, or neither")
	}
	if err != nil {
		return ident.Hash{}, err
	}
	return o.Hash(), nil
}

// objects is one of each kind.
func objects(t require.TestingT) []object {
	_, _, second, declined := titles(t)
	receipt := answer(t, token.Receipt, second.Transfer, cleo)
	unknown := answer(t, token.Unknown, second.Transfer, cleo)
	complaint, err := complaintBody().Sign(group, ada.key)
	require.NoError(t, err)
	list := []object{
		{kind: envelope.Genesis, raw: second.Genesis.Raw(), hash: second.Genesis.Hash(), signer: ada},
		{kind: envelope.Transfer, raw: second.Transfer.Raw(), hash: second.Transfer.Hash(), signer: ben},
		{kind: envelope.Receipt, raw: receipt.Raw(), hash: receipt.Hash(), signer: cleo},
		{kind: envelope.Void, raw: declined.Void.Raw(), hash: declined.Void.Hash(), signer: cleo},
		{kind: envelope.Unknown, raw: unknown.Raw(), hash: unknown.Hash(), signer: cleo},
		{kind: envelope.Complaint, raw: complaint.Raw(), hash: complaint.Hash(), signer: ada},
	}
	for i := range list {
		list[i].verify = verifiers[list[i].kind]
	}
	return list
}
