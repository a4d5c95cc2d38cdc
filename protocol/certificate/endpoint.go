package certificate

import (
	"fmt"
	"slices"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/signed"
)

const (
	// MaxAddresses bounds the addresses of a member: two address families,
	// several networks each. A dialler tries them all.
	MaxAddresses = 8
	// MaxAttached bounds the members that one keeps connections to. Through so
	// many it stays in reach when most of them fail at once.
	MaxAttached = 8
)

// Mode says how a member can be reached.
type Mode uint64

// The modes.
const (
	// Reachable: at the addresses that the record lists, at least one.
	Reachable Mode = 1
	// DialsOut: only over connections that the member has opened itself, to
	// those it is attached to among others. It lists no addresses.
	DialsOut Mode = 2
)

func (m Mode) String() string {
	switch m {
	case Reachable:
		return "reachable"
	case DialsOut:
		return "dials out only"
	}
	return fmt.Sprintf("mode %d", uint64(m))
}

// Endpoint is what a member says about where it is. Of two records of one
// member the one with the higher sequence number holds.
type Endpoint struct {
	_          struct{} `cbor:",toarray"`
	Member     ident.Member
	Sequence   uint64
	Mode       Mode
	Addresses  []string       // host:port, see CheckAddress; in order of preference
	Attached   []ident.Member // if it dials out only
	Time       uint64         // the member's wall clock, ms since 1970: shown, decides nothing
	Extensions canonical.Extensions
}

func (e Endpoint) validate() error {
	if err := e.Extensions.Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	switch {
	case len(e.Addresses) > MaxAddresses:
		return fmt.Errorf("%w: %d addresses, permitted are %d", ErrTooMany, len(e.Addresses), MaxAddresses)
	case len(e.Attached) > MaxAttached:
		return fmt.Errorf("%w: %d attachments, permitted are %d", ErrTooMany, len(e.Attached), MaxAttached)
	case e.Mode != Reachable && e.Mode != DialsOut:
		return fmt.Errorf("%w: %v", ErrMode, e.Mode)
	case e.Mode == Reachable && (len(e.Addresses) == 0 || len(e.Attached) > 0):
		return fmt.Errorf("%w: reachable needs addresses and no attachments", ErrMode)
	case e.Mode == DialsOut && len(e.Addresses) > 0:
		return fmt.Errorf("%w: addresses of a member that dials out only", ErrMode)
	}
	for _, a := range e.Addresses {
		if err := CheckAddress(a); err != nil {
			return err
		}
	}
	return e.validateAttached()
}

func (e Endpoint) validateAttached() error {
	for i, m := range e.Attached {
		if m.IsZero() || m == e.Member || slices.Contains(e.Attached[:i], m) {
			return fmt.Errorf("%w: %v", ErrAttached, m)
		}
	}
	return nil
}

func (Endpoint) kind() envelope.Kind    { return envelope.Endpoint }
func (e Endpoint) signer() ident.Member { return e.Member }

// Sign makes the record. The key must be the member's (ErrSigner). Other
// errors: ErrTooMany, ErrMode, ErrAddress, ErrAttached, ErrMalformed,
// ErrTooLarge.
func (e Endpoint) Sign(g ident.Group, key *signature.PrivateKey) (SignedEndpoint, error) {
	e.Addresses, e.Attached = slices.Clone(e.Addresses), slices.Clone(e.Attached)
	return signStatement(g, e, key)
}

// SignedEndpoint is a verified endpoint record. It is immutable and safe for
// concurrent use; the zero value is none.
type SignedEndpoint = signed.Object[Endpoint]

// EndpointSigner is the member that an endpoint record claims to be of, so
// that its key can be looked up. Nothing is verified. Error: ErrMalformed.
func EndpointSigner(g ident.Group, raw []byte) (ident.Member, error) {
	return statementSigner[Endpoint](g, raw)
}

// ParseEndpoint reads an endpoint record and verifies it with its member's
// key. Errors: ErrMalformed, ErrTooMany, ErrMode, ErrAddress, ErrAttached,
// ErrSigner, ErrSignature, the first that applies.
func ParseEndpoint(g ident.Group, raw []byte, key *signature.PublicKey) (SignedEndpoint, error) {
	return parse(ReadEndpoint(g, raw, key))
}

// ReadEndpoint is ParseEndpoint without the check of the signature.
func ReadEndpoint(g ident.Group, raw []byte, key *signature.PublicKey) (Unverified[Endpoint, SignedEndpoint], error) {
	return readStatement[Endpoint](g, raw, key)
}
