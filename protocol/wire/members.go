package wire

import (
	"cmp"
	"fmt"

	"github.com/wandertoken/wander/protocol/ident"
)

// MaxFailures bounds the failure statements about one member in a page of a
// directory: as many as a directory keeps (directory.MaxFailureQuorum).
const MaxFailures = 16

// Entry is one member in a page of a directory.
type Entry struct {
	_           struct{} `cbor:",toarray"`
	Certificate []byte
	Endpoint    []byte   // empty when not known
	Leave       []byte   // empty unless the member has left
	Failures    [][]byte // the witnesses' statements against it
}

func (e *Entry) validate() error {
	return cmp.Or(
		object("certificate", e.Certificate), optional("endpoint", e.Endpoint),
		optional("leave", e.Leave), objects("failure statements", e.Failures, MaxFailures),
	)
}

// Members is one page of a directory. It proves presence, never absence.
type Members struct {
	_       struct{}     `cbor:",toarray"`
	Entries []Entry      // ascending by member id
	Through ident.Member // how far the page covers the range that was asked for
	More    bool         // the sender knows members of the range above Through
}

// Type is TypeMembers.
func (*Members) Type() Type { return TypeMembers }

func (m *Members) validate() error {
	if len(m.Entries) > MaxPage {
		return fmt.Errorf("%w: %d entries, permitted are 0 to %d", ErrLimit, len(m.Entries), MaxPage)
	}
	for i := range m.Entries {
		if err := m.Entries[i].validate(); err != nil {
			return err
		}
	}
	return nil
}
