package wandering

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
)

// announcement is what this member's witnesses know of whether it wants the token.
type announcement struct {
	told  bool          // that it does
	again clock.Instant // when to tell, or to tell once more
	last  clock.Instant // when it was told
	had   clock.Instant // when this member had the token last, or began
	among int           // how many members took part when it was told
	known int           // how many take part now
}

// outgrown reports whether the group has grown by half since the witnesses were
// told: a third of them are others now. Who joins knows hardly anybody at first.
func (a *announcement) outgrown() bool {
	return a.known > a.among && 2*a.known >= 3*a.among
}

// announce lets the witnesses know that this member wants the token, soon, unless
// they know. If it did not want the token when it was to tell them once more, it does
// that when it has waited that long again.
func (w *walker) announce() {
	a := &w.fair.announcement
	switch {
	case !w.demand:
	case !a.told || a.outgrown():
		a.again = min(a.again, max(w.now, a.last.Add(w.gather)))
	case a.again == clock.Never:
		a.again = w.now.Add(w.patience())
	}
}

// repeat has the witnesses told again soon, though they may know: a message may be
// lost.
func (a *announcement) repeat(now clock.Instant, gather time.Duration) {
	if a.told {
		a.again = min(a.again, max(now, a.last.Add(gather)))
	}
}

// announceDue tells the witnesses, if it still is so. It tells them once more when
// this member has waited much longer than anybody should: they may have forgotten it,
// or believe a liar that it was served.
func (w *walker) announceDue() {
	a := &w.fair.announcement
	if a.again > w.now {
		return
	}
	a.again = clock.Never
	if w.demand {
		w.tellWitnesses(willing)
		a.told, a.last, a.among = true, w.now, a.known
		a.again = w.now.Add(w.patience())
	}
}

// patience is for how long a member waits for the token before it says so again:
// longer than in a group half as large again as members_max.
func (w *walker) patience() time.Duration { return w.round + w.round/2 }

// had notes that this member has the token.
func (w *walker) had() {
	if w.fair != nil {
		w.fair.announcement.had = w.now
	}
}

// served puts off telling the witnesses once more: they know since the token came.
func (w *walker) served() {
	if a := &w.fair.announcement; a.told {
		a.again = w.now.Add(w.patience())
	}
}

// correct tells the witnesses that this member does not want the token, which
// they believe.
func (w *walker) correct() {
	a := &w.fair.announcement
	if !w.demand && a.told {
		a.told = false
		w.tellWitnesses(unwilling)
	}
}

func (w *walker) tellWitnesses(what byte) {
	f := w.fair
	m := body{kind: demand, what: what, age: millis(w.now.Sub(f.had))}
	f.members = w.roster.Witnesses(w.self, f.Witnesses, f.members[:0])
	for _, witness := range f.members {
		w.tell(witness, &m)
	}
}
