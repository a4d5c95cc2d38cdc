package journal

import "github.com/wandertoken/wander/protocol/ident"

// Started is a grant, durable before its program starts (handoff rules §2,
// EXEC).
//
//	started = [ grant: bstr .size 16, token: hash, hop: uint, resource: tstr,
//	            deadline: uint, boot: tstr, machine: tstr ]
type Started struct {
	_        struct{} `cbor:",toarray"`
	Grant    ident.Grant
	Token    ident.Token
	Hop      uint64
	Resource string
	Deadline uint64 // ns on the boot clock of the named boot
	Boot     string // another boot of the same machine: the program is dead
	Machine  string
}

// Kind is KindStarted.
func (*Started) Kind() Kind { return KindStarted }

// Founded says that the first token of a slot has been made by this journal's
// owner. Only checkpoints write it: otherwise Generated says so.
//
//	founded = [ resource: tstr, slot: uint ]
type Founded struct {
	_        struct{} `cbor:",toarray"`
	Resource string
	Slot     uint64
}

// Kind is KindFounded.
func (*Founded) Kind() Kind { return KindFounded }

// Visited is what a policy is told again after a restart: that a token was
// here, and whether the operation ran. Only checkpoints write it.
//
//	visited = [ resource: tstr, slot: uint, token: hash, born: uint, generator: member,
//	            at: uint, operated: bool ]
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

// Ended is the known end of a grant's program.
//
//	ended = [ grant: bstr .size 16, operated: bool ]
type Ended struct {
	_        struct{} `cbor:",toarray"`
	Grant    ident.Grant
	Operated bool // the program ran; false: it never started
}

// Kind is KindEnded.
func (*Ended) Kind() Kind { return KindEnded }
