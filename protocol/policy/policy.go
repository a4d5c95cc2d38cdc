package policy

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// MaxField bounds the policy field on a token and the body of a message
// between policies, in bytes. It is what one small message may cost a peer:
// two such fields and their envelope fit one QUIC datagram.
const MaxField = 512

// KeeperKind is the first byte of a message from which on it is not a policy's own but one
// of the keepers around policies (package keeper): they have a ration of their own.
const KeeperKind = 0x80

// Policy is one slot's circulation policy at one member.
type Policy interface {
	// Step tells the policy of one event at the instant now and appends its
	// answer to actions, in the order in which they are to be performed. The
	// event and what it points to are only borrowed; the returned fields stay
	// valid until the next Step. Instants never decrease.
	Step(now clock.Instant, event Event, actions []Action) []Action

	// Deadline is when the policy is next to be told of a Timer: clock.Never if it waits for nothing
	// but other events. Only Step changes it, and it may have passed.
	Deadline() clock.Instant
}

// Token is what a policy may know of a token.
type Token struct {
	ID        ident.Token
	Born      uint64       // genesis time by the generator's wall clock, ms since 1970
	Generator ident.Member // who signed the genesis
	Hop       uint64       // custody number: 0 at the generator
	Field     []byte       // policy field as it arrived, at most MaxField bytes
}

// EventKind says what happened.
type EventKind uint8

// The events. Those marked (token) carry Event.Token.
const (
	// Arrival (token): this member got custody of the token from Event.From. If
	// Event.Belated, it did not expect that any more: it accepted the token before a
	// restart, or long ago, and another one may have been made in its place since.
	Arrival EventKind = iota + 1
	// Generated (token): the member made a token, because the policy answered
	// Generate or because the group is being founded.
	Generated
	// Resumed (token): the member holds this token since before a restart.
	Resumed
	// Recalled (token): a fact from before a restart, told in its old order
	// before anything else: the token was here at Event.At, and the operation
	// ran then if Event.Operated. The instant is on this boot's clock, where it
	// may be negative. It asks for no action. One about an operation that had begun
	// before the policy did comes later, when that has ended.
	Recalled
	// Timer: the policy's Deadline has come. A policy must bear a timer that
	// comes late, and one that it has meanwhile put off. One comes
	// unasked when a policy begins its work, after Recalled and Resumed.
	Timer
	// OperationEnded (token): what Run began has ended, or did not begin.
	// Event.Operated says whether it ran.
	OperationEnded
	// DemandChanged: Event.Demand says whether anybody here wants to run.
	// A policy starts without demand. That there is some is told again when a
	// connection that broke is there again: messages may be lost.
	DemandChanged
	// PassEnded (token): a Pass came to its end; see Event.Outcome. Of a Delivered,
	// Event.From is who took the token, and Event.Body its receipt as it was signed.
	PassEnded
	// Message: Event.Body came from the policy of the same slot's resource at
	// the member Event.From. It is a hint without any authority.
	Message
	// Wanted: Event.From waits for a token, as somebody says, while one rests here, or has said while
	// an operation ran that ends now; it is zero if that is not said. It is a hint without any authority.
	Wanted
	// Neighbour: Event.From follows this member on the ring (rule P-17), among
	// those that take part and can be reached from here; it is zero when there
	// is no other. Event.Members is how many take part, this member among them,
	// whether or not they can be reached from here. It is told before a policy begins its
	// work and whenever it changes. Members that know different parts of the
	// group may disagree.
	Neighbour
	// Silent: the member Event.From, which a Watch is about, has not answered for
	// so long that it counts as dead, has departed, or has started again
	// without its memory. The watch has ended. It is a belief: the member may live,
	// and what it held may come back.
	Silent
	// Running (token): the member holds this token, and an operation runs under it that
	// had begun before the policy did, at a moment that nobody remembers. It is told in
	// place of Resumed, and before Resumed of other tokens. OperationEnded tells of its
	// end, and Resumed follows: a policy that ignores Running knows of the token from
	// there on.
	Running
	// Away (token): the operation that runs under this token goes on across a restart of the machine, until Event.At at the
	// latest: this member may say nothing until then. It is told when the operation begins, and after Running.
	Away
	// Unsent: what Tell was to say to Event.From, as a question, was not sent, as too much
	// waits or no more may be sent: it has to be told again later.
	Unsent
	// Queued: Event.Members members that Tell has a question for wait until they may be
	// dialled. It is told when there is one, and when there is none any more.
	Queued
	// Greeted: the member Event.From has connected with this one. What it was told before may
	// be lost, with its process. A policy that begins is told which members are connected by then.
	Greeted
	// Sought: somebody looks for this token, of which Event.Token says only the ID, while
	// none is here: it may be lost. It is a hint without any authority.
	Sought
	// Parted (token): the token has left for the member Event.From, whose answer is still to
	// come. A policy that lets somebody be drawn learns so to whom. It is told once more, with the
	// receipt in Event.Body, where that comes when the token has come back already.
	Parted
	// Acted: this member has acted against Event.From before the policy began, by Event.Measure. It
	// does so until Event.At, and for Event.Span in all; the instant may have passed, and the next measure
	// is longer all the same. It is told after Recalled, before anything else, and only to an Admitter.
	Acted
	// Accepted (token): this member has accepted the offer of a token that Event.From has just made, and that the policy
	// admits. It may come, or not. It is told only to an Admitter, once for each time that the token is offered.
	Accepted
)

// Outcome is how a Pass ended.
type Outcome uint8

