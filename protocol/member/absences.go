package member

import (
	"maps"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

const (
	// absentFirst and absentMax bound for how long a member that could not be
	// reached is passed over as a neighbour: at first about as long as a
	// daemon needs to start again, then twice as long each time. One that
	// connects is back at once. One that takes no token is passed over for absentFirst each time.
	absentFirst = 5 * time.Second
	absentMax   = 5 * time.Minute

	// maxGone bounds how many absent members are kept in mind, and looked at
	// each time that the neighbour is looked for. Beyond it, one that is gone
	// stays the neighbour until others have been absent for long enough: a ring
	// does not get past so many that are gone in a row.
	maxGone = 4096
)

// absence is since when and until when a member is passed over.
type absence struct {
	until clock.Instant
	pause time.Duration
}

// absences are the members that are passed over for a while.
type absences struct {
	*core
	gone map[ident.Member]absence
}

// missing notes that a member could not be reached.
func (l *absences) missing(id ident.Member) {
	l.passOver(id, min(max(2*l.gone[id].pause, absentFirst), absentMax))
}

// unwilling notes that a member took no token. To ask it again costs one round trip, where to reach a dead one takes seconds. It may
// refuse the newborn tokens of this one for long (P-69), and take the next token: a holder that passes over all others
// keeps its token, and is struck.
func (l *absences) unwilling(id ident.Member) { l.passOver(id, absentFirst) }

// passOver passes over a member for so long, if it is not passed over already.
func (l *absences) passOver(id ident.Member, pause time.Duration) {
	a := l.gone[id]
	if a.until > l.now.Boot {
		return
	}
	if len(l.gone) >= maxGone {
		maps.DeleteFunc(l.gone, func(_ ident.Member, old absence) bool { return old.until <= l.now.Boot })
	}
	if len(l.gone) >= maxGone {
		return
	}
	a.pause = pause
	a.until = l.now.Boot.Add(pause)
	l.gone[id] = a
	l.changed = true
}

// present notes that a member is there.
func (l *absences) present(id ident.Member) {
	delete(l.gone, id)
	l.changed = true
}

// isAbsent reports whether a member could not be reached of late, or took no token.
func (l *absences) isAbsent(id ident.Member) bool { return l.gone[id].until > l.now.Boot }
