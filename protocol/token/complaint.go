package token

import (
	"fmt"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/ident"
)

// The measures and causes of complaints are numbers from 1 to these. Package policy names them: this layer
// cannot import it.
const (
	MaxMeasure = 4
	MaxCause   = 9
)

// ComplaintBody is what a member signs when it begins to act against another one, for what became of a
// token there. It proves who says so, and not that it is so. It decides nothing: it is for auditors.
//
//	complaint = [ resource: tstr, slot: uint, signer: member, accused: member, token: hash,
//	              hop: uint, measure: 1..4, cause: 1..9, time: uint, extensions ]
type ComplaintBody struct {
	_          struct{} `cbor:",toarray"`
	Resource   string   // of the token, 1 to MaxResourceName bytes
	Slot       uint64
	Signer     ident.Member
	Accused    ident.Member // another one than Signer, and not nobody
	Token      ident.Token
	Hop        uint64 // of the custody of Accused that it is about, at most ident.MaxHop
	Measure    uint64 // a policy.Measure: 1 to MaxMeasure
	Cause      uint64 // a policy.Cause: 1 to MaxCause
	Time       uint64 // Signer's wall clock, ms since 1970
	Extensions canonical.Extensions
}

func (b ComplaintBody) validate() error {
	switch n := len(b.Resource); {
	case n == 0 || n > MaxResourceName:
		return fmt.Errorf("%w: resource name of %d bytes", ErrMalformed, n)
	case b.Accused.IsZero():
		return fmt.Errorf("%w: complaint about nobody", ErrMalformed)
	case b.Accused == b.Signer:
		return fmt.Errorf("%w: complaint about its signer", ErrMalformed)
	case b.Hop > ident.MaxHop:
		return fmt.Errorf("%w: complaint about hop %d, permitted are 0 to %d", ErrMalformed, b.Hop, uint64(ident.MaxHop))
	case b.Measure == 0 || b.Measure > MaxMeasure:
		return fmt.Errorf("%w: measure %d, permitted are 1 to %d", ErrMalformed, b.Measure, MaxMeasure)
	case b.Cause == 0 || b.Cause > MaxCause:
		return fmt.Errorf("%w: cause %d, permitted are 1 to %d", ErrMalformed, b.Cause, MaxCause)
	}
	return nil
}

// Sign makes the complaint. The key must be Signer's. Error: ErrMalformed.
func (b ComplaintBody) Sign(group ident.Group, key *signature.PrivateKey) (Complaint, error) {
	signed, err := sign(group, envelope.Complaint, b.Signer, &b, b.validate, key)
	if err != nil {
		return Complaint{}, err
	}
	return Complaint{body: b, signed: signed}, nil
}

// Complaint is a verified complaint: what is verified is who says so, not that it is so.
type Complaint struct {
	body   ComplaintBody
	signed envelope.Verified
}

// Body is what was signed.
func (c Complaint) Body() ComplaintBody { return c.body }

// Raw is the encoded COSE_Sign1.
func (c Complaint) Raw() []byte { return c.signed.Raw() }

// Hash is H(complaint).
func (c Complaint) Hash() ident.Hash { return c.signed.Hash() }

// IsZero reports whether this is no complaint at all.
func (c Complaint) IsZero() bool { return c.signed.Raw() == nil }

// Complaint verifies an encoded complaint. Errors as for Genesis.
func (v *Verifier) Complaint(raw []byte) (Complaint, error) {
	return verified(v, raw, envelope.Complaint, func(b *ComplaintBody) (ident.Member, error) {
		return b.Signer, b.validate()
	}, func(b ComplaintBody, e envelope.Verified) Complaint { return Complaint{b, e} })
}

// PeekComplaint is PeekGenesis for a complaint.
func PeekComplaint(group ident.Group, raw []byte) (ComplaintBody, ident.Hash, error) {
	var b ComplaintBody
	h, err := peek(group, envelope.Complaint, raw, &b)
	return b, h, err
}

// ReadComplaint is what a complaint would say (unverified.go). Errors: ErrMalformed, ErrSigner.
func ReadComplaint(u envelope.Unverified) (b ComplaintBody, err error) {
	err = read(u, &b, func() (ident.Member, error) { return b.Signer, b.validate() })
	return b, err
}
