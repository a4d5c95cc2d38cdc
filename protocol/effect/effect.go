// Package effect is what the pure core wants done to the world.
//
// A step of a member returns a list of effects. The order of the list is part
// of the protocol: a driver performs the effects one after the other, never
// lets an effect of a later step overtake one of an earlier step, and makes
// everything up to a Persist with Sync durable before it goes on ("write
// before you speak"). Waiting for several such records with one sync is fine.
// A crash may come between any two effects.
package effect

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// Effect is one thing to be done.
type Effect interface{ effect() }

// Persist appends a record to the journal.
type Persist struct {
	At     uint64 // wall clock of the step, µs since 1970
	Record journal.Record
	// Sync: this record, and all before it, must be durable before the next
	// effect. Without it the record may be lost in a crash.
	Sync bool
}

// Send hands a message to the transport. It may get lost.
type Send struct {
	To      ident.Member
	Message wire.Message
}

// Grant lets a waiting program run the protected operation until the
// deadline, at which it is killed. A driver that comes to it at or after the deadline starts nothing
// and reports the operation as ended without having run.
type Grant struct {
	Request  uint64 // the demand that is met
	Grant    ident.Grant
	Resource string
	Slot     uint64
	Token    ident.Token
	Hop      uint64
	Fence    uint64 // see token.Fence
	Deadline clock.Instant
	Length   time.Duration // from the step to the deadline
	Session  uint64        // number of the session at the resource's gate; 0: there is none
	Entry    uint64        // and the SignIn that opened it, or that a gate has got that only observes; 0: there is none
}

// SignIn asks the gate of a resource for a session under a token that is here. What the gate says is
// the answer, until the session has ended or SignOut has.
type SignIn struct {
	Entry         uint64 // the member's own number, never used again
	Resource      string
	Slot          uint64
	Token         ident.Token
	Hop           uint64
	Title, Before token.Title
	Length        time.Duration // of the session
	Observed      bool          // the gate only observes: the program does not wait for what it says
}

// SignOut ends a session, or the waiting for one.
type SignOut struct{ Entry uint64 }

// Lose ends a grant before its deadline: its session at the gate is over. The driver kills the program as
// at the deadline, and reports its end.
type Lose struct {
	Grant  ident.Grant
	Reason string // the gate's
}

// Refuse ends a demand that can never be met.
type Refuse struct {
	Request uint64
	Reason  error
}

// Expel hands a peer the revocation of its certificate, closes every
// connection with it and opens none.
type Expel struct {
	Member     ident.Member
	Revocation []byte
}

// Reconfigure tells the driver that a newer group configuration is in force, with
// the CA keys that it lists; the member has them.
type Reconfigure struct{ Version uint64 }

// Watch says that this member wants to know soon when a peer answers no more, or that it
// does not want to know any longer. The driver may then find out sooner that nobody listens
// where the peer is.
type Watch struct {
	Peer ident.Member
	On   bool
}

// Report is something an operator should read: evidence against a member, a
// peer's odd behaviour. The driver limits the rate of what it logs.
type Report struct {
	Kind   string // stable, a metric label
	About  ident.Member
	Detail string
}

// Evidence is proof against a member that anybody can check. The driver keeps it
// where an operator finds it, and brings it to the CA; the journal has its
// objects already. None of that may keep a token waiting.
type Evidence struct {
	Kind    string // stable, a metric label
	Accused ident.Member
	ID      ident.Hash
	Encoded []byte // see package evidence
}

// Stop ends this member for good: it was revoked, has left, or failed permanently.
type Stop struct{ Reason error }

func (Persist) effect()     {}
func (Send) effect()        {}
func (Grant) effect()       {}
func (SignIn) effect()      {}
func (SignOut) effect()     {}
func (Lose) effect()        {}
func (Refuse) effect()      {}
func (Expel) effect()       {}
func (Reconfigure) effect() {}
func (Watch) effect()       {}
func (Report) effect()      {}
func (Evidence) effect()    {}
func (Stop) effect()        {}
