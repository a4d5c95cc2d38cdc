package journal

import (
	"fmt"

	"github.com/wandertoken/wander/protocol/ident"
)

// Started is a grant, durable before its program starts (handoff rules §2,
// EXEC).
type Started struct {
	_        struct{} `cbor:",toarray"`
	Grant    ident.Grant
	Token    ident.Token
	Hop      uint64
	Resource string
	Deadline uint64 // ns on the boot clock of the named boot
	Length   uint64 // ns from this record to the deadline
	Boot     string // another boot of the same machine: the program is dead
	Machine  string
	Asker    *Asker // nil: the daemon itself, or the system does not tell
	// Across is when the deadline is by the wall clock, ms since 1970, of a grant that also lasts across a restart of
	// the machine; 0: it ends with the boot.
	Across uint64
}

// Asker is the process that asked for a grant, as the system of its machine knew it then.
type Asker struct {
	_       struct{} `cbor:",toarray"`
	User    uint64
	Group   uint64 // its primary one
	Process uint64 // 0: in another namespace of processes
}

// Kind is KindStarted.
func (*Started) Kind() Kind { return KindStarted }

// Founded says that the first token of a slot has been made by this journal's
// owner. Only checkpoints write it: otherwise Generated says so.
type Founded struct {
	_        struct{} `cbor:",toarray"`
	Resource string
	Slot     uint64
}

// Kind is KindFounded.
func (*Founded) Kind() Kind { return KindFounded }

// Visited is what a policy is told again after a restart: that a token was
// here, and whether the operation ran. Only checkpoints write it.
type Visited struct {
	_         struct{} `cbor:",toarray"`
	Resource  string
	Slot      uint64
	Token     ident.Token
	Born      uint64 // ms since 1970
	Generator ident.Member
	At        uint64 // µs since 1970
	Operated  bool
}

// Kind is KindVisited.
func (*Visited) Kind() Kind { return KindVisited }

// Ended is the end of a grant: its program has ended at the time of this record at
// the latest.
type Ended struct {
	_        struct{} `cbor:",toarray"`
	Grant    ident.Grant
	Operated bool // the program ran, as far as is known; false: it never started
	Cause    EndCause
	// SeenFrom and SeenTo are when the program was seen running first and last, µs
	// since 1970, by what ran it. Both are 0 when that is not known.
	SeenFrom, SeenTo uint64
}

// Told is what the gate of a resource has answered to this journal's owner, signed by the gate. It is for auditors, and
// the latest OPEN for the owner itself after a restart.
type Told struct {
	_      struct{} `cbor:",toarray"`
	Answer []byte
}

// Kind is KindTold.
func (*Told) Kind() Kind { return KindTold }

// EndCause is how a member learned that a grant's program has ended.
type EndCause uint64

// The causes.
const (
	EndReported  EndCause = 1 // the program's end was reported
	EndDeadline  EndCause = 2 // the deadline came while the member ran
	EndRestarted EndCause = 3 // at a restart: the deadline had passed, or the machine had been rebooted
)

func (c EndCause) String() string {
	switch c {
	case EndReported:
		return "reported"
	case EndDeadline:
		return "deadline"
	case EndRestarted:
		return "restarted"
	}
	return fmt.Sprintf("cause %d", uint64(c))
}

// Kind is KindEnded.
func (*Ended) Kind() Kind { return KindEnded }
