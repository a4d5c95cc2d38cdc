package member

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
)

const (
	// waitShare is the part of its time that a member waits at the gate at most: the program has the
	// other half, or less if it asks for less.
	waitShare = 2

	// signOutTime bounds how long a token is kept for the acknowledgement of SIGN-OUT, and signOutShare where the
	// longest hold is short. The close hook of a database takes a second. A member that comes too early hears BUSY.
	signOutTime  = 2 * time.Second
	signOutShare = 8

	// minProgram is the shortest time for which a session is of use, unless the program has asked for less, or an eighth of
	// max_hold is less. A gate that opens for a millisecond would have a grant written to the disk each few milliseconds.
	minProgram = 100 * time.Millisecond

	// knockPause is for how long this member does not knock again in a custody in which the gate was busy to the
	// end, or lost. Within it the policy has passed the token on, unless nobody takes it.
	knockPause = 10 * time.Second

	// refusePause is the same after a REFUSE, unless the gate names a later time. Mostly time
	// changes nothing; but a member that nobody takes the token from may try again.
	refusePause = time.Minute

	// shutPause is for how long a resource counts as closed at least that is closed by its gate's clock, and refusePause for how long at most. A gate that names the
	// next millisecond again and again is not asked each millisecond.
	shutPause = time.Second
)

// stay is how the time for a token at a gate is divided: knocking, the program, and signing out.
type stay struct {
	span     time.Duration // all of it
	knocking time.Duration // for so long at most
	length   time.Duration // of the session that the gate is asked for
}

// planStay divides a span for a program that has asked for a time, or for as long as may be (0), at a gate whose open hook may take a time.
func planStay(span, asked, opening time.Duration) stay {
	out := signOutSpan(span)
	program, length := span/waitShare, span
	if asked > 0 {
		program, length = min(program, asked), min(span, asked+opening+out)
	}
	return stay{span: span, knocking: span - out - program, length: length}
}

// signOutSpan is how long SIGN-OUT may take of the time for a program.
func signOutSpan(span time.Duration) time.Duration { return min(signOutTime, span/signOutShare) }

// shortestProgram is the least time that is of use to a program, which may have asked for a time.
func shortestProgram(maxHold, asked time.Duration) time.Duration {
	least := min(minProgram, maxHold/signOutShare)
	if asked > 0 {
		least = min(least, asked)
	}
	return max(1, least)
}

// between is from one time of the gate's wall clock to another one; 0 if that has passed.
func between(from, to uint64) time.Duration { return clock.Millis(max(from, to) - from) }
