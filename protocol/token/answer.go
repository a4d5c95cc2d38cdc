package token

import (
	"fmt"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/signed"
)

// Verdict is which of the three answers to a transfer an Answer gives.
type Verdict uint8

// The answers to a transfer.
const (
	// Receipt: the signer has taken custody, durably where it is durable.
	Receipt Verdict = iota + 1
	// Void: the signer has not taken custody by this transfer and never will.
	Void
	// Unknown: the signer cannot say; its memory of that time is gone.
	Unknown
)

func (v Verdict) String() string {
	switch v {
	case Receipt:
		return "receipt"
	case Void:
		return "void"
	case Unknown:
		return "unknown"
	}
	return fmt.Sprintf("verdict %d", uint8(v))
}

// kind is the kind of envelope that gives the verdict; for what is no verdict
// it is no kind either, and can neither be signed nor verified.
func (v Verdict) kind() envelope.Kind {
	switch v {
	case Receipt:
		return envelope.Receipt
	case Void:
		return envelope.Void
	case Unknown:
		return envelope.Unknown
	}
	return 0
}

// AnswerBody is what the receiver of a transfer signs. The verdict is not in
// the payload: it is the kind of the envelope, so that no signature over one
// verdict can be taken for another.
type AnswerBody struct {
	_           struct{} `cbor:",toarray"`
	Transfer    ident.Hash
	Token       ident.Token
	Hop         uint64
	Signer      ident.Member
	Incarnation ident.Incarnation // the signer's; for unknown its current one
	Extensions  canonical.Extensions
}

func (b AnswerBody) validate() error {
	if b.Hop == 0 || b.Hop > ident.MaxHop {
		return fmt.Errorf("%w: answer to hop %d, permitted are 1 to %d", ErrMalformed, b.Hop, uint64(ident.MaxHop))
	}
	return nil
}

func (b AnswerBody) signer() ident.Member { return b.Signer }

// Sign makes the answer. The key must be Signer's.
func (b AnswerBody) Sign(group ident.Group, v Verdict, key *signature.PrivateKey) (Answer, error) {
	a, err := sign(group, v.kind(), &b, key)
	if err != nil {
		return Answer{}, err
	}
	return Answer{a, v}, nil
}

// AnswerTo is the body of signer's answer to t.
func AnswerTo(t Transfer, signer ident.Member, incarnation ident.Incarnation) AnswerBody {
	return AnswerBody{
		Transfer: t.Hash(), Token: t.Body().Token, Hop: t.Body().Hop,
		Signer: signer, Incarnation: incarnation,
	}
}

// Answer is a verified receipt, void or unknown.
type Answer struct {
	signed.Object[AnswerBody]
	verdict Verdict
}

// Verdict says which answer it is.
func (a Answer) Verdict() Verdict { return a.verdict }

// Answers reports whether a is an answer to t by the member t was sent to.
func (a Answer) Answers(t Transfer) bool {
	if a.IsZero() || t.IsZero() {
		return false
	}
	answer, to := a.Body(), t.Body()
	return answer.Transfer == t.Hash() && answer.Signer == to.To && answer.Token == to.Token && answer.Hop == to.Hop
}
