package wire

import (
	"fmt"

	"github.com/wandertoken/wander/protocol/ident"
)

// Topic says what a WANT asks for.
type Topic uint64

// The topics of a WANT.
const (
	WantMembers       Topic = 1 // a page of the directory, in order of member id
	WantConfiguration Topic = 2 // the group configuration
	WantRevocations   Topic = 3 // the revocations, in pages by version
	WantSummary       Topic = 4 // how the peer's directory looks in a range of ids
)

// Want asks a peer for a part of its directory, or for its configuration or
// revocations.
type Want struct {
	_       struct{} `cbor:",toarray"`
	Topic   Topic
	From    ident.Member // WantMembers, WantSummary: only ids from this one on
	Through ident.Member // WantMembers, WantSummary: only ids up to this one, itself included
	Version uint64       // WantConfiguration, WantRevocations: only versions above this one
}

// Type is TypeWant.
func (*Want) Type() Type { return TypeWant }

func (m *Want) validate() error {
	if m.Topic < WantMembers || m.Topic > WantSummary {
		return fmt.Errorf("%w: want topic %d", ErrMalformed, m.Topic)
	}
	if m.From.Compare(m.Through) > 0 {
		return fmt.Errorf("%w: want from %s through %s", ErrMalformed, m.From, m.Through)
	}
	return nil
}