// The outcomes of a Pass.
const (
	// Delivered: another member has custody.
	Delivered Outcome = iota + 1
	// Returned: the token is here again, or still. The receiver declined it,
	// or nobody of those that the Pass permits can be reached to take it. The
	// policy decides anew, as after an Arrival.
	Returned
	// Abandoned: nobody knows, and the member stopped asking. It is also said
	// of a token that was here and not in use, when the driver had to remove it.
	Abandoned
)

// Event is one thing that happened. It is a flat value so that a simulator can
// hand over millions of them without allocating.
type Event struct {
	Kind     EventKind
	Outcome  Outcome
	Operated bool
	Belated  bool
	Demand   bool
	Members  int
	At       clock.Instant
	From     ident.Member
	// Measure and Span, of Acted.
	Measure Measure
	Span    time.Duration
	// Skipped, of Arrival: the first of the members between Event.From and this one on the ring
	// (rule P-83) that is connected with this one. It is zero if there is none, and if Event.From
	// has sent the token back.
	Skipped ident.Member
	Token   Token
	Body    []byte
}

// ActionKind says what a policy wants done.
type ActionKind uint8

// The actions. Those marked (token) name Action.Token, which the member holds.
const (
	// Run (token): run the protected operation under this token. Action.At, unless it
	// is zero, is when the program is killed at the latest. Answered by
	// one OperationEnded.
	Run ActionKind = iota + 1
	// Prepare (token): the token will be passed on soon, to Action.To, or to a
	// member drawn at random when that is zero. The driver may look for who
	// takes it already. A Pass to somebody else stays possible.
	Prepare
	// Pass (token): hand the token to Action.To and to nobody else, or to a
	// member drawn at random when that is zero, with Action.Field as its policy
	// field. Answered by one PassEnded.
	Pass
	// Drop (token): remove the token from circulation, for Action.Reason.
	Drop
	// Generate: make a new token. Answered by one Generated, or by nothing
	// when the member may not, as while it holds one of the slot that nobody
	// has accepted yet.
	Generate
	// Tell: send Action.Field as a message to the policy at Action.To. It may
	// get lost. One that is a Question waits behind all others where members have to be
	// dialled, and Unsent and Queued tell of it.
	Tell
	// Watch: say Silent when Action.To does not answer any more, or does not
	// now. Nothing answers while it does. A policy watches MaxWatched members at
	// once; one more ends the oldest watch. Watching who is watched changes nothing.
	Watch
	// Unwatch ends the watch on Action.To, if there is one.
	Unwatch
	// Shun passes no token to Action.To until the instant Action.At, where nobody names it as the
	// receiver: it does not pass tokens on. It replaces an earlier one; an instant that
	// has come ends it.
	Shun
	// Complain writes down, signed, that this member begins to act against Action.To: Action.Measure
	// says how, Action.Cause why, Action.Token and Action.Hop because of which custody of that member. It
	// goes to nobody. A policy that begins later, as after a restart, is told of it by Acted.
	Complain
)

// MaxWatched bounds the members that a policy watches at once: as many as it can
// have passed a token to and not heard of since, with a few tokens about.
const MaxWatched = 8

// DropReason says why a token was removed.
type DropReason uint8

// The reasons. Their names are metric labels.
const (
	// Superseded: a token of higher precedence is known to circulate.
	Superseded DropReason = iota + 1
	// Overflow: there are more tokens than the policy wants, here or in the group.
	Overflow
	// Spent: the policy makes a token for each operation, and this one's is
	// over.
	Spent
	// Forked: another custody of this very token is here. No policy says so; the
	// member does, when somebody has signed two transfers of one hop.
	Forked
	// Unconfigured: the group configuration in force lacks the token's slot. No
	// policy says so; the member does.
	Unconfigured
)

func (r DropReason) String() string {
	switch r {
	case Superseded:
		return "superseded"
	case Overflow:
		return "overflow"
	case Spent:
		return "spent"
	case Forked:
		return "forked"
	case Unconfigured:
		return "unconfigured"
	}
	return "unknown"
}

// Action is one thing a policy wants done. Like Event it is a flat value.
type Action struct {
	Kind   ActionKind
	Reason DropReason
	At     clock.Instant
	To     ident.Member
	Token  ident.Token
	Field  []byte
	// Question, of Tell: it goes to all members, one after the other.
	Question bool
	// Struck, of Shun: the member has kept or lost a token. Otherwise it has not given account
	// of one yet.
	Struck bool
	// Firm, of Shun: To gets no token although nobody else is left, as of one that is struck. Of Pass: no member gets it that was to
	// get it before, and accepts it late.
	Firm bool
	// Untaken, of Shun: only because To has not taken a token. One that To accepts late goes to it all the same.
	Untaken bool

	// Of Complain.
	Hop     uint64
	Measure Measure
	Cause   Cause
	Span    time.Duration // for how long it acts
}

// Gauger is a policy that has figures to show to people. They decide nothing.
type Gauger interface {
	// Gauges calls show for each figure, always in the same order, with a name
	// that ends in its base unit.
	Gauges(show func(name string, value float64))
}

// Isolated is a policy that asks other members before it runs a program.
type Isolated interface {
	// Isolated reports whether the last program could not begin because too few have
	// answered: since when the first one has waited of those in a row, and who has not.
	Isolated() (since clock.Instant, missing []ident.Member, is bool)
}

// Admitter is a policy that takes no tokens of some members for a while which these have just
// made.
type Admitter interface {
	// Admits reports whether the policy takes a token at the instant now that is offered by the
	// member that has made it. Of one that is accepted then, Accepted tells.
	Admits(now clock.Instant, t Token) bool
}
