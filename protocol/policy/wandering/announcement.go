package wandering

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
)

// announcement is what this member's timekeepers know of whether it wants the token.
type announcement struct {
	*common
	told  bool          // that it does
	again clock.Instant // when to tell, or to tell once more
	last  clock.Instant // when it was told
	had   clock.Instant // when this member had the token last, or began
	among int           // how many members took part when it was told
	known int           // how many take part now
}

// outgrown reports whether the group has grown by half since the timekeepers were
// told: a third of them are others now. A member that joins knows few others at first.
func (a *announcement) outgrown() bool {
	return a.known > a.among && 2*a.known >= 3*a.among
}

// announce lets the timekeepers know that this member wants the token, unless
// they know: at once if it has had the token since it told them last, so that who wants it
// now and then costs no more than its turns do. If it did not want the token when it was to tell them once more, it does
// that when it has waited that long again.
func (a *announcement) announce() {
	switch {
	case !a.Demand:
	case !a.told && a.had > a.last:
		a.again = a.Now
	case !a.told || a.outgrown():
		a.again = min(a.again, max(a.Now, a.last.Add(a.gather)))
	case a.again == clock.Never:
		a.again = a.Now.Add(a.patience())
	}
}

// repeat has the timekeepers told again soon, though they may know: a message may be
// lost.
func (a *announcement) repeat() {
	if a.told {
		a.again = min(a.again, max(a.Now, a.last.Add(a.gather)))
	}
}

// onTimer tells the timekeepers, if it still is so. It tells them once more when
// this member has waited much longer than any member should: they may have forgotten it,
// or believe a liar that it was served.
func (a *announcement) onTimer() {
	if a.again > a.Now {
		return
	}
	a.again = clock.Never
	if a.Demand {
		a.tellTimekeepers(willing)
		a.told, a.last, a.among = true, a.Now, a.known
		a.again = a.Now.Add(a.patience())
	}
}

// patience is for how long a member waits for the token before it says so again:
// longer than in a group half as large again as members_max.
func (a *announcement) patience() time.Duration { return a.round + a.round/2 }

// served puts off telling the timekeepers once more: they know since the token came.
func (a *announcement) served() {
	if a.told {
		a.again = a.Now.Add(a.patience())
	}
}

// correct tells the timekeepers that this member does not want the token, which
// they believe.
func (a *announcement) correct() {
	if !a.Demand && a.told {
		a.told = false
		a.tellTimekeepers(unwilling)
	}
}

func (a *announcement) tellTimekeepers(what byte) {
	m := body{kind: demand, what: what, age: millis(a.Now.Sub(a.had))}
	for _, keeper := range a.timekeepersOf(a.self) {
		a.tell(keeper, &m)
	}
}
