package certificate

import (
	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
)

// Packed is a verified certificate of which nothing is kept but its bytes: a
// third of the memory. It is immutable and safe for concurrent use; the zero
// value is none.
type Packed struct{ signed envelope.Packed }

// Pack drops all that Open can compute again.
func (c Certificate) Pack() Packed { return Packed{c.Object.Pack()} }

// Open reads the certificate again, without checking the signature again.
func (p Packed) Open() Certificate {
	var form claimsForm
	if canonical.Unmarshal(p.signed.Payload(), &form, payloadLimits) != nil {
		return Certificate{} // not of what Parse or Sign has made
	}
	c, err := form.claims()
	if err != nil {
		return Certificate{}
	}
	key, err := c.check()
	if err != nil {
		return Certificate{}
	}
	return newCertificate(c, key, p.signed.Unpack(domain(c.Group, envelope.Certificate)))
}

// Raw is the encoded COSE_Sign1.
func (p Packed) Raw() string { return p.signed.Raw() }

// IsZero reports whether this is no certificate at all.
func (p Packed) IsZero() bool { return p.signed.IsZero() }

// PackedEndpoint is a verified endpoint record of which nothing is kept but its
// bytes. It is immutable and safe for concurrent use; the zero value is none.
type PackedEndpoint struct{ signed envelope.Packed }

// PackEndpoint drops all but the bytes.
func PackEndpoint(s SignedEndpoint) PackedEndpoint { return PackedEndpoint{s.Pack()} }

// Body reads again what was signed.
func (p PackedEndpoint) Body() Endpoint {
	var e Endpoint
	if canonical.Unmarshal(p.signed.Payload(), &e, payloadLimits) != nil {
		return Endpoint{} // not of what ParseEndpoint or Sign has made
	}
	return e
}

// Raw is the encoded COSE_Sign1.
func (p PackedEndpoint) Raw() string { return p.signed.Raw() }

// IsZero reports whether this is no record at all.
func (p PackedEndpoint) IsZero() bool { return p.signed.IsZero() }
