package wire

import (
	"fmt"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/permit"
	"github.com/wandertoken/wander/protocol/signed"
	"github.com/wandertoken/wander/protocol/token"
)

// answerLimits bound the payload of an answer: its fields, and eight extensions.
var answerLimits = canonical.Limits{MaxBytes: 4 << 10, MaxDepth: 16, MaxItems: 4 << 10}

// AnswerBody is what a gate signs. Answer is one of gate.OpenAnswer, BusyAnswer, RefuseAnswer and ClosedAnswer, none of them with a
// configuration: that goes in an UPDATE before it.
type AnswerBody struct {
	Resource   string
	Slot       uint64
	Member     ident.Member // whom it answers
	Title      ident.Hash   // of the statement that it answers
	Exporter   [permit.ExporterSize]byte
	Number     uint64 // of that statement
	Time       uint64 // of the gate, ms since 1970
	Answer     gate.Answer
	Extensions canonical.Extensions
}

// answerForm is an AnswerBody as it is signed.
type answerForm struct {
	_          struct{} `cbor:",toarray"`
	Resource   string
	Slot       uint64
	Member     ident.Member
	Title      ident.Hash
	Exporter   [permit.ExporterSize]byte
	Number     uint64
	Time       uint64
	Kind       uint64
	Answer     canonical.Raw
	Extensions canonical.Extensions
}

// kindOf is the number of an answer's kind, and a pointer to the answer.
func kindOf(a gate.Answer) (kind uint64, fields any) {
	switch a := a.(type) {
	case gate.OpenAnswer:
		return 1, &a
	case gate.BusyAnswer:
		return 2, &a
	case gate.RefuseAnswer:
		return 3, &a
	case gate.ClosedAnswer:
		return 4, &a
	}
	return 0, nil
}

// answerOf reads the answer of a kind.
func answerOf(kind uint64, raw canonical.Raw) (a gate.Answer, err error) {
	switch kind {
	case 1:
		var v gate.OpenAnswer
		err = canonical.Unmarshal(raw, &v, answerLimits)
		a = v
	case 2:
		var v gate.BusyAnswer
		err = canonical.Unmarshal(raw, &v, answerLimits)
		a = v
	case 3:
		var v gate.RefuseAnswer
		err = canonical.Unmarshal(raw, &v, answerLimits)
		v.Configuration = emptyAsNil(v.Configuration)
		a = v
	case 4:
		var v gate.ClosedAnswer
		err = canonical.Unmarshal(raw, &v, answerLimits)
		a = v
	default:
		return nil, fmt.Errorf("%w: kind %d", ErrAnswer, kind)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	return a, nil
}

func emptyAsNil(raw []byte) []byte {
	if len(raw) == 0 {
		return nil
	}
	return raw
}

func (b AnswerBody) validate() error {
	bad := ""
	switch a := b.Answer.(type) {
	case gate.OpenAnswer:
		if a.Session == 0 || a.Session > gate.MaxNumber || a.Hop > ident.MaxHop {
			bad = "impossible session"
		}
	case gate.BusyAnswer:
		if a.Session > gate.MaxNumber || a.Hop > ident.MaxHop {
			bad = "impossible session"
		}
	case gate.RefuseAnswer:
		if a.Code < gate.Stale || a.Code > gate.Shut {
			bad = "unknown code"
		}
		if len(a.Configuration) > 0 {
			bad = "a configuration"
		}
	case gate.ClosedAnswer:
		if a.Reason < gate.BySignOut || a.Reason > gate.ByWindows || a.Session > gate.MaxNumber {
			bad = "unknown reason, or impossible session"
		}
	default:
		bad = "no answer"
	}
	switch {
	case b.Resource == "" || len(b.Resource) > maxResource:
		bad = "no resource name"
	case b.Number == 0 || b.Number > gate.MaxNumber:
		bad = "impossible number"
	}
	if bad != "" {
		return fmt.Errorf("%w: %s", ErrAnswer, bad)
	}
	return nil
}

func domain(g ident.Group) envelope.Domain {
	return envelope.Domain{Version: token.Version, Group: g, Kind: envelope.GateAnswer}
}

// KeyID is the key id under which a gate signs, and which statements name: the first bytes of the SHA-256 of its public key.
func KeyID(key *signature.PublicKey) [envelope.KeyIDSize]byte { return certificate.AuthorityID(key) }

// Sign makes the answer. Error: ErrAnswer.
func (b AnswerBody) Sign(g ident.Group, key *signature.PrivateKey) (SignedAnswer, error) {
	if err := b.validate(); err != nil {
		return SignedAnswer{}, err
	}
	f := answerForm{
		Resource: b.Resource, Slot: b.Slot, Member: b.Member, Title: b.Title, Exporter: b.Exporter, Number: b.Number, Time: b.Time,
		Extensions: b.Extensions,
	}
	kind, fields := kindOf(b.Answer)
	raw, err := canonical.Marshal(fields)
	if err != nil {
		return SignedAnswer{}, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	f.Kind, f.Answer = kind, raw
	payload, err := canonical.AppendWithin(nil, &f, answerLimits)
	if err != nil {
		return SignedAnswer{}, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	form, err := envelope.Sign(domain(g), KeyID(key.Public()), payload, key)
	if err != nil {
		return SignedAnswer{}, err
	}
	return signed.Of(b, form), nil
}

// SignedAnswer is a verified answer. It is immutable and safe for concurrent use; the zero value is none.
type SignedAnswer = signed.Object[AnswerBody]

// ParseAnswer reads and verifies an answer of the gate with a key. Whether it answers the reader's own statement is the
// caller's to judge. Errors, in this order: ErrAnswer, ErrAnswerKey, ErrSignature.
func ParseAnswer(g ident.Group, raw []byte, key *signature.PublicKey) (SignedAnswer, error) {
	b, u, err := ReadAnswer(g, raw)
	if err != nil {
		return SignedAnswer{}, err
	}
	if u.KeyID() != KeyID(key) {
		return SignedAnswer{}, fmt.Errorf("%w: key %x", ErrAnswerKey, u.KeyID())
	}
	form, err := u.Verify(key)
	if err != nil {
		return SignedAnswer{}, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	return signed.Of(b, form), nil
}

// ReadAnswer is ParseAnswer without the check of the key and of the signature. Error: ErrAnswer.
func ReadAnswer(g ident.Group, raw []byte) (AnswerBody, envelope.Unverified, error) {
	u, err := envelope.Parse(domain(g), raw)
	if err != nil {
		return AnswerBody{}, u, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	var f answerForm
	if err := canonical.Unmarshal(u.Payload(), &f, answerLimits); err != nil {
		return AnswerBody{}, u, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	a, err := answerOf(f.Kind, f.Answer)
	if err != nil {
		return AnswerBody{}, u, err
	}
	b := AnswerBody{
		Resource: f.Resource, Slot: f.Slot, Member: f.Member, Title: f.Title, Exporter: f.Exporter, Number: f.Number, Time: f.Time,
		Answer: a, Extensions: f.Extensions,
	}
	return b, u, b.validate()
}
