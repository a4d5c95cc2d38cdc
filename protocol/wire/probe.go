package wire

import "github.com/wandertoken/wander/protocol/ident"

// Probe says that the sender cannot reach the subject, and asks whether the
// receiver can.
type Probe struct {
	_        struct{} `cbor:",toarray"`
	Subject  ident.Member
	Sequence uint64 // of the endpoint record under which the sender has tried
}

// Type is TypeProbe.
func (*Probe) Type() Type { return TypeProbe }

func (*Probe) validate() error { return nil }
