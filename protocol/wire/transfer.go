package wire

import "cmp"

// Transfer contains a signed transfer with all that is needed to verify it: the
// genesis, the transfer before it, and the void of that one if it was declined.
type Transfer struct {
	_            struct{} `cbor:",toarray"`
	Transfer     []byte
	Genesis      []byte
	Previous     []byte   // empty at hop 1, whose previous is the genesis
	Void         []byte   // empty unless Previous was declined
	Certificates [][]byte // of the signers: empty at the first try
	Updates      [][]byte // membership updates, each authenticated by itself
}

// Type is TypeTransfer.
func (*Transfer) Type() Type { return TypeTransfer }

func (m *Transfer) validate() error {
	return cmp.Or(
		object("transfer", m.Transfer), object("genesis", m.Genesis),
		optional("previous transfer", m.Previous), optional("void", m.Void),
		objects("certificates", m.Certificates, MaxSigners),
		objects("updates", m.Updates, MaxUpdates),
	)
}
