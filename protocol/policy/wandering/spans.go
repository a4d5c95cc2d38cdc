package wandering

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
)

const (
	// leastWindow is the least time for which a token that was heard of counts as
	// one that circulates: several failure detections long, so that one follows
	// the other in small groups too.
	leastWindow = 30 * time.Second

	// fairWindows and lightWindows are how many windows make a round, all members'
	// operations, in large groups. In a window half of all members hear of a token by
	// the messages that it causes under fair; under light, where only those hear of it
	// that it visits, a third do. So of those polled some have.
	fairWindows  = 24
	lightWindows = 5

	// regenerationRounds is γ in rounds of operations at one member. All members
	// together then try every so many operation times, and each try is a poll.
	regenerationRounds = 37.5

	// askAfter is when to ask who should have taken a token and let it go, beyond
	// the operation: more than a few repetitions of what gets lost on the way.
	askAfter = 5 * time.Second
	// askAgain is when to ask once more who says that it does not have the token.
	askAgain = 3 * time.Second
	// askPauseMost bounds the pause between two questions, which doubles.
	askPauseMost = 64 * time.Second

	// suspicion is how long somebody who has fallen silent, and those who would know
	// that it let the token go, are heard before a token is made in place of it.
	suspicion = 500 * time.Millisecond

	// readPauseLeast and readPauseMost bound the pause between two looks for a
	// member that is due, which doubles.
	readPauseLeast = 250 * time.Millisecond
	readPauseMost  = 4 * time.Second

	replyLeast = 250 * time.Millisecond
	replyMost  = time.Second
)

// spans are the times that the presets light and fair compute with.
type spans struct {
	operation, min, skip time.Duration
	round                time.Duration // how long a round takes at most, or Δmin if that is longer
	window               time.Duration // X = W
	rest                 time.Duration // for which a token stays where nobody is due, at most
	past                 time.Duration // within which three members have had a token that circulates
	gather               time.Duration // for reports, before the next member is chosen
	reply                time.Duration // for answers to one question
	regeneration         float64       // γ, ns
}

// deriveSpans takes nothing but what every group says of itself, and no number of
// members but the one that saturates the resource.
func deriveSpans(p policy.Params, windows time.Duration) spans {
	round := p.OperationTime * time.Duration(p.MembersMax)
	s := spans{
		operation: p.OperationTime, min: p.MinInterval, skip: p.SkipDelay,
		window:       max(leastWindow, round/windows),
		gather:       min(p.OperationTime/8, replyMost),
		reply:        min(max(p.OperationTime/8, replyLeast), replyMost),
		regeneration: float64(p.RegenerationMean),
	}
	if s.min == 0 {
		s.min = MinInterval(p.OperationTime, p.MembersMax)
	}
	s.round = max(round, s.min)
	s.rest = s.window
	if windows == lightWindows {
		s.rest = max(s.skip, readPauseMost)
	}
	s.past = 2*(s.rest+s.operation) + s.window
	if s.regeneration == 0 {
		s.regeneration = regenerationRounds * float64(round)
	}
	return s
}

// LeastWait is how long a member of the presets light and fair waits at least from one
// token that it makes to the next one. Whatever others say, they cannot make it
// generate more often.
func LeastWait(p policy.Params) time.Duration {
	windows := time.Duration(fairWindows)
	if p.Preset == Light {
		windows = lightWindows
	}
	return deriveSpans(p, windows).window
}

// delay draws how long beyond the window to wait for a token.
func (s *spans) delay(rng *rand.Rand) time.Duration {
	return s.window + time.Duration(min(rng.ExpFloat64()*s.regeneration, math.MaxInt64/4)) + 1
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
