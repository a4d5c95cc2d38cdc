package policy

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
)

// Surroundings are what a policy is made with, beside its parameters.
type Surroundings struct {
	// Self is the member whose policy it is.
	Self ident.Member
	// Random is what the policy draws from whenever it is stepped: who shares one
	// among policies steps them on one goroutine.
	Random rand.Source
	// Roster answers for as long as the policy works. Nil is that nobody else is known.
	Roster Roster
	// Class is that of a member, as its certificate has it: empty of one that has none, or whose certificate is not
	// known here. Nil is that nobody has one. It is asked within Step only.
	Class func(m ident.Member) string
	// Electorate are the voters of the slot. Nil is that there are none.
	Electorate Electorate
	// Slot stands for the slot in questions to the Roster: its witnesses are those of
	// the slot. Zero is that it has none.
	Slot ident.Member
	// Forgetful is that an earlier life of this member may have held tokens and run
	// programs of which it knows nothing: its journal is not kept over a restart.
	Forgetful bool
	// Young is that the member begins its work with this policy, or with its slot: it can
	// know nothing of the slot's tokens. One that replaces another policy, as the
	// configuration has changed, is not young.
	Young bool
	// Longest is the longest program that may still run from before the policy began,
	// under another configuration.
	Longest time.Duration
	// Patience is how many times as long as usual this member waits now before it suspects
	// others, as it runs late itself. Nil is 1. It is asked within Step only.
	Patience func() int
	// Receipt reads and verifies a receipt that a member of the group has signed; ok is false
	// of anything else. Nil is that receipts cannot be read here.
	Receipt func(raw []byte) (r Receipt, ok bool)
	// Serial is which serial the next record of custody has in this member's journal (H-70): 0 where it has
	// none. Nil is that it has none.
	Serial func() uint64
}

// Receipt is a member's signed word that it has taken a token.
type Receipt struct {
	Token  ident.Token
	Hop    uint64 // the custody that it has taken
	Signer ident.Member
	// Current is that the signer has the custody memory in which it has given the receipt, as
	// far as is known: it has not lost it since.
	Current bool
	// SameProcess is that it is current, and that the signer's process, too, is the one that has taken the
	// token. Serial is that of the custody in the signer's journal then: 0 where it has none, and Unnamed
	// where the receipt leaves it out.
	SameProcess bool
	Serial      uint64
}

// Unnamed is the Serial of a receipt that is to name one (H-70), and does not. Such a receipt excuses nothing.
const Unnamed = math.MaxUint64

// MaxWitnesses bounds how many witnesses a Roster names for one member: a few that keep
// a slot, behind as many as have just fallen silent (package keeper).
const MaxWitnesses = 72

// Roster is what a policy may ask about who takes part in the group, beyond its
// events. What it answers may differ from member to member, as directories do, and
// may name who has just died. It is asked within Step only, and its answers belong
// to what makes a policy deterministic.
type Roster interface {
	// Draw appends n different members drawn uniformly among those that take part
	// as far as this one knows, itself left out; fewer where fewer are known. A single
	// one is drawn as the next holder of a token is, so that all are visited equally
	// often also where some only dial out.
	Draw(n int, to []ident.Member) []ident.Member
	// Size is how many there are to draw from.
	Size() int
	// Others is as Draw with n other than 1, but also draws those to which this member passes no token
	// now (Shun): one of them may have a token all the same, and can be asked.
	Others(n int, to []ident.Member) []ident.Member
	// Witnesses appends the n witnesses of a member, n at most MaxWitnesses: among
	// all others that take part as far as this member knows, those with the highest
	// hash of (group, member, witness), the highest first; fewer where fewer are
	// known, and nobody for who does not take part any more. A member is never its
	// own witness; the one that asks may be one.
	// Nobody chooses its witnesses, those who know the same members name the same
	// ones, and a join or a death changes few of them (rendezvous hashing).
	Witnesses(of ident.Member, n int, to []ident.Member) []ident.Member
}

// Electorate is whom a policy may ask for votes on the programs of its slot.
type Electorate interface {
	// Voters appends the first n members of the slot's order, and returns how many
	// there are. All that the CA has certified are among them, this one, the failed and the silent
	// too, but for those that are revoked or have left: so a cut changes nothing. The order is that
	// of Roster.Witnesses. There is nobody where this member knows only a sample of the
	// group.
	Voters(n int, to []ident.Member) (list []ident.Member, all int)
}

// Asked is a question that a Roster was asked, and its answer.
type Asked struct {
	Of     ident.Member // whose witnesses; zero: Draw or Others, or Size where N is 0
	N      int
	Others bool // the question was Others
	Answer []ident.Member
	Size   int // the answer to Size
}

// Alone is the Roster of who knows nobody else.
type Alone struct{}

// Draw appends nobody.
func (Alone) Draw(_ int, to []ident.Member) []ident.Member { return to }

// Size is 0.
func (Alone) Size() int { return 0 }

// Others appends nobody.
func (Alone) Others(_ int, to []ident.Member) []ident.Member { return to }

// Witnesses appends nobody.
func (Alone) Witnesses(_ ident.Member, _ int, to []ident.Member) []ident.Member { return to }
