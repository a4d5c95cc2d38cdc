package certificate

import (
	"crypto/sha256"
	"fmt"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/ident"
)

// Version is the protocol version in which the objects of this package, and
// those of package group, are signed.
const Version = 1

// MaxPayload bounds the payload of an object about a member, in bytes. With
// its envelope it then fits the 4 KiB that a message has for one object.
const MaxPayload = 4<<10 - 128

// payloadLimits bound what is decoded. The deepest item is the key of a
// certificate, or an extension of one.
var payloadLimits = canonical.Limits{MaxBytes: MaxPayload, MaxDepth: 6, MaxItems: 256}

// Authorities knows the keys of a group's CA.
type Authorities interface {
	// Key is the CA key with this id, or nil when there is none.
	Key(id [envelope.KeyIDSize]byte) *signature.PublicKey
}

// AuthorityID is the key id under which a CA signs: the first 16 bytes of
// SHA-256 of its public key.
func AuthorityID(key *signature.PublicKey) [envelope.KeyIDSize]byte {
	raw := key.Bytes()
	sum := sha256.Sum256(raw[:])
	return [envelope.KeyIDSize]byte(sum[:envelope.KeyIDSize])
}

// VerifyBy verifies an envelope with the CA key that it names. Errors:
// ErrUnknownCA, ErrSignature.
func VerifyBy(cas Authorities, u envelope.Unverified) (envelope.Verified, error) {
	key, err := authorityOf(cas, u)
	if err != nil {
		return envelope.Verified{}, err
	}
	return verify(u, key)
}

// authorityOf is the CA key that an envelope names.
func authorityOf(cas Authorities, u envelope.Unverified) (*signature.PublicKey, error) {
	key := cas.Key(u.KeyID())
	if key == nil {
		return nil, fmt.Errorf("%w: key %x", ErrUnknownCA, u.KeyID())
	}
	return key, nil
}

func verify(u envelope.Unverified, key *signature.PublicKey) (envelope.Verified, error) {
	v, err := u.Verify(key)
	if err != nil {
		return envelope.Verified{}, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	return v, nil
}

// open reads the strict form of an object, and verifies nothing.
func open(g ident.Group, kind envelope.Kind, raw []byte, form any) (envelope.Unverified, error) {
	u, err := envelope.Parse(domain(g, kind), raw)
	if err != nil {
		return envelope.Unverified{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if err := canonical.Unmarshal(u.Payload(), form, payloadLimits); err != nil {
		return envelope.Unverified{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return u, nil
}

// seal signs an object that has been validated.
func seal(g ident.Group, kind envelope.Kind, kid [envelope.KeyIDSize]byte, form any, key *signature.PrivateKey) (envelope.Verified, error) {
	payload, err := canonical.Marshal(form)
	if err != nil {
		return envelope.Verified{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if len(payload) > MaxPayload {
		return envelope.Verified{}, fmt.Errorf("%w: %d bytes, permitted are %d", ErrTooLarge, len(payload), MaxPayload)
	}
	return envelope.Sign(domain(g, kind), kid, payload, key)
}

func domain(g ident.Group, kind envelope.Kind) envelope.Domain {
	return envelope.Domain{Version: Version, Group: g, Kind: kind}
}
