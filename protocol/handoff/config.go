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
	// Shuns reports whether no token is passed to a member, unless it is named as the receiver.
	// Choose draws none of those.
	Shuns(m ident.Member) bool
	// Eligible is nil for a member that may take part in a new handoff.
	Eligible(m ident.Member) error
	// Certificate is the encoded certificate of m, or "". It is asked for with
	// every handoff, so it must not decode anything.
	Certificate(m ident.Member) string
	// Circulates reports whether this group has the slot of a genesis.
	Circulates(g token.GenesisBody) bool
	// Admits says whether a token may make a hop to this member, as far as its
	// genesis and the number of the hop tell. The reason is for the offerer.
	Admits(g token.GenesisBody, hop uint64) (wire.Refusal, bool)
	// LastOperation is when the operation last ran under a token of this
	// genesis' slot, in ms since 1970, or 0.
	LastOperation(g token.GenesisBody) uint64
}

// Config is what a machine is made of.
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
	Stats       Stats            // to count on from
	Serial      uint64           // of the last record of custody of a memory that was given up
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
