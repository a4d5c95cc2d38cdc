package wire

import "fmt"

const (
	// MaxConfiguration bounds a signed group configuration, in bytes: the
	// largest payload of an envelope, and the envelope.
	MaxConfiguration = 17 << 10

	// MaxVouchers bounds the statements about CA keys beside a configuration:
	// as many as a group knows at a time (group.MaxAuthorities).
	MaxVouchers = 8
)

// Configuration hands over a signed group configuration, with what a member
// needs that has not heard of the CA key which signed it.
//
//	configuration-message = [ configuration: bstr, authorities: [*8 bstr] ]
type Configuration struct {
	_             struct{} `cbor:",toarray"`
	Configuration []byte
	Authorities   [][]byte // about CA keys beyond the first, in the order in which they are vouched for
}

// Type is TypeConfiguration.
func (*Configuration) Type() Type { return TypeConfiguration }

func (m *Configuration) validate() error {
	if n := len(m.Configuration); n == 0 || n > MaxConfiguration {
		return fmt.Errorf("%w: configuration of %d bytes, permitted are 1 to %d", ErrLimit, n, MaxConfiguration)
	}
	return objects("statements about CA keys", m.Authorities, MaxVouchers)
}

// Revocations hands over signed revocations. It is also the last word to a
// revoked member: its own revocation.
//
//	revocations = [ revocations: [*64 bstr], more: bool ]
type Revocations struct {
	_           struct{} `cbor:",toarray"`
	Revocations [][]byte // ascending by version
	More        bool     // there are higher versions
}

// Type is TypeRevocations.
func (*Revocations) Type() Type { return TypeRevocations }

func (m *Revocations) validate() error { return objects("revocations", m.Revocations, MaxPage) }
