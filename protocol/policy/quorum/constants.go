package quorum

import (
	"cmp"
	"math"
	"time"

	"github.com/wandertoken/wander/protocol/policy"
)

const (
	// defaultSilence (L) is for how long a holder waits for votes at most.
	defaultSilence = 4 * time.Second

	// retries is how often votes are asked for within that time.
	retries = 4

	// killTime is from the instant at which a program is killed to the one from which
	// it counts as dead. A member gives no token away sooner either.
	killTime = 250 * time.Millisecond

	// driftRatio is the share of a span by which one clock may gain on another one. Two
	// clocks that are adjusted as fast as systems permit differ by half of it.
	driftRatio = 500

	// maxResumed is of how many tokens a member remembers that nothing ran under them when
	// it had begun.
	maxResumed = 8

	// maxVoters bounds the members that are asked: more than a group has in which
	// everybody knows everybody.
	maxVoters = 1 << 13
)

// spans are the times that votes are computed with.
type spans struct {
	hold     time.Duration // H: the longest program
	patience time.Duration // for how long votes are waited for
	retry    time.Duration // between two asks
}

func deriveSpans(p policy.Params) spans {
	h := max(p.OperationTime, p.MaxHold)
	// Half of the grant is left to the program.
	patience := min(cmp.Or(p.Silence, defaultSilence), h/2)
	return spans{hold: h, patience: patience, retry: max(patience/retries, time.Millisecond)}
}

// bound is for how long a vote for such a span binds, on the voter's clock.
func bound(d time.Duration) time.Duration { return d + d/driftRatio }

// millis is a span as messages carry it: in whole milliseconds, rounded up, at most 49
// days.
func millis(d time.Duration) uint32 {
	return uint32(min(max(0, (d+time.Millisecond-1)/time.Millisecond), math.MaxUint32))
}

func span(ms uint32) time.Duration { return time.Duration(ms) * time.Millisecond }
