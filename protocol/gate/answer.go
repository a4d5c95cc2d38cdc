package gate

import (
	"fmt"

	"github.com/wandertoken/wander/protocol/ident"
)

// Answer is what the gate says on a connection.
type Answer interface{ answer() }

// OpenAnswer (OPEN): the session has begun.
type OpenAnswer struct {
	_       struct{} `cbor:",toarray"`
	Session uint64   // its number, WANDER_GATE_FENCE
	Until   uint64   // when it is cut, ms since 1970
	Token   ident.Token
	Hop     uint64
}

// BusyAnswer (BUSY): the member waits on this connection, unless the slot is stuck. It names the session that it waits for; number
// 0 if there is none, or if the gate does not know.
type BusyAnswer struct {
	_       struct{} `cbor:",toarray"`
	Session uint64
	Until   uint64 // its deadline, or until when the slot is kept for its successor, ms since 1970; 0 if the gate does not know
	Token   ident.Token
	Hop     uint64
	Holder  ident.Member
	Stuck   bool
}

// RefuseAnswer (REFUSE): no session in this custody.
type RefuseAnswer struct {
	_             struct{} `cbor:",toarray"`
	Code          Code
	NotBefore     uint64 // ms since 1970; 0 if time changes nothing
	Configuration []byte // the newer one, of code Outdated; none if the member was sent it lately
}

// ClosedAnswer (CLOSED): the session has ended, or the waiting (session 0).
type ClosedAnswer struct {
	_         struct{} `cbor:",toarray"`
	Session   uint64
	Reason    Reason
	Confirmed bool // close has confirmed that work has ended
}

func (OpenAnswer) answer()   {}
func (BusyAnswer) answer()   {}
func (RefuseAnswer) answer() {}
func (ClosedAnswer) answer() {}

// Code is why a sign-in is refused.
type Code uint64

// The codes, one for each reason.
const (
	Stale         Code = 1  // the presenter's own signature gives the title away, or declines it
	Used          Code = 2  // another member had a session since the title was used
	TooSoon       Code = 3  // within the minimal interval of the member
	Rationed      Code = 4  // too many new tokens of this generator
	Full          Code = 5  // the waiting places are taken by members that were served longer ago
	Outdated      Code = 6  // the member's configuration is older than the gate's
	Ahead         Code = 7  // the gate does not have the member's configuration yet
	Revoked       Code = 8  // the presenter is revoked
	SignerRevoked Code = 9  // a signer is revoked, and what it signed is new here
	Unsure        Code = 10 // the gate's revocations are too old
	Implausible   Code = 11 // a genesis of the future, or more hops than time
	Replaced      Code = 12 // the member signed in again with this token
	NoSlot        Code = 13 // the gate has no such slot
	SignerExpired Code = 14 // the certificate of a signer has expired, and what it signed is new here
	Served        Code = 15 // the member has its turn at the slot, under another token
	NoLength      Code = 16 // a session of no length
	Shut          Code = 17 // the windows of the resource are closed
)

var codeNames = []string{
	"", "stale title", "used title", "too soon", "rationed generator", "full", "outdated configuration", "configuration unknown",
	"revoked", "signer revoked", "revocations too old", "implausible token", "replaced", "no such slot", "signer expired", "served",
	"no length", "windows closed",
}

func (c Code) String() string {
	if c > 0 && int(c) < len(codeNames) {
		return codeNames[c]
	}
	return fmt.Sprintf("code %d", uint64(c))
}

// Reason is why a session ended.
type Reason uint64

// The reasons.
const (
	BySignOut    Reason = 1 // the member signed out
	ByLoss       Reason = 2 // its connection was lost
	ByDeadline   Reason = 3
	BySuccessor  Reason = 4 // a member came to whom the token was passed on
	ByReplacing  Reason = 5 // the member itself signed in again with its token
	ByRevocation Reason = 6
	ByOpenHook   Reason = 7 // the open hook failed
	ByRestart    Reason = 8 // the gate has restarted
	ByWindows    Reason = 9 // the windows of the resource have closed
)

var reasonNames = []string{
	"", "sign-out", "lost connection", "deadline", "successor", "replaced", "revoked", "open hook failed", "restart",
	"windows closed",
}

func (r Reason) String() string {
	if r > 0 && int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return fmt.Sprintf("reason %d", uint64(r))
}
