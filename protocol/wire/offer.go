package wire

import (
	"fmt"

	"github.com/wandertoken/wander/protocol/ident"
)

// Offer asks whether the receiver would take a token.
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
	if n := len(m.Signers); n == 0 || n > MaxSigners {
		return fmt.Errorf("%w: %d signers, permitted are 1 to %d", ErrLimit, n, MaxSigners)
	}
	return first(hop(m.Hop), object("genesis", m.Genesis), objects("certificates", m.Certificates, MaxSigners))
}
