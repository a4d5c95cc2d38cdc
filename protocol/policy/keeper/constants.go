package keeper

import (
	"cmp"
	"math"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
)

// Times and bounds of keepers, holders and waiters.
const (
	// DefaultSilence (L) is how long a member waits for an answer before it takes another one for silent.
	// It sends a question retries times within L, so that a lost packet or a new
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

	// restAgain is how often a holder says again that its token rests. It is shorter than the time after
	// which an unused connection closes, as a member that only dials out could not be asked
	// then. A new keeper learns the promise that way, without being watched.
	restAgain = 20 * time.Second

	// maxLastAsked is how many of all that are asked are watched when no others are waited
	// for.
	maxLastAsked = 4

	// reportPause is at least between two reports of one member to the keeper: fast tokens
	// do not spend all that a member hears of another one (policyRate).
	reportPause = 250 * time.Millisecond

	// foundingTime is how long a keeper that has just begun leaves the first token of a
	// slot to the members that bootstrap it.
	foundingTime = 20 * time.Second

	// maxMembers is more than a group has: all of them are drawn.
	maxMembers = 1 << 20

	// maxChain bounds how many members a token is followed through that has been
	// passed on since its last holder told of it. Asking everybody leaps over the rest.
	maxChain = 16

	// anyHop, in an ask, stands for each hop of a token: members say where they passed it last, and not what they have heard. No token
	// reaches it, as each hop takes time.
	anyHop = math.MaxUint64

	// maxLeaps bounds how often in one search all are asked where a token went that no member
	// has when it is asked. A token that lives is caught up with after two.
	maxLeaps = 4

	// Members that wait say so one after the other: a turn apart, which is L for crowd
	// members and in proportion for others, but at least L / 2 and at most 2 L. So the wants of
	// many cost little, and each of a few says so often: the turns of failed members
	// are lost until the directory leaves them out. maxAgain caps the time between two
	// wants of one member, beside a turn for each member that it knows. Otherwise a crowd of
	// liars could have it wait.
	crowd    = 48
	maxAgain = time.Hour

	// reportGrace is how long after the end of a program that a keeper knows of it expects
	// to have heard of the next one.
	reportGrace = 2 * reportPause

	// secondOpinion is how often a member tells the keeper that it waits before it tells
	// the second one once, and the second one before the third.
	secondOpinion = 4

	// maxHeld bounds the tokens here that a keeper knows of. More than two of a slot at
	// one member are rare. The others are neither told nor promised.
	maxHeld = 8

	// muteTime is how long a silent member is not taken for the keeper,
	// unless it says something: the directory states its failure sooner. maxMutes is how
	// many are remembered: all that are asked which member can be the keeper.
	muteTime = time.Minute
	maxMutes = policy.MaxWitnesses

	// maxPassed is how many passes a member remembers, with their receipts: it is asked what
	// became of a custody within a few turns. It is 10 kB.
	maxPassed = 32

	// maxHad is of how many tokens a member remembers which members it had them from.
	maxHad = 8
)

// Times and bounds of inquests.
const (
	// maxInquests bounds what one member finds out at once about tokens that others have
	// lost.
	maxInquests = 8

	// strikeTimes is how many times as long as an overdue token is missed a member is
	// struck for the first time. What it costs the group to find out is little beside that, also where
	// several members of a large group keep tokens.
	strikeTimes = 128

	// restarts is how many times as long as usual a token may stay with a holder that gives no
	// account: it may have restarted, wait for the end of a program from before, and then for the
	// word of all others, and run a program of its own.
	restarts = 3

	// maxLateAnswers is how often a member may say, too late, that it still has a token: a holder that is asleep most of
	// the time passes it on in two or three moments in which it is awake. One that pauses, so that it never
	// says so for 2 L, is late after twice as many answers as that takes.
	maxLateAnswers = 16

	// maxFailures is how many failures of one member count within one search: each time it has spoken, and then
	// does not answer. Its program is waited for. A machine that fails, restarts and fails again while one token is
	// looked for is rare; a member that speaks and never answers would keep a lost token from ever being replaced.
	// So would an earlier keeper that tells each time of another token, which it has made and which is lost, too. Both
	// count together.
	maxFailures = 2

	// wrongClock is how many times as long as usual a token may stay with the member that has made
	// it: while its clock is wrong, no member takes it.
	wrongClock = 8

	// denialTimes is for how many times L both members have to say what they say, before one that
	// denies a pass is in doubt: the transfer is sent again and again meanwhile, and a link may lose
	// several messages in a row.
	denialTimes = 3

	// maxDoubts bounds the doubts that a member remembers.
	maxDoubts = 64

	// maxExcused bounds the members whose excuses this one remembers: as many as it backs off from. Fewer that conspire
	// have no excuse forgotten before its time. It is 130 kB at most.
	maxExcused = maxBackoffs

	// excuseTimes is how many times as long as an overdue token is missed this member passes nothing
	// to one that says that it has dropped a token for another one, if no member confirms that.
	excuseTimes = 16

	// maxExcuses is how often within strikeTimes a member may explain a loss without a proof: machines
	// restart. One that does so each time is no use to the group.
	maxExcuses = 1

	// pauseTimes is how many times as long as an overdue token is missed this member passes nothing to one that
	// explains a second loss so. It is short, so that a machine that has crashed twice has its next turn soon. It
	// doubles each time, so that one that restarts with each token costs little in the end.
	pauseTimes = 4

	// maxMinted is how often within strikeTimes a member may have dropped a token for one that
	// another member had just made: before all others back off from that one.
	maxMinted = 8

	// maxForgotten is how often within strikeTimes a member may have dropped a token for one whose giver has forgotten
	// that it passed it on: an inquest may be late. It is no part of maxMinted: a member that bears with a minter would have spent
	// these excuses.
	maxForgotten = 8

	// maxGreetings bounds the members of which this one remembers when they have greeted.
	maxGreetings = 1024

	// spreadInquests is how much later each further member of a large group asks about a lost
	// token, so that those asked are not dialled by all at once.
	spreadInquests = 20 * time.Millisecond
)

// Bounds of the check of a token that has just been made.
const (
	// newbornHop is the hop of a token that its receiver may drop (P-69). What others say of one
	// that was lost there, this member does not ask about.
	newbornHop = 1

	// newbornKeepers is how many keepers are asked about a newborn token: one may have failed, or lie.
	newbornKeepers = 2

	// maxBirths is how many newborn tokens a member remembers that it has let its policy have. More
	// than one in H + L are rare.
	maxBirths = 8
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

// overdue (O) is how long a holder may keep a token that was told that others wait: it may wait
// for its own next program, that may run, and two questions be lost.
func (s *spans) overdue() time.Duration { return s.minInterval + s.hold + 2*s.silence }

// millis is a span as messages carry it: in whole milliseconds, rounded up, at most 49
// days.
func millis(d time.Duration) uint32 {
	return uint32(min(max(0, (d+time.Millisecond-1)/time.Millisecond), math.MaxUint32))
}

func span(ms uint32) time.Duration { return time.Duration(ms) * time.Millisecond }
