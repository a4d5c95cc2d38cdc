package token

import (
	"fmt"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/signed"
)

// The measures and causes of complaints are numbers from 1 to these. Package policy names them: this layer
// cannot import it.
const (
	MaxMeasure = 4
	MaxCause   = 9
)

// ComplaintBody is what a member signs when it begins to act against another one, for what became of a
// token there. It proves who says so, and not that it is so. It is for auditors, and for the signer after a restart.
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

func (b ComplaintBody) signer() ident.Member { return b.Signer }

// extensionSpan is the key of an extension that a complaint may have: for how long the signer acts from
// Time on, in ms. By it the signer goes on after a restart (P-84).
const extensionSpan = 1

// SetSpan notes for how long the signer acts, in ms; 0 notes nothing.
func (b *ComplaintBody) SetSpan(ms uint64) {
	if ms > 0 {
		b.Extensions = b.Extensions.With(extensionSpan, canonical.AppendUint(nil, ms))
	}
}

// Span is for how long the signer acts, in ms; 0 when it does not say, or says something else than
// a span.
func (b ComplaintBody) Span() uint64 {
	ms, _, _ := decodeUint(b.Extensions.Get(extensionSpan))
	return ms
}

// Sign makes the complaint. The key must be Signer's. Error: ErrMalformed.
func (b ComplaintBody) Sign(group ident.Group, key *signature.PrivateKey) (Complaint, error) {
	c, err := sign(group, envelope.Complaint, &b, key)
	return Complaint{c}, err
}

// Complaint is a verified complaint: what is verified is who says so, not that it is so.
type Complaint struct{ signed.Object[ComplaintBody] }

// Complaint verifies an encoded complaint. Errors as for Genesis.
func (v *Verifier) Complaint(raw []byte) (Complaint, error) {
	c, err := verified[ComplaintBody](v, raw, envelope.Complaint)
	return Complaint{c}, err
}

// PeekComplaint is PeekGenesis for a complaint.
func PeekComplaint(group ident.Group, raw []byte) (ComplaintBody, ident.Hash, error) {
	return peek[ComplaintBody](group, envelope.Complaint, raw)
}

// ReadComplaint is what a complaint would say (unverified.go). Errors: ErrMalformed, ErrSigner.
func ReadComplaint(u envelope.Unverified) (ComplaintBody, error) {
	return read[ComplaintBody](u)
}
