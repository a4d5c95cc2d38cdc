package keeper

import (
	"cmp"
	"math"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
)

const (
	// DefaultSilence (L) is after what time without an answer a member counts as dead.
	// A question is sent retries times within it, so that a lost packet or a new
	// connection over a slow line does not make a member silent.
	DefaultSilence = 4 * time.Second

	// retries is how often a question is sent within L.
	retries = 4

	// nextPause is after what time without an answer the second keeper is told, too.
	nextPause = 100 * time.Millisecond

	// ranks is how many members know of a slot's tokens, one in place of the other: more
	// than one liar.
	ranks = 4

	// restAfter is how long a token is idle before its holder promises that it rests: a
	// policy that is about to pass it on would have to ask the promise back.
	restAfter = 250 * time.Millisecond

	// restAgain is how often a holder says again that its token rests: more often than a
	// connection closes that nobody uses, as a member that only dials out could not be asked
	// then. A keeper that is new learns the promise that way, without being watched.
	restAgain = 20 * time.Second

	// maxLastAsked is how many of all that are asked are watched when no others are waited
	// for.
	maxLastAsked = 4

	// reportPause is at least between two reports of one member to the keeper: fast tokens
	// do not spend all that a member hears of another one (policyRate).
	reportPause = 250 * time.Millisecond

	// foundingTime is how long a keeper that has just begun leaves the first token of a
	// slot to those who found it.
	foundingTime = 20 * time.Second

	// maxMembers is more than a group has: all of them are drawn.
	maxMembers = 1 << 20

	// maxChain bounds how many members a token is followed through that has been
	// passed on since its last holder told of it. Asking everybody leaps over the rest.
	maxChain = 16

	// maxLeaps bounds how often in one search all are asked where a token went that nobody
	// has when it is asked. A token that lives is caught up with after two.
	maxLeaps = 4

	// Members that wait say so one after the other: a turn apart, which is L for crowd
	// members and in proportion for others, but at least L / 2 and at most 2 L. The wants of
	// many cost little so, and of few each says so often: the turns of those that have died
	// are lost until the directory leaves them out. maxAgain bounds the time between two
	// wants of one member, beside a turn for each member that it knows: what a crowd of
	// liars can have it wait.
	crowd    = 48
	maxAgain = time.Hour

	// reportGrace is how long after the end of a program that a keeper knows of it expects
	// to have heard of the next one.
	reportGrace = 2 * reportPause

	// secondOpinion is how often a member tells the keeper that it waits before it tells
	// the second one once, and the second one before the third.
	secondOpinion = 4

	// maxHeld bounds the tokens here that a keeper knows of. More than two of a slot at
	// one member are rare, and what is not known of is neither told nor promised.
	maxHeld = 8

	// muteTime is how long a member that has fallen silent is not taken for the keeper,
	// unless it says something: the directory states its failure sooner. maxMutes is how
	// many are remembered: all that are asked who can be the keeper.
	muteTime = time.Minute
	maxMutes = policy.MaxWitnesses

	// maxPassed is how many passes a member remembers, with their receipts: it is asked what
	// became of a custody within a few turns. It is 10 kB.
	maxPassed = 32

	// maxHad is of how many tokens a member remembers from whom it had them.
	maxHad = 8
)

// longAgo is an Instant before all others, with room to count on from it.
const longAgo = -clock.Never / 2

// spans are the times that a keeper computes with.
type spans struct {
	silence     time.Duration // L
	hold        time.Duration // H: the longest program
	retry       time.Duration // between two questions
	half        time.Duration // L / 2
	minInterval time.Duration // Δmin: how long a holder may wait for its own next program
}

func deriveSpans(p policy.Params) spans {
	l := cmp.Or(p.Silence, DefaultSilence)
	return spans{silence: l, hold: max(p.OperationTime, p.MaxHold), retry: l / retries, half: l / 2, minInterval: p.MinInterval}
}

// millis is a span as messages carry it: in whole milliseconds, rounded up, at most 49
// days.
func millis(d time.Duration) uint32 {
	return uint32(min(max(0, (d+time.Millisecond-1)/time.Millisecond), math.MaxUint32))
}

func span(ms uint32) time.Duration { return time.Duration(ms) * time.Millisecond }
