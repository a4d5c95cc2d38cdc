package wire

import (
	"cmp"

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
	return cmp.Or(signers("members", m.Members), hop(m.Hop))
}
