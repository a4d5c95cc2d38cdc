package wire

import (
	"fmt"

	"github.com/wandertoken/wander/protocol/ident"
)

// Topic says what a WANT asks for.
type Topic uint64

// The topics of a WANT.
const (
	WantMembers       Topic = 1 // a page of the directory, in order of member id
	WantConfiguration Topic = 2 // the group configuration
	WantRevocations   Topic = 3 // the revocations, in pages by version
)

// Want asks a peer for what it knows.
//
//	want = [ topic: uint, after: member, version: uint ]
type Want struct {
	_       struct{} `cbor:",toarray"`
	Topic   Topic
	After   ident.Member // members: only ids above this one
	Version uint64       // configuration, revocations: only versions above this one
}

// Type is TypeWant.
func (*Want) Type() Type { return TypeWant }

func (m *Want) validate() error {
	if m.Topic < WantMembers || m.Topic > WantRevocations {
		return fmt.Errorf("%w: want topic %d", ErrMalformed, m.Topic)
	}
	return nil
}

// Entry is one member in a page of a directory.
//
//	entry = [ certificate: bstr, endpoint: bstr ]
type Entry struct {
	_           struct{} `cbor:",toarray"`
	Certificate []byte
	Endpoint    []byte // empty when not known
}

// Members is one page of a directory. It proves presence, never absence.
//
//	members = [ entries: [*64 entry], more: bool ]
type Members struct {
	_       struct{} `cbor:",toarray"`
	Entries []Entry  // ascending by member id
	More    bool     // there are members above the last entry
}

// Type is TypeMembers.
func (*Members) Type() Type { return TypeMembers }

func (m *Members) validate() error {
	if len(m.Entries) > MaxPage {
		return fmt.Errorf("%w: %d entries, permitted are 0 to %d", ErrLimit, len(m.Entries), MaxPage)
	}
	for _, e := range m.Entries {
		if err := first(object("certificate", e.Certificate), optional("endpoint", e.Endpoint)); err != nil {
			return err
		}
	}
	return nil
}

// MaxConfiguration bounds a signed group configuration, in bytes: the largest
// payload of an envelope, and the envelope.
const MaxConfiguration = 17 << 10

// Configuration hands over a signed group configuration.
//
//	configuration-message = [ configuration: bstr ]
type Configuration struct {
	_             struct{} `cbor:",toarray"`
	Configuration []byte
}

// Type is TypeConfiguration.
func (*Configuration) Type() Type { return TypeConfiguration }

func (m *Configuration) validate() error {
	if n := len(m.Configuration); n == 0 || n > MaxConfiguration {
		return fmt.Errorf("%w: configuration of %d bytes, permitted are 1 to %d", ErrLimit, n, MaxConfiguration)
	}
	return nil
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
