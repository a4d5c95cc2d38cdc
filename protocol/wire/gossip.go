package wire

import (
	"fmt"

	"github.com/wandertoken/wander/protocol/ident"
)

// Fingerprint is what two directories compare instead of their members: the
// XOR of one hash for each member. Equal sets have equal ones; it is no
// authentication.
type Fingerprint = [16]byte

// Gossip begins a comparison with a random peer, once each gossip_interval. A
// member that sees in a GOSSIP that the other one has something which it lacks
// asks for that.
type Gossip struct {
	_             struct{}    `cbor:",toarray"`
	Configuration uint64      // version of the group configuration that the sender holds
	Revocations   uint64      // version of the revocation list that it holds
	Members       uint64      // how many members its directory has; 0 if it keeps a sample
	Fingerprint   Fingerprint // of those members
	Answer        bool        // this answers a GOSSIP, and asks for none
}

// Type is TypeGossip.
func (*Gossip) Type() Type { return TypeGossip }

func (*Gossip) validate() error { return nil }

// MaxParts bounds the parts of a SUMMARY: each round of a comparison narrows a
// difference down to a sixty-fourth, so a million members take three.
const MaxParts = 64

// Part is one sub-range of a SUMMARY.
type Part struct {
	_           struct{}     `cbor:",toarray"`
	Through     ident.Member // the last id of the sub-range
	Members     uint64       // how many members the sender knows in it
	Fingerprint Fingerprint  // of those members
}

// Summary describes the sender's directory in a range of ids by the
// fingerprints of its parts. The parts are consecutive: the first begins at
// From, each other one behind the one before.
type Summary struct {
	_     struct{} `cbor:",toarray"`
	From  ident.Member
	Parts []Part
}

// Type is TypeSummary.
func (*Summary) Type() Type { return TypeSummary }

func (m *Summary) validate() error {
	if len(m.Parts) > MaxParts {
		return fmt.Errorf("%w: %d parts, permitted are 0 to %d", ErrLimit, len(m.Parts), MaxParts)
	}
	for i := range m.Parts {
		if i == 0 && m.Parts[0].Through.Compare(m.From) < 0 ||
			i > 0 && m.Parts[i].Through.Compare(m.Parts[i-1].Through) <= 0 {
			return fmt.Errorf("%w: part %d of a summary ends before it begins", ErrMalformed, i)
		}
	}
	return nil
}
