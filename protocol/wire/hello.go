package wire

import (
	"fmt"

	"github.com/wandertoken/wander/protocol/ident"
)

// Settled is a sender's promise to a receiver (handoff rules §1, in chapter 8
// of spec/protocol.md): every transfer that the sender signed with an accept
// number of this incarnation below Below is closed, durably, and the sender
// will never use such a number again.
type Settled struct {
	_           struct{} `cbor:",toarray"`
	Incarnation ident.Incarnation
	Below       uint64
}

// ShownKind is the kind of an object that HELLO shows.
type ShownKind uint64

// The kinds.
const (
	ShownGenesis  ShownKind = 1
	ShownTransfer ShownKind = 2
	ShownReceipt  ShownKind = 3
	ShownVoid     ShownKind = 4
)

// Shown is the latest object that the receiver of a HELLO has signed about a
// token, as far as the sender has seen. If the receiver's journal lacks that
// object, the journal is an older copy.
type Shown struct {
	_      struct{} `cbor:",toarray"`
	Kind   ShownKind
	Object []byte
}

func (s *Shown) validate() error {
	if s == nil {
		return nil
	}
	if s.Kind < ShownGenesis || s.Kind > ShownVoid {
		return fmt.Errorf("%w: object of kind %d", ErrMalformed, s.Kind)
	}
	return object("shown", s.Object)
}

// Hello is the first message of each side on a connection.
type Hello struct {
	_             struct{}          `cbor:",toarray"`
	Versions      [2]uint64         // lowest and highest protocol version spoken
	Incarnation   ident.Incarnation // of the sender's custody memory
	Features      uint64            // bit set; unknown bits are ignored
	MaxFrame      uint64            // largest body the sender reads, in bytes
	Configuration uint64            // version of the group configuration it holds
	Revocations   uint64            // version of the revocation list it holds
	Floor         uint64            // its floor for the peer: accept numbers below are forgotten
	Settled       *Settled          // for the peer's incarnation as last known
	Endpoint      []byte            // its signed endpoint record, or empty
	Time          uint64            // its wall clock, ms since 1970; the receiver uses the median of its peers' clocks (rule H-41)
	Shown         *Shown            // the latest that the peer has signed about a token, or nil
}

// Type is TypeHello.
func (*Hello) Type() Type { return TypeHello }

func (m *Hello) validate() error {
	if m.Versions[0] == 0 || m.Versions[0] > m.Versions[1] {
		return fmt.Errorf("%w: versions %d to %d", ErrMalformed, m.Versions[0], m.Versions[1])
	}
	if err := m.Shown.validate(); err != nil {
		return err
	}
	return optional("endpoint", m.Endpoint)
}
