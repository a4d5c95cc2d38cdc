package wandering

import (
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

const (
	// registrars is how many members keep in mind who had a slot's token last: where few
	// want it, members drawn at random have hardly ever heard of it.
	registrars = witnesses

	// registrarsTold is how many of them a holder tells, at random: so that one hears it
	// though another is dead and a third one lies.
	registrarsTold = 3
)

// registry is this member's part in telling the slot's registrars.
type registry struct {
	slot    ident.Member  // whose witnesses are the registrars; zero: there are none
	tells   clock.Instant // when to tell them that the token is here
	is      bool          // this member is one of them, as of the last look
	checked clock.Instant // when that was
	list    []ident.Member
}

// registrarsNow are the registrars, as far as this member knows.
func (w *walker) registrarsNow() []ident.Member {
	r := &w.registry
	if r.list = r.list[:0]; !r.slot.IsZero() {
		r.list = w.roster.Witnesses(r.slot, registrars, r.list)
	}
	return r.list
}

// registersLater has the registrars told when the token has been here for long, however
// long the operation takes.
func (w *walker) registersLater() { w.registry.tells = w.now.Add(w.least / 2) }

// register tells some registrars that a token is here.
func (w *walker) register() {
	w.registersLater()
	if w.sightings.fateOf(&w.token.ID) == shunned {
		return
	}
	list := w.registrarsNow()
	m := body{kind: heard, member: w.self, sight: sight{id: w.token.ID, born: w.token.Born, hop: w.token.Hop}}
	for told := 0; told < registrarsTold && len(list) > 0; {
		i := w.rng.IntN(len(list))
		to := list[i]
		list[i] = list[len(list)-1]
		if list = list[:len(list)-1]; to != w.self {
			w.tell(to, &m)
			told++
		}
	}
}

// registerDue tells them once more, while the token is here.
func (w *walker) registerDue() {
	if w.have && w.registry.tells <= w.now {
		w.register()
	}
}

// registerDeadline is when to tell them.
func (w *walker) registerDeadline() clock.Instant {
	if !w.have || w.registry.slot.IsZero() {
		return clock.Never
	}
	return w.registry.tells
}

// registrar reports whether this member is one of them. That is looked up once in a
// window.
func (w *walker) registrar() bool {
	r := &w.registry
	if !r.slot.IsZero() && w.now >= r.checked.Add(w.least) {
		r.is, r.checked = slices.Contains(w.registrarsNow(), w.self), w.now
	}
	return r.is
}

// pollees are who is polled: the registrars, and members at random up to pollSize in all.
func (w *walker) pollees() []ident.Member {
	list := append(w.polled[:0], w.registrarsNow()...)
	list = slices.DeleteFunc(list, func(m ident.Member) bool { return m == w.self })
	known := len(list)
	list = w.roster.Draw(pollSize, list)
	kept := list[:known]
	for _, m := range list[known:] {
		if len(kept) < pollSize && !slices.Contains(list[:known], m) {
			kept = append(kept, m)
		}
	}
	return kept
}
