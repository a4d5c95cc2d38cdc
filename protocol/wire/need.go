package wire

import (
	"fmt"

	"github.com/wandertoken/wander/protocol/ident"
)

// Need answers an OFFER or a TRANSFER whose signers' certificates the member
// lacks.
type Need struct {
	_       struct{} `cbor:",toarray"`
	Token   ident.Token
	Hop     uint64
	Members []ident.Member
}

// Type is TypeNeed.
func (*Need) Type() Type { return TypeNeed }

func (m *Need) validate() error {
	if n := len(m.Members); n == 0 || n > MaxSigners {
		return fmt.Errorf("%w: %d members, permitted are 1 to %d", ErrLimit, n, MaxSigners)
	}
	return hop(m.Hop)
}
