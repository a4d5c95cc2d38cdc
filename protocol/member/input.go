package member

import (
	"time"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
)

// Input is one thing that a driver tells a member.
type Input interface{ input() }

// Tick says that time has passed. Every other input ticks too.
type Tick struct{}

// Late says by how much later than it should the driver itself has run: its
// processor is short, or the process was stopped. It goes before inputs that may be
// there for that reason. Less than LateFrom counts for nothing.
type Late struct{ By time.Duration }

// Connected says that a peer has proved its identity on a new connection.
type Connected struct{ Certificate certificate.Certificate }

// Unreachable says that a peer could not be dialled, or that the connection
// with it broke.
type Unreachable struct {
	Peer ident.Member
	// Silent: it did not answer at all, although it was asked.
	Silent bool
	// Absent: besides, the host where it was refuses what is sent to its port, and a new
	// dial there was not answered. Silent is set, too.
	Absent bool
	// Refused: it answered that it will not talk, or that it has restarted, which
	// shows that it lives. Neither: the failure is on this side, a pause between
	// two dials for example, and shows nothing.
	Refused bool
}

// Disconnected says that the last connection with a peer was closed in order.
type Disconnected struct {
	Peer  ident.Member
	Lost  bool // what was in progress may be: another connection has taken its place
	Alive bool // the peer has not restarted meanwhile: that connection is one of the same process
}

// Received is a frame body from an authenticated peer. It is borrowed until
// Step returns.
type Received struct {
	From ident.Member
	Body []byte
}

// Demand says that a local program waits for a resource. It is answered by
// one effect.Grant or effect.Refuse that names the request, which is the
// driver's own number and never used again.
type Demand struct {
	Request  uint64
	Resource string
	MaxHold  time.Duration // zero: the resource's max_hold, which also bounds it
	// OncePer asks for no grant when the operation has run within that time,
	// here or, as far as the token tells, elsewhere; zero asks always.
	OncePer time.Duration
	// Held are the grants that the asking program runs under itself. It would
	// wait for its own end if one of them is for this resource.
	Held []ident.Grant
	// Asker is written down with the grant, and decides nothing.
	Asker *journal.Asker
	// Across asks for a grant that lasts across a restart of the machine.
	Across bool
}

// Withdraw ends a demand that has not been met. After the grant it does
// nothing.
type Withdraw struct{ Request uint64 }

// Ended says that a grant's program has ended, or did not start.
type Ended struct {
	Grant    ident.Grant
	Operated bool
	// SeenFrom and SeenTo are when what ran the program saw it running first and
	// last; both 0 if that is not known.
	SeenFrom, SeenTo clock.Instant
}

// GateReachable says whether the gate of a resource has a connection with this member. None does until that is
// said.
type GateReachable struct {
	Resource    string
	Is          bool
	Certificate []byte // of the gate, verified, if it is reachable; it is journalled

	// Gate and Address are which gate it is. What is said of another one than the configuration names comes too late, and
	// is ignored. No Address: whichever it names.
	Gate    ident.Member
	Address string
}

// GateSaid is what a gate has answered to a sign-in, verified as the gate's.
type GateSaid struct {
	Entry  uint64      // effect.SignIn
	Answer gate.Answer // nil: the connection is lost, and the session with it
	At     uint64      // when the gate said so by its own clock, ms since 1970
	Signed []byte      // the answer as the gate has signed it; empty: it is not journalled
}

// Learn hands over signed objects from the operator's files: certificates,
// endpoint records, revocations and group configurations.
type Learn struct {
	Certificates, Endpoints, Revocations, Leaves [][]byte
	Configuration                                []byte
	Authorities                                  [][]byte // CA keys beyond those known, in the order of their vouching
}

// Announce says where others can dial this member, as host:port; without any,
// it only dials out. The member signs an endpoint record if that is news.
type Announce struct{ Addresses []string }

// Renewed brings a newer certificate of this member.
type Renewed struct{ Certificate certificate.Certificate }

// Leave makes the member sign that it has left the group permanently, and tell its
// peers. A Shutdown should come before it, and Idle be waited for, so that its
// tokens live on. Afterwards the driver ends it.
type Leave struct{}

// Shutdown makes the member finish: it refuses and declines what comes, and
// passes on what it holds. Idle then says when nothing is left to wait for.
type Shutdown struct{}

func (Tick) input()          {}
func (Late) input()          {}
func (Connected) input()     {}
func (Unreachable) input()   {}
func (Disconnected) input()  {}
func (Received) input()      {}
func (Demand) input()        {}
func (Withdraw) input()      {}
func (Ended) input()         {}
func (GateReachable) input() {}
func (GateSaid) input()      {}
func (Learn) input()         {}
func (Announce) input()      {}
func (Renewed) input()       {}
func (Leave) input()         {}
func (Shutdown) input()      {}
