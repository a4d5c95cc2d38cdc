package wire

import (
	"cmp"
	"github.com/wandertoken/wander/protocol/ident"
)

// Offer asks whether the receiver will take a token.
type Offer struct {
	_            struct{} `cbor:",toarray"`
	Token        ident.Token
	Hop          uint64
	Genesis      []byte
	Signers      []ident.Member // whose certificates the transfer will need
	Certificates [][]byte       // of the signers: empty on a first offer
	Settled      *Settled
}

// Type is TypeOffer.
func (*Offer) Type() Type { return TypeOffer }

func (m *Offer) validate() error {
	return cmp.Or(signers("signers", m.Signers), hop(m.Hop), object("genesis", m.Genesis), objects("certificates", m.Certificates, MaxSigners))
}
