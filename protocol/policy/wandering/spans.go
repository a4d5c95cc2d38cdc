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

	// A window grows until a member has heard of a token within it in half of the
	// time, and so have half of those that it asks, at any moment: where the group is
	// larger than configured, or the token rests, tokens come more seldom than the
	// configuration leads to expect. It moves by a quarter of what it is off at each
	// token, and no silence counts for more than longestSilence windows: after a
	// night without tokens a few of them put it right.
	heardShare     = 2
	windowGain     = 4
	longestSilence = 8

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
	hold                 time.Duration // how long one operation takes at most
	round                time.Duration // how long a round takes at most, or Δmin if that is longer
	window               time.Duration // X = W, as observed
	least                time.Duration // the window that follows from the configuration
	rest                 time.Duration // for which a token stays where nobody is due, at most
	gather               time.Duration // for reports, before the next member is chosen
	reply                time.Duration // for answers to one question
	regeneration         float64       // γ, ns
}

// deriveSpans takes nothing but what every group says of itself, and no number of
// members but the one that saturates the resource.
func deriveSpans(p policy.Params, isFair bool) spans {
	round := p.OperationTime * time.Duration(p.MembersMax)
	windows := time.Duration(lightWindows)
	if isFair {
		windows = fairWindows
	}
	s := spans{
		operation: p.OperationTime, min: p.MinInterval, skip: p.SkipDelay, hold: max(p.OperationTime, p.MaxHold),
		window:       max(leastWindow, round/windows),
		gather:       min(p.OperationTime/8, replyMost),
		reply:        min(max(p.OperationTime/8, replyLeast), replyMost),
		regeneration: float64(p.RegenerationMean),
	}
	if s.min == 0 {
		s.min = MinInterval(p.OperationTime, p.MembersMax)
	}
	s.least = s.window
	s.round = max(round, s.min)
	s.rest = max(s.skip, readPauseMost)
	if isFair {
		s.rest = s.window
	}
	if s.regeneration == 0 {
		s.regeneration = regenerationRounds * float64(round)
	}
	return s
}

// LeastWait is how long a member of the presets light and fair waits at least from one
// token that it makes to the next one. Whatever others say, they cannot make it
// generate more often.
func LeastWait(p policy.Params) time.Duration {
	return deriveSpans(p, p.Preset != Light).least
}

// heard adapts the window to a silence that has ended: how long this member had heard
// of no token. It settles where silence/heardShare and the part of the silence within
// the window are equal on average, whatever silences there are: many short ones
// together with a long one count as what they are. It is never shorter than what the
// configuration gives, so that nobody shortens it by telling of tokens.
func (s *spans) heard(silence time.Duration) {
	if silence/longestSilence > s.window {
		silence = longestSilence * s.window
	}
	s.window = max(s.least, s.window+(silence/heardShare-min(silence, s.window))/windowGain)
}

// past is the time within which three members have had a token that circulates, however
// long each of them used it.
func (s *spans) past() time.Duration { return s.window + 2*(s.rest+s.hold) }

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
