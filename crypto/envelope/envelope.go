package envelope

import (
	"crypto/sha256"
	"fmt"

	"github.com/wandertoken/wander/crypto/signature"
)

const (
	// KeyIDSize is the length of a key id: a member id, or the first bytes of
	// a CA key's hash.
	KeyIDSize = 16
	// MaxPayload bounds the content, in bytes, of every kind but a configuration. A
	// transfer has about 300. It is also what one frame carries several of.
	MaxPayload = 16 << 10
	// MaxConfiguration bounds the content of a group configuration, in bytes: one with
	// 1,024 resources fits. It travels in parts.
	MaxConfiguration = 256 << 10
	// MaxSize is the size of an envelope with the largest payload of all kinds.
	MaxSize = len(opening) + KeyIDSize + 1 + maxHead + MaxConfiguration + 2 + signature.SignatureSize
)

// opening is what every envelope begins with: tag 18, an array of 4, and the
// protected header {1: -8, 4: key id} up to the key id.
const opening = "\xd2\x84\x55\xa2\x01\x27\x04\x50"

const (
	tagLen      = 2                            // tag and array head
	maxHead     = 5                            // of a payload
	protectedAt = tagLen                       // the protected header, a byte string of 21
	unprotected = len(opening) + KeyIDSize     // the empty map
	bodyAt      = unprotected + 1              // the payload's head
	tailSize    = 2 + signature.SignatureSize  // head and signature
	tbsOpening  = "\x84\x6aSignature1"         // Sig_structure up to body_protected
	tbsOverhead = len(tbsOpening) + 2 + maxAAD // what it has beside header and payload
)

// content is what an envelope holds, verified or not. It is immutable.
type content struct {
	domain  Domain
	raw     []byte
	payload []byte // within raw
	hash    [sha256.Size]byte
}

// Domain is what the envelope was parsed for or signed in.
func (c content) Domain() Domain { return c.domain }

// KeyID is the key id in the protected header.
func (c content) KeyID() (kid [KeyIDSize]byte) {
	if c.raw != nil {
		copy(kid[:], c.raw[len(opening):])
	}
	return kid
}

// Payload is the signed content. The caller must not change it.
func (c content) Payload() []byte { return c.payload }

// Raw is the whole envelope as it travels. The caller must not change it.
func (c content) Raw() []byte { return c.raw }

// Hash is H(x), the SHA-256 of the Sig_structure: of what was signed, not of
// how (handoff rules §1).
func (c content) Hash() [sha256.Size]byte { return c.hash }

// Unverified is a well-formed envelope whose signature nobody has checked. It
// is immutable and safe for concurrent use; the zero value is empty and does
// not verify.
type Unverified struct {
	content
	tbs []byte // the Sig_structure
}

// Verified is an envelope whose signature held for the key it was verified
// with, or that was signed here. It is immutable and safe for concurrent use.
type Verified struct {
	content
}

// IsZero reports whether v is no envelope at all.
func (v Verified) IsZero() bool { return v.raw == nil }

// Sign makes an envelope of a payload, which is copied. It returns ErrKind or
// ErrTooLarge.
func Sign(d Domain, kid [KeyIDSize]byte, payload []byte, key *signature.PrivateKey) (Verified, error) {
	if !d.Kind.valid() {
		return Verified{}, fmt.Errorf("%w: %s", ErrKind, d.Kind)
	}
	if len(payload) > d.Kind.maxPayload() {
		return Verified{}, fmt.Errorf("%w: %d, at most %d", ErrTooLarge, len(payload), d.Kind.maxPayload())
	}
	raw := make([]byte, 0, bodyAt+maxHead+len(payload)+tailSize)
	raw = append(raw, opening...)
	raw = append(raw, kid[:]...)
	raw = append(raw, 0xa0)
	raw = appendHead(raw, 0x40, uint64(len(payload)))
	start := len(raw)
	raw = append(raw, payload...)
	tbs := sigStructure(d, raw)
	raw = append(raw, 0x58, signature.SignatureSize)
	raw = append(raw, key.Sign(tbs)...)
	return Verified{content{
		domain: d, raw: raw, payload: raw[start : start+len(payload) : start+len(payload)], hash: sha256.Sum256(tbs),
	}}, nil
}

// sigStructure is Sig_structure (RFC 9052 §4.4):
// ["Signature1", body_protected, external_aad, payload]. signed is an envelope up to the
// end of its payload; both byte strings are taken from it with their heads.
func sigStructure(d Domain, signed []byte) []byte {
	var space [maxAAD]byte
	aad := d.appendAAD(space[:0])
	tbs := make([]byte, 0, tbsOverhead+len(signed))
	tbs = append(tbs, tbsOpening...)
	tbs = append(tbs, signed[protectedAt:unprotected]...)
	tbs = appendHead(tbs, 0x40, uint64(len(aad)))
	tbs = append(tbs, aad...)
	return append(tbs, signed[bodyAt:]...)
}

// Verify checks the signature with key. The error is ErrSignature, wrapping
// the reason.
func (u Unverified) Verify(key *signature.PublicKey) (Verified, error) {
	if err := key.Verify(u.tbs, u.signature()); err != nil {
		return Verified{}, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	return Verified{u.content}, nil
}

func (u Unverified) signature() []byte {
	if len(u.raw) < signature.SignatureSize {
		return nil
	}
	return u.raw[len(u.raw)-signature.SignatureSize:]
}
