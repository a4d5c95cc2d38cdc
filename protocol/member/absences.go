package member

import (
	"maps"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

const (
	// absentFirst and absentMax bound for how long a member that could not be
	// reached, or takes no token, is passed over as a neighbour: at first about as long as a
	// daemon needs to start again, then twice as long each time. One that
	// connects is back at once.
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

// missing notes that a member could not be reached, or took no token.
func (l *absences) missing(id ident.Member) {
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
	a.pause = min(max(2*a.pause, absentFirst), absentMax)
	a.until = l.now.Boot.Add(a.pause)
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
