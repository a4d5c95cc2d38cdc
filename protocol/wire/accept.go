package wire

import "github.com/wandertoken/wander/protocol/ident"

// Accept reserves a place for a token. The reservation has the number Accept
// of the incarnation; the transfer must name both.
//
//	accept = [ token: hash, hop: uint, incarnation: bstr .size 16, accept: uint, lifetime: uint ]
type Accept struct {
	_           struct{} `cbor:",toarray"`
	Token       ident.Token
	Hop         uint64
	Incarnation ident.Incarnation
	Accept      uint64
	Lifetime    uint64 // of the reservation, ms from its sending
}

// Type is TypeAccept.
func (*Accept) Type() Type { return TypeAccept }

func (m *Accept) validate() error { return hop(m.Hop) }
