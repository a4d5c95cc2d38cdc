package wire

import "cmp"

// Receipt contains a signed receipt: the answer to a transfer that was taken.
type Receipt struct {
	_       struct{} `cbor:",toarray"`
	Receipt []byte
	Updates [][]byte // membership updates, each authenticated by itself
}

// Type is TypeReceipt.
func (*Receipt) Type() Type { return TypeReceipt }

func (m *Receipt) validate() error {
	return cmp.Or(object("receipt", m.Receipt), objects("updates", m.Updates, MaxUpdates))
}

// Void contains a signed void: the answer to a transfer that was declined.
type Void struct {
	_    struct{} `cbor:",toarray"`
	Void []byte
}

// Type is TypeVoid.
func (*Void) Type() Type { return TypeVoid }

func (m *Void) validate() error { return object("void", m.Void) }

// Unknown contains a signed unknown: the receiver's memory does not reach back
// to the transfer.
type Unknown struct {
	_       struct{} `cbor:",toarray"`
	Unknown []byte
}

// Type is TypeUnknown.
func (*Unknown) Type() Type { return TypeUnknown }

func (m *Unknown) validate() error { return object("unknown", m.Unknown) }
