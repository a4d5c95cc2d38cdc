package handoff

import (
	"math/rand/v2"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// Environment answers the machine's questions about other members.
type Environment interface {
	token.Keys
	// Choose draws a member to pass a token to, uniformly among those that are
	// valid and can be reached, without the excluded ones.
	Choose(exclude func(ident.Member) bool) (ident.Member, bool)
	// Shuns reports whether this member passes m no token, unless its policy
	// names m as the receiver. Choose draws no such member.
	Shuns(m ident.Member) bool
	// ShunsLate reports whether this member passes m no token although its policy has named m as the receiver, and m
	// accepts when the policy has named another one since.
	ShunsLate(m ident.Member) bool
	// Eligible returns nil for a member that may take part in a new handoff,
	// and otherwise the reason.
	Eligible(m ident.Member) error
	// Certificate returns the encoded certificate of m, or "". The machine asks
	// for it in every handoff, so it must not decode anything.
	Certificate(m ident.Member) string
	// Circulates reports whether this group has the slot of a genesis.
	Circulates(g token.GenesisBody) bool
	// Admits says whether a token may make a hop to this member, judged by its
	// genesis and the number of the hop. The reason is for the offerer.
	Admits(g token.Genesis, hop uint64) (wire.Refusal, bool)
	// LastOperation returns when the operation last ran under a token of this
	// genesis' slot, in ms since 1970, or 0.
	LastOperation(g token.GenesisBody) uint64
}

// Config has what New and NewReplay need to make a Machine.
type Config struct {
	Self        ident.Member
	Group       ident.Group
	Key         *signature.PrivateKey
	Incarnation ident.Incarnation
	Durable     bool
	Tuning      Tuning
	Environment Environment
	Detector    ConflictDetector // nil: none
	Rand        rand.Source      // jitter only
	Stats       Stats            // the counters begin with these
	Serial      uint64           // serial of the last custody record of a custody memory that was given up; 0: none
}

// Stats counts what the machine has done since it was made.
type Stats struct {
	Taken, Delivered, Returned, Abandoned uint64
	Offers, Retried, Reselected           uint64 // offers in all, again to the same peer, drawn anew
	Retransmitted                         uint64
	InDoubt                               uint64 // transfers that needed a second transmission
	InDoubtResolved                       uint64 // of these, answered by a receipt or void
	Duplicates, Stale, Declined           uint64
	Rejected, Evidence                    uint64
}
