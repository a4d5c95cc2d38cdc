package certificate

import (
	"fmt"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/signed"
)

// NonceSize is the size of a request's nonce, in bytes.
const NonceSize = 16

// Request asks the CA for a certificate. It is signed with the key that it is
// about, so whoever made it has that key. It is not a right to a certificate:
// that the CA decides.
type Request struct {
	_          struct{}                      `cbor:",toarray"`
	Name       string                        // wished for; see CheckName
	Key        [signature.PublicKeySize]byte // Ed25519
	Time       uint64                        // the requester's wall clock, ms since 1970: shown, decides nothing
	Nonce      [NonceSize]byte               // random, so that no two requests are the same
	Extensions canonical.Extensions
}

func (r Request) validate() (*signature.PublicKey, error) {
	if err := CheckName(r.Name); err != nil {
		return nil, err
	}
	if err := r.Extensions.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	key, err := signature.ParsePublicKey(r.Key[:])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	return key, nil
}

// Sign makes the request. The key must be the one in it (ErrSigner). Other
// errors: ErrName, ErrKey, ErrMalformed.
func (r Request) Sign(g ident.Group, key *signature.PrivateKey) (SignedRequest, error) {
	public, err := r.validate()
	if err != nil {
		return SignedRequest{}, err
	}
	if !public.Equal(key.Public()) {
		return SignedRequest{}, ErrSigner
	}
	m := ident.MemberOf(g, r.Key[:])
	form, err := seal(g, envelope.Request, m, &r, key)
	if err != nil {
		return SignedRequest{}, err
	}
	return SignedRequest{signed.Of(r, form), m, public}, nil
}

// SignedRequest is a verified request: its signer has the key that it names. It
// is immutable and safe for concurrent use; the zero value is none.
type SignedRequest struct {
	signed.Object[Request]
	member ident.Member
	key    *signature.PublicKey
}

// ParseRequest reads a request in group g and verifies it with the key that it
// names. Errors: ErrMalformed, ErrName, ErrKey, ErrSigner, ErrSignature, the
// first that applies.
func ParseRequest(g ident.Group, raw []byte) (SignedRequest, error) {
	var r Request
	u, err := open(g, envelope.Request, raw, &r)
	if err != nil {
		return SignedRequest{}, err
	}
	key, err := r.validate()
	if err != nil {
		return SignedRequest{}, err
	}
	m := ident.MemberOf(g, r.Key[:])
	if u.KeyID() != m {
		return SignedRequest{}, ErrSigner
	}
	form, err := verify(u, key)
	if err != nil {
		return SignedRequest{}, err
	}
	return SignedRequest{signed.Of(r, form), m, key}, nil
}

// Member is the id that the key has in the group: the member's, once the CA has
// agreed.
func (s SignedRequest) Member() ident.Member { return s.member }

// Key is the key that the request is about.
func (s SignedRequest) Key() *signature.PublicKey { return s.key }
