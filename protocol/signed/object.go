// Package signed has what all verified objects of the protocol share: the value that was
// signed, beside its bytes.
//
// Each kind of object is a type of its own in the package that knows its rules:
// certificates and statements of members in package certificate, statements of the CA
// in package group, genesis, transfer, answer and complaint in package token. Such a
// package reads strictly, checks, verifies, and only then makes an Object:
//
//	bytes --envelope.Parse--> Unverified --canonical.Unmarshal, rules--> B
//	                               |                                     |
//	                               +--------- Verify(key) ---------> Object[B]
package signed

import (
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/ident"
)

// Object is a verified object that says B: what is verified is who says so. It is immutable
// and safe for concurrent use; the zero value is none.
type Object[B any] struct {
	body B
	form envelope.Verified
}

// Of is the object that says body in form. The caller has decoded the one from the other.
func Of[B any](body B, form envelope.Verified) Object[B] { return Object[B]{body, form} }

// Body is what was signed. The caller must not change its lists.
func (o Object[B]) Body() B { return o.body }

// Raw is the encoded COSE_Sign1. The caller must not change it.
func (o Object[B]) Raw() []byte { return o.form.Raw() }

// Hash is H(x) of the object: of what was signed, not of how.
func (o Object[B]) Hash() ident.Hash { return o.form.Hash() }

// KeyID is the id of the key that signed: a member's id, or that of a CA key.
func (o Object[B]) KeyID() [envelope.KeyIDSize]byte { return o.form.KeyID() }

// Pack drops all but the bytes, from which the body can be read again.
func (o Object[B]) Pack() envelope.Packed { return o.form.Pack() }

// IsZero reports whether this is no object at all.
func (o Object[B]) IsZero() bool { return o.form.IsZero() }
