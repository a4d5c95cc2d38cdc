package forecast

import (
	"cmp"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
)

const (
	// longFactor is by how much a turn exceeds 19 of 20 turns of late if people are to be told: less would name a slow disk, and
	// more would have them wait for nothing where turns take minutes.
	longFactor = 3

	// leastLong is below what no turn is called long: where turns take milliseconds, a second is a machine that was busy.
	leastLong = 5 * time.Second
)

// Long is a turn that takes much longer than those of late: its program may hang.
type Long struct {
	Took  time.Duration // at least
	Usual time.Duration // half of the turns of late took no longer
}

// LongOf reports whether the present turn of a slot's token takes much longer than those of late, and longer than the
// configuration says that a program takes. begun is when the program here began; 0: none runs here, or that is not known. Of a turn elsewhere
// of which only the beginning was heard, that counts for members that wait: a token may rest if none does. A machine that restarts is no program
// that hangs.
func LongOf(s *member.SlotStatus, begun, now clock.Instant) (l Long, is bool) {
	returns := returnsOf(s.Passages)
	if len(returns) < leastReturns || s.Observed.Search != policy.Calm || s.Executing && s.Across || s.Observed.Away > now {
		return l, false
	}
	turn, spread := pace(returns)
	limit := max(longFactor*seconds(turn+quantile95*spread), leastLong, s.Expected)
	known := 1.0
	switch {
	case s.Executing:
		is = begun > 0
	case !s.Held:
		begun, known, is = turnElsewhere(s, now)
	}
	if !is {
		return l, false
	}
	l = Long{Took: now.Sub(begun), Usual: seconds(turn)}
	return l, l.Took > scaled(limit, known)
}

// turnElsewhere is when another member's present turn began at the latest, as far as this member knows, and of which part of the turns it hears.
func turnElsewhere(s *member.SlotStatus, now clock.Instant) (begun clock.Instant, known float64, is bool) {
	switch o := &s.Observed; {
	case o.Holder.IsZero():
		return 0, 0, false
	case o.Ends > now:
		return cmp.Or(o.Runs, o.First()), 1, true
	case s.Waiting > 0 && o.Known > 0:
		return max(o.First(), s.WaitingSince), o.Known, true
	}
	return 0, 0, false
}

// scaled is a bound on a turn for a member that hears of a part of the turns: it hears of none for longer.
func scaled(limit time.Duration, known float64) time.Duration {
	return time.Duration(float64(limit) / known)
}
