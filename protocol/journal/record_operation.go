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
