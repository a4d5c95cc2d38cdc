package wandering

import "github.com/wandertoken/wander/protocol/clock"

// announcement is what this member's witnesses know of whether it wants the token.
type announcement struct {
	told  bool          // that it does
	again clock.Instant // when to tell, or to tell once more
	last  clock.Instant // when it was told
}

// announce lets the witnesses know that this member wants the token, soon and not
// more often than a member may operate.
func (w *walker) announce() {
	a := &w.fair.announcement
	if w.demand && !a.told && a.again == clock.Never {
		a.again = max(w.now, a.last.Add(w.gather))
	}
}

// announceDue tells the witnesses, if it still is so. It tells them once more when
// this member has waited much longer than anybody should: they may have forgotten it.
func (w *walker) announceDue() {
	a := &w.fair.announcement
	if a.again > w.now {
		return
	}
	a.again = clock.Never
	if w.demand {
		w.tellWitnesses(willing)
		a.told, a.last = true, w.now
		a.again = w.now.Add(2 * w.round)
	}
}

// served puts off telling the witnesses once more: they know since the token came.
func (w *walker) served() {
	if a := &w.fair.announcement; a.told {
		a.again = w.now.Add(2 * w.round)
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
	m := body{kind: demand, what: what}
	f.members = w.roster.Witnesses(w.self, f.Witnesses, f.members[:0])
	for _, witness := range f.members {
		w.tell(witness, &m)
	}
}
