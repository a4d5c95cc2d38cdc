package wandering

import (
	"cmp"
	"math"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/wandering/papers"
)

const (
	// minFreshness is the least time for which a token that was heard of counts as
	// one that circulates: several failure detections long.
	minFreshness = 30 * time.Second

	// fairDivisor and lightDivisor divide a round, all members' operations, into the
	// freshness of large groups. Within it half of all members hear of a token by
	// the messages that it causes under fair; under light, where only those know of it
	// that it visits, a third do. So of two tokens one soon comes to such a member.
	fairDivisor  = 24
	lightDivisor = 5

	// readPauseLeast and readPauseMost bound the pause between two looks for a
	// member that is due, which doubles. The slot's keeper tells the holder which one waits, so
	// that a look finds one only where keepers do not.
	readPauseLeast = 250 * time.Millisecond
	readPauseMost  = 32 * time.Second

	// lightRest is for how long a token rests at most under light, where the paper's
	// Δskip is not longer, and the group not small (idleRound).
	lightRest = 4 * time.Second

	// wordTime is how long word of a turn takes to all timekeepers at most.
	wordTime = 5 * time.Second

	// defaultSilence is that of a keeper, if params have none.
	defaultSilence = 4 * time.Second

	replyLeast = 250 * time.Millisecond
	replyMost  = time.Second
)

// spans are the times that the presets light and fair compute with.
type spans struct {
	operation, min, skip time.Duration
	round                time.Duration // how long a round takes at most, or Δmin if that is longer
	freshness            time.Duration // for which a token that was heard of counts as one that circulates
	rest                 time.Duration // for which a token stays while no member is due, at most
	again                time.Duration // after which no further operation begins where a pass has come back: it would last for too long
	gather               time.Duration // for reports, before the next member is chosen
	reply                time.Duration // for answers to one question
}

// deriveSpans takes nothing but what every group says of itself, and no number of
// members but the one that saturates the resource.
func deriveSpans(p policy.Params, isFair bool) spans {
	round := p.OperationTime * time.Duration(p.MembersMax)
	divisor := time.Duration(lightDivisor)
	if isFair {
		divisor = fairDivisor
	}
	s := spans{
		operation: p.OperationTime, min: p.MinInterval, skip: p.SkipDelay,
		freshness: max(minFreshness, round/divisor),
		gather:    min(p.OperationTime/8, replyMost),
		reply:     min(max(p.OperationTime/8, replyLeast), replyMost),
	}
	// A holder may keep a token for a Δmin, the longest operation and twice the silence (P-74).
	s.again = p.MinInterval + 2*cmp.Or(p.Silence, defaultSilence)
	if s.min == 0 {
		s.min = papers.MinInterval(p.OperationTime, p.MembersMax)
	}
	s.round = max(round, s.min)
	s.rest = max(s.skip, lightRest)
	if isFair {
		s.rest = s.freshness
	}
	return s
}

// millis is a span as messages and tokens carry it: in whole milliseconds, at most
// 49 days.
func millis(d time.Duration) uint32 {
	return uint32(min(max(0, d/time.Millisecond), math.MaxUint32))
}

// before is the instant so many milliseconds ago.
func before(now clock.Instant, ms uint32) clock.Instant {
	return now - clock.Instant(time.Duration(ms)*time.Millisecond)
}
