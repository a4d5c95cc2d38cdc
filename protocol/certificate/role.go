package certificate

import (
	"fmt"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
)

// Role says what a certificate makes of its key. No key has two roles: the certificate of a gate
// makes no member, and that of a member no gate.
type Role uint64

// The roles.
const (
	// MemberRole is that of a certificate which names no role: the key is a member.
	MemberRole Role = 0
	// GateRole is that of a gate, which stands before a resource and belongs to no member (spec/gate.md).
	GateRole Role = 1
)

func (r Role) String() string {
	switch r {
	case MemberRole:
		return "member"
	case GateRole:
		return "gate"
	}
	return fmt.Sprintf("role %d", uint64(r))
}

// MarshalText is the form in listings.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads that form. Error: ErrRole.
func (r *Role) UnmarshalText(text []byte) error {
	for _, known := range []Role{MemberRole, GateRole} {
		if known.String() == string(text) {
			*r = known
			return nil
		}
	}
	return fmt.Errorf("%w: %q, which is not known", ErrRole, text)
}

func (r Role) validate() error {
	if r > GateRole {
		return fmt.Errorf("%w: %v, which is not known", ErrRole, r)
	}
	return nil
}

// is returns ErrRole unless r is the role that is wanted.
func (r Role) is(wanted Role) error {
	if r != wanted {
		return fmt.Errorf("%w: %v, must be %v", ErrRole, r, wanted)
	}
	return nil
}

// Role is what the certificate makes of its key.
func (c Certificate) Role() Role { return c.Body().Role }

// CheckGate returns nil if this is the certificate of the gate with an id and is valid at a time.
// The certificate has verified before. Errors: ErrRole, ErrOtherGate, ErrNotYetValid, ErrExpired.
func (c Certificate) CheckGate(id ident.Member, at time.Time) error {
	if err := c.Role().is(GateRole); err != nil {
		return err
	}
	if c.Member() != id {
		return fmt.Errorf("%w: %v", ErrOtherGate, c.Member())
	}
	return c.ValidAt(at)
}
