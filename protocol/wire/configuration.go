package wire

import "fmt"

const (
	// MaxConfiguration bounds a signed group configuration, in bytes: the
	// largest payload of a configuration, and the envelope.
	MaxConfiguration = 257 << 10

	// ConfigurationPart is how many bytes of a configuration one message
	// contains at most, so that frames that move custody wait behind one part
	// and not behind the whole configuration.
	ConfigurationPart = 16 << 10

	// MaxVouchers bounds the statements about CA keys beside a configuration:
	// as many as a group has at a time (group.MaxAuthorities).
	MaxVouchers = 8
)

// Configuration contains a signed group configuration, or one part of it. With
// it come the statements that a member needs if it does not know the CA key
// which signed the configuration. The parts of one configuration are sent one
// after the other, each but the last with ConfigurationPart bytes.
type Configuration struct {
	_             struct{} `cbor:",toarray"`
	Configuration []byte
	Authorities   [][]byte // about CA keys beyond the first, in the order in which they are vouched for; with the last part
	Before        uint64   // bytes of the configuration in the parts that came before; 0: this is the first, or all
	Rest          uint64   // bytes of the configuration in the parts that follow; 0: this is the last, or all
}

// ConfigurationParts returns the messages that together contain a
// configuration.
func ConfigurationParts(raw []byte, authorities [][]byte) (list []*Configuration) {
	before := uint64(0)
	for len(raw) > ConfigurationPart {
		rest := raw[ConfigurationPart:]
		list = append(list, &Configuration{Configuration: raw[:ConfigurationPart], Before: before, Rest: uint64(len(rest))})
		raw, before = rest, before+ConfigurationPart
	}
	return append(list, &Configuration{Configuration: raw, Authorities: authorities, Before: before})
}

// Type is TypeConfiguration.
func (*Configuration) Type() Type { return TypeConfiguration }

func (m *Configuration) validate() error {
	n := len(m.Configuration)
	switch {
	case n == 0 || n > ConfigurationPart:
		return fmt.Errorf("%w: %d bytes of a configuration, permitted are 1 to %d", ErrLimit, n, ConfigurationPart)
	case m.Before > uint64(MaxConfiguration-n), m.Rest > uint64(MaxConfiguration-n)-m.Before:
		return fmt.Errorf("%w: configuration with %d bytes before and %d after this part, permitted are %d in all",
			ErrLimit, m.Before, m.Rest, MaxConfiguration)
	case m.Before%ConfigurationPart > 0:
		return fmt.Errorf("%w: part of a configuration behind %d bytes, which are no full parts", ErrMalformed, m.Before)
	case m.Rest > 0 && (n < ConfigurationPart || len(m.Authorities) > 0):
		return fmt.Errorf("%w: part of a configuration of %d bytes with %d statements and more to come", ErrMalformed, n, len(m.Authorities))
	}
	return objects("statements about CA keys", m.Authorities, MaxVouchers)
}

// Revocations contains signed revocations. It is also the last message to a
// revoked member, with that member's own revocation.
type Revocations struct {
	_           struct{} `cbor:",toarray"`
	Revocations [][]byte // ascending by version
	More        bool     // there are higher versions
}

// Type is TypeRevocations.
func (*Revocations) Type() Type { return TypeRevocations }

func (m *Revocations) validate() error { return objects("revocations", m.Revocations, MaxPage) }
