package wandering

import (
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// fair is what the preset fair has beyond light: this member's turns, those of others, and the
// search for the next member.
type fair struct {
	announcement
	timekeeper
	search
	heardOf policy.Observation // which member has the token, as others said last: for people
}

func newFair(w *walker) *fair {
	c := &w.common
	f := &fair{announcement: announcement{common: c, again: clock.Never}, timekeeper: timekeeper{common: c}}
	f.search = newSearch(c, &f.timekeeper, w)
	return f
}

// hear handles a message. Whatever is not well-formed is ignored.
func (w *walker) hear(from ident.Member, b []byte) {
	var m body
	if from.IsZero() || from == w.self || !parseBody(b, &m) {
		return
	}
	switch m.kind {
	case look:
		holder := m.member
		if holder.IsZero() {
			holder = from
		}
		w.fair.hears(holder, from, &m.sight, before(w.Now, m.age))
		to := w.fair.lookedAt(from, &m)
		w.object(from, to, &m.sight)
		if !to.IsZero() {
			w.fair.report(to, m.older)
		}
	case inquire:
		w.fair.hears(from, from, &m.sight, w.Now)
		w.object(from, from, &m.sight)
		w.inquired(from, &m)
	case report:
		w.fair.reported(from, &m)
	case answer:
		w.fair.answered(from, &m)
	case demand:
		if w.fair.demanded(from, m.what == willing, before(w.Now, m.age)) {
			w.fair.waits(from)
		}
	case heard:
		w.hinted(from, &m)
	}
}

// hinted notes that a member has heard of a token, and from which one. What it has heard of
// this member is no news.
func (w *walker) hinted(from ident.Member, m *body) {
	origin := m.member
	if origin == w.self {
		return
	}
	if origin.IsZero() {
		origin = from
	}
	w.observations.hint(&m.sight, from, origin, before(w.Now, m.sight.age))
	w.yield()
}

// object notes a token that a member tells of, and tells its holder of one that
// precedes it.
func (w *walker) object(from, holder ident.Member, t *sight) {
	if t.id == (ident.Token{}) {
		return
	}
	if w.have {
		w.observations.here(&w.token, w.Now)
	}
	if !holder.IsZero() {
		w.tellPreceding(holder, t)
	}
	w.observations.note(t, from, w.Now)
	w.yield()
}

// tellPreceding tells the holder of a token of one that precedes it and was heard of after it
// was made, and which member has said so.
func (w *walker) tellPreceding(holder ident.Member, t *sight) {
	since := max(before(w.Now, t.age), w.Now-clock.Instant(w.freshness))
	switch s, told := w.observations.recall(t, since, &w.rng); {
	case s == nil:
	case told == nil: // it was here
		w.tell(holder, &body{kind: heard, member: w.self, sight: sight{id: s.id, born: s.born, hop: s.hop, age: millis(w.Now.Sub(s.held))}})
	default:
		w.tell(holder, &body{kind: heard, member: told.origin, sight: sight{id: s.id, born: s.born, hop: told.hop, age: millis(w.Now.Sub(told.at))}})
	}
}

// inquired answers about a member, or about this one.
func (w *walker) inquired(from ident.Member, m *body) {
	if m.member != w.self {
		a := w.fair.answerAbout(m.member)
		w.tell(from, &a)
		return
	}
	a := body{kind: answer, member: w.self, what: unwilling, age: millis(w.Now.Sub(max(w.early, 0)) + w.ownMin())}
	if w.Demand {
		a.what = willing
	}
	w.fair.correct()
	w.tell(from, &a)
}
