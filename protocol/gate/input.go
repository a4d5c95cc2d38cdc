package gate

import (
	"time"

	"github.com/wandertoken/wander/protocol/ident"
)

// Connection is the driver's own number of a connection, never used again.
type Connection uint64

// Input is one thing that a driver tells the gate.
type Input interface{ input() }

// Tick says that time has passed. Every other input ticks too.
type Tick struct{}

// SignIn is a member's request, whose permit and statement have verified for this connection.
type SignIn struct {
	Connection    Connection
	Number        uint64 // of the sign-in within the connection, as the statement has it
	Slot          int
	Permit        Permit
	Configuration uint64        // version that the member goes by
	Length        time.Duration // of the session; more than MaxHold is cut to it
}

// SignOut ends what has become of one sign-in: its session, or its waiting.
type SignOut struct {
	Connection Connection
	Number     uint64 // of the sign-in
}

// Lost says that a connection is gone, or silent.
type Lost struct{ Connection Connection }

// Result is how a hook ended.
type Result uint8

// The results. A hook that timed out has been killed, with all it had started.
const (
	Succeeded Result = iota
	Failed
	TimedOut
)

// HookEnded says that the hook with this run number has ended. A hook counts that has ended while the gate still waits for it,
// however late the gate hears of it. After a pause the gate waits once more as long (see minPause), so a Tick may come first.
type HookEnded struct {
	Run    uint64
	Result Result
}

// Cleared is the operator's word that close may run again at a slot that is stuck.
type Cleared struct{ Slot int }

// Configured brings the settings of a newer configuration. They hold for what comes, and all that wait are refused with it. Slots that
// are new are closed first, as after Begin. At slots that are gone nothing opens any more.
type Configured struct{ Settings Settings }

// Revocations brings the members that are revoked, all of them, as the CA or a member's sign-in said; Fresh if the CA
// itself has just been asked.
type Revocations struct {
	Members []ident.Member
	Fresh   bool
}

func (Tick) input()        {}
func (SignIn) input()      {}
func (SignOut) input()     {}
func (Lost) input()        {}
func (HookEnded) input()   {}
func (Cleared) input()     {}
func (Configured) input()  {}
func (Revocations) input() {}
