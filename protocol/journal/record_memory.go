package journal

import (
	"fmt"

	"github.com/wandertoken/wander/protocol/ident"
)

// Incarnation begins a custody memory (handoff rules §1). A journal may hold
// several; what stands before the last one is history without effect.
type Incarnation struct {
	_           struct{} `cbor:",toarray"`
	Incarnation ident.Incarnation
	Member      ident.Member
	Durable     bool
	Machine     string // where it began: another machine means a moved or cloned journal
}

// Kind is KindIncarnation.
func (*Incarnation) Kind() Kind { return KindIncarnation }

// Opened says that a member has started with this journal, or, in a checkpoint, that it
// had: records of custody behind it count from Serial on.
type Opened struct {
	_       struct{} `cbor:",toarray"`
	Opening uint64   // its number: higher than those before it, at least the time in ms since 1970
	Tag     [8]byte  // random
	Serial  uint64   // records of custody so far, over all openings
}

// Kind is KindOpened.
func (*Opened) Kind() Kind { return KindOpened }

// Counters reserves numbers of the incarnation: none at or above these has
// been used.
type Counters struct {
	_        struct{} `cbor:",toarray"`
	Accepts  uint64   // accept numbers
	Sequence uint64   // sequence numbers of generated tokens
}

// Kind is KindCounters.
func (*Counters) Kind() Kind { return KindCounters }

// Floor says that everything from the offerer below Floor is forgotten.
type Floor struct {
	_       struct{} `cbor:",toarray"`
	Offerer ident.Member
	Floor   uint64
}

// Kind is KindFloor.
func (*Floor) Kind() Kind { return KindFloor }

// Settled is the promise to a receiver that is about to be given; see
// wire.Settled.
type Settled struct {
	_           struct{} `cbor:",toarray"`
	Receiver    ident.Member
	Incarnation ident.Incarnation
	Below       uint64
}

// Kind is KindSettled.
func (*Settled) Kind() Kind { return KindSettled }

// Knowledge says what a Known record holds.
type Knowledge uint64

// What a member knows of others and must still know after a restart.
const (
	KnownCertificate   Knowledge = 1
	KnownEndpoint      Knowledge = 2
	KnownRevocation    Knowledge = 3
	KnownConfiguration Knowledge = 4
	KnownLeave         Knowledge = 5
	KnownFailure       Knowledge = 6
	KnownAuthority     Knowledge = 7
	// KnownGenesis and the following are the latest that a member has signed about a
	// token, as far as it was seen here.
	KnownGenesis  Knowledge = 8
	KnownTransfer Knowledge = 9
	KnownReceipt  Knowledge = 10
	KnownVoid     Knowledge = 11
	// KnownGate is the certificate of a resource's gate.
	KnownGate Knowledge = 12
)

func (k Knowledge) String() string {
	switch k {
	case KnownCertificate:
		return "certificate"
	case KnownEndpoint:
		return "endpoint record"
	case KnownRevocation:
		return "revocation"
	case KnownConfiguration:
		return "group configuration"
	case KnownLeave:
		return "leave"
	case KnownFailure:
		return "failure statement"
	case KnownAuthority:
		return "CA key"
	case KnownGenesis:
		return "genesis"
	case KnownTransfer:
		return "transfer"
	case KnownReceipt:
		return "receipt"
	case KnownVoid:
		return "void"
	case KnownGate:
		return "gate's certificate"
	}
	return fmt.Sprintf("knowledge %d", uint64(k))
}

// Known is a signed object about the group that came from elsewhere.
type Known struct {
	_      struct{} `cbor:",toarray"`
	What   Knowledge
	Object []byte
}

// Kind is KindKnown.
func (*Known) Kind() Kind { return KindKnown }

// Evidence is a set of signed objects that together prove that their signer
// broke the rules.
type Evidence struct {
	_       struct{} `cbor:",toarray"`
	What    string
	Accused ident.Member
	Objects [][]byte
}

// Kind is KindEvidence.
func (*Evidence) Kind() Kind { return KindEvidence }

// Complained is a complaint of this journal's owner: it is for auditors, and for the owner itself after a restart.
type Complained struct {
	_         struct{} `cbor:",toarray"`
	Complaint []byte
}

// Kind is KindComplained.
func (*Complained) Kind() Kind { return KindComplained }
