package wire

import "fmt"

const (
	// MaxPolicyBody bounds the body of a message between policies, in bytes.
	// It equals policy.MaxField.
	MaxPolicyBody = 512
	// MaxName bounds the names of resources and policies, in bytes.
	MaxName = 64
)

// Policy contains a message from one member's policy to another's. It has no
// authority over custody. The receiver counts and drops a message of another
// policy or configuration.
type Policy struct {
	_             struct{} `cbor:",toarray"`
	Resource      string
	Slot          uint64
	Policy        string
	Configuration uint64 // version of the configuration in force at the sender
	Body          []byte
}

// Type is TypePolicy.
func (*Policy) Type() Type { return TypePolicy }

func (m *Policy) validate() error {
	if len(m.Body) > MaxPolicyBody {
		return fmt.Errorf("%w: policy body of %d bytes, permitted are 0 to %d", ErrLimit, len(m.Body), MaxPolicyBody)
	}
	for _, name := range []string{m.Resource, m.Policy} {
		if n := len(name); n == 0 || n > MaxName {
			return fmt.Errorf("%w: name of %d bytes, permitted are 1 to %d", ErrLimit, n, MaxName)
		}
	}
	return nil
}
