package wire

import "github.com/wandertoken/wander/protocol/ident"

// Cancel says that a reservation will probably not be used. It is advice: the
// receiver still takes a transfer that names the reservation.
type Cancel struct {
	_           struct{} `cbor:",toarray"`
	Token       ident.Token
	Hop         uint64
	Incarnation ident.Incarnation
	Accept      uint64
}

// Type is TypeCancel.
func (*Cancel) Type() Type { return TypeCancel }

func (m *Cancel) validate() error { return hop(m.Hop) }
