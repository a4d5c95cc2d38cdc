package wire

import "github.com/wandertoken/wander/protocol/ident"

// Accept reserves a place for a token. The transfer names its incarnation, number and MAC.
type Accept struct {
	_           struct{} `cbor:",toarray"`
	Token       ident.Token
	Hop         uint64
	Incarnation ident.Incarnation
	Accept      uint64
	MAC         ident.MAC
	Lifetime    uint64 // of the reservation, ms from its sending
}

// Reservation returns the reservation that the message gives to the offerer.
func (m *Accept) Reservation() ident.Reservation {
	return ident.Reservation{Incarnation: m.Incarnation, Number: m.Accept, MAC: m.MAC}
}

// Type is TypeAccept.
func (*Accept) Type() Type { return TypeAccept }

func (m *Accept) validate() error { return hop(m.Hop) }
