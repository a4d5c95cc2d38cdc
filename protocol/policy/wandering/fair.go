package wandering

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// readsAtOnce is how many members at random are asked for reports in one look.
const readsAtOnce = 2

// nothingOlder in a look says that no report is asked for.
const nothingOlder = ^uint32(0)

// refusedKept is how many members that were not taken as candidates are remembered:
// as many as two liars together can be witnesses of.
const refusedKept = 2 * storeMost

// fair is what the preset fair has beyond light: what it knows as a witness, who may
// be next, and its search for that.
type fair struct {
	Tuning
	store      store
	candidates candidates
	choice     choice
	announcement

	gathers clock.Instant // until then reports are awaited
	looks   clock.Instant // when to look again while nobody is due
	looked  clock.Instant // when it did so last, or at a second operation
	pause   time.Duration
	idle    clock.Instant // since when nobody is due; clock.Never while somebody is
	members []ident.Member

	// unreached: members that may want the token do not answer, or nobody has passed it
	// here. Others may wait whose witnesses have died, or report dead members in their place.
	unreached bool
	canvass   canvass

	// refused are the last candidates that were not taken since the search began, or
	// the last look: who reports them again and again does not keep the token here.
	refused [refusedKept]ident.Member
	refuse  int

	// silent are the last candidates of this search that did not answer in time, and present
	// those that have said since that they want the token: they are not asked again.
	silent, present []ident.Member
}

func newFair() *fair {
	return &fair{
		Tuning:  Tuning{Witnesses: witnesses, Reads: readsAtOnce},
		gathers: clock.Never, looks: clock.Never, looked: longAgo, idle: clock.Never,
		announcement: announcement{again: clock.Never}, canvass: canvass{again: longAgo},
	}
}

// serves tells the witnesses of who has taken the token that it is served now. They
// report to it who has waited longer than those that came with the token.
func (w *walker) serves(m ident.Member, t *sight) {
	f := w.fair
	l := body{kind: look, sight: *t, member: m, older: f.candidates.threshold(w.now)}
	f.members = w.roster.Witnesses(m, f.Witnesses, f.members[:0])
	for _, witness := range f.members {
		if witness == w.self {
			w.testify(w.self, m, w.now)
		}
		w.tell(witness, &l)
	}
}

// testify notes that a member says that another one was served, if this one is a
// witness of that.
func (w *walker) testify(by, m ident.Member, at clock.Instant) {
	f := w.fair
	t := f.store.find(m)
	if t == nil {
		if !w.witnessOf(m, w.self) {
			return
		}
		t = f.store.add(m)
		t.wants, t.ranked = true, w.now
	}
	t.mark(by, at)
}

// witnessOf reports whether a member is a witness of another one.
func (w *walker) witnessOf(m, witness ident.Member) bool {
	f := w.fair
	f.members = w.roster.Witnesses(m, f.Witnesses, f.members[:0])
	return contains(f.members, witness)
}

// seek begins to look for the next member, with the candidates that came with the
// token. The witnesses of this member report more of them. For a token that nobody
// passed here members at random do.
func (w *walker) seek(alone bool) {
	f := w.fair
	f.choice = choice{deadline: clock.Never}
	f.idle, f.pause, f.unreached = clock.Never, readPauseLeast, alone
	f.canvass.asked = f.canvass.asked[:0]
	f.refused, f.silent, f.present = [refusedKept]ident.Member{}, f.silent[:0], f.present[:0]
	f.candidates.remove(w.self)
	w.readOwn()
	f.gathers, f.looks = w.now.Add(w.gather), clock.Never
	if alone {
		w.read()
	}
}

// gatherAnew asks once more who is due, while the operation runs here a second time. Short
// operations would otherwise spend all that a member hears of another one.
func (w *walker) gatherAnew() {
	f := w.fair
	f.gathers = w.now.Add(w.gather)
	w.readOwn()
	if w.now >= f.looked.Add(readPauseLeast) {
		f.looked = w.now
		w.read()
	}
}

// sight is what is told of the token here: nothing of one that nobody takes.
func (w *walker) sight() sight {
	if w.sightings.fateOf(&w.token.ID) == shunned {
		return sight{}
	}
	return sight{id: w.token.ID, born: w.token.Born, hop: w.token.Hop, age: millis(w.now.Sub(w.birth))}
}

// read asks members at random for reports.
func (w *walker) read() {
	m := body{kind: look, sight: w.sight(), older: w.fair.candidates.threshold(w.now)}
	w.fair.members = w.roster.Draw(w.fair.Reads, w.fair.members[:0])
	for _, to := range w.fair.members {
		w.tell(to, &m)
	}
}

// readOwn takes candidates from what is known here as a witness.
func (w *walker) readOwn() {
	f := w.fair
	var found [reportMost]*testimony
	for _, t := range found[:w.longest(before(w.now, f.candidates.threshold(w.now)), &found)] {
		f.candidates.insert(candidate{member: t.member, served: t.served})
	}
}

// longest finds who in the store wants the token and was served before an instant, at
// most reportMost, the longest ago first. Members that do not take part any more are
// forgotten.
func (w *walker) longest(served clock.Instant, found *[reportMost]*testimony) int {
	for {
		n, gone := w.fair.store.oldest(served, found), ident.Member{}
		for _, t := range found[:n] {
			if !w.stillWitnessOf(t) {
				gone = t.member
				break
			}
		}
		if gone.IsZero() {
			return n
		}
		w.fair.store.remove(gone)
	}
}

// hear handles a message. Whatever is not well-formed is ignored.
func (w *walker) hear(from ident.Member, b []byte) {
	var m body
	if from.IsZero() || from == w.self || !parseBody(b, &m) {
		return
	}
	switch m.kind {
	case look:
		w.lookedAt(from, &m)
	case inquire:
		w.object(from, from, &m.sight)
		w.inquired(from, &m)
	case report:
		w.reported(from, &m)
	case answer:
		w.answered(from, &m)
	case demand:
		w.demanded(from, m.what == willing, before(w.now, m.age))
	case heard:
		w.hinted(from, &m)
	}
}

// hinted notes that a member has heard of a token, and of whom. What it has heard of
// this member is no news.
func (w *walker) hinted(from ident.Member, m *body) {
	origin := m.member
	if origin == w.self {
		return
	}
	if origin.IsZero() {
		origin = from
	}
	w.sightings.hint(&m.sight, from, origin, before(w.now, m.sight.age))
	w.yield()
}

// object notes a token that a member tells of, and tells who holds it of one that
// precedes it.
func (w *walker) object(from, holder ident.Member, t *sight) {
	if t.id == (ident.Token{}) {
		return
	}
	if w.have {
		w.sightings.here(&w.token, w.now)
	}
	if !holder.IsZero() {
		w.tellPreceding(holder, t)
	}
	w.sightings.note(t, from, w.now)
	w.yield()
}

// tellPreceding tells who holds a token of one that precedes it and was heard of after it
// was made, and on whose word that is.
func (w *walker) tellPreceding(holder ident.Member, t *sight) {
	since := max(before(w.now, t.age), w.now-clock.Instant(w.window))
	switch s, told := w.sightings.recall(t, since, &w.rng); {
	case s == nil:
	case told == nil: // it was here
		w.tell(holder, &body{kind: heard, member: w.self, sight: sight{id: s.id, born: s.born, hop: s.hop, age: millis(w.now.Sub(s.held))}})
	default:
		w.tell(holder, &body{kind: heard, member: told.origin, sight: sight{id: s.id, born: s.born, hop: told.hop, age: millis(w.now.Sub(told.at))}})
	}
}

// lookedAt takes down that a member is served, and reports to it, or to who asks.
func (w *walker) lookedAt(from ident.Member, m *body) {
	s, to := &w.fair.store, from
	if third := m.member; !third.IsZero() && third != from && third != w.self {
		if s.marks.may(from, w.now, w.min/4) {
			w.testify(from, third, before(w.now, m.age))
		}
		to = ident.Member{}
		if m.older != nothingOlder && s.errands.may(from, w.now, w.gather) {
			to = third
		}
	}
	w.object(from, to, &m.sight)
	if !to.IsZero() {
		w.report(to, before(w.now, m.older))
	}
}

// report tells who has waited since before an instant.
func (w *walker) report(to ident.Member, served clock.Instant) {
	var found [reportMost]*testimony
	m := body{kind: report}
	for _, t := range found[:w.longest(served, &found)] {
		if t.member != to {
			m.records[m.n] = waiter{t.member, millis(w.now.Sub(t.served))}
			m.n++
		}
	}
	if m.n > 0 {
		w.tell(to, &m)
	}
}

// stillWitnessOf reports whether this member is a witness of one in its store. That is
// looked up once in a window: members come and go more seldom, and who asks again
// and again costs nothing.
func (w *walker) stillWitnessOf(t *testimony) bool {
	if w.now >= t.ranked.Add(w.window) {
		if !w.witnessOf(t.member, w.self) {
			return false
		}
		t.ranked = w.now
	}
	return true
}

// reported takes candidates from a report: only members of which the sender is a
// witness, so nobody can report itself or whom it likes.
func (w *walker) reported(from ident.Member, m *body) {
	f := w.fair
	if !w.have || !f.store.reports.may(from, w.now, w.reply) {
		return
	}
	for _, r := range m.records[:m.n] {
		if r.member != w.self && r.member != from && !contains(f.refused[:], r.member) && w.witnessOf(r.member, from) {
			f.candidates.insert(candidate{r.member, before(w.now, r.age), from})
		}
	}
	if f.gathers == clock.Never {
		w.proceed()
	}
}

// inquired answers about a member, or about this one.
func (w *walker) inquired(from ident.Member, m *body) {
	a := body{kind: answer, member: m.member, what: unserved}
	if m.member == w.self {
		a.what, a.age = unwilling, millis(w.now.Sub(max(w.early, 0))+w.min)
		if w.demand {
			a.what = willing
		}
		w.correct()
	} else if t := w.fair.store.find(m.member); t != nil && t.sure {
		a.what, a.age = unwilling, millis(w.now.Sub(t.served))
		if t.wants {
			a.what = willing
		}
	}
	w.tell(from, &a)
}

// demanded notes whether a member wants the token, and since when it has not had it.
// Who is new counts as one that may operate at once, and has waited less than all
// others that may.
func (w *walker) demanded(from ident.Member, wants bool, served clock.Instant) {
	s := &w.fair.store
	t := s.find(from)
	if t != nil {
		t.wants = wants
	}
	switch {
	case !wants || !s.demands.may(from, w.now, w.gather):
	case t != nil:
		w.contradict(t, served)
	case w.witnessOf(from, w.self):
		t = s.add(from)
		t.served, t.wants, t.ranked = w.now-clock.Instant(w.min), true, w.now
	}
}

// contradict hears a member out that says when it had the token last.
func (w *walker) contradict(t *testimony, served clock.Instant) {
	f := w.fair
	since := served.Add(w.operation + wordTime)
	if t.served <= since {
		return
	}
	f.members = w.roster.Witnesses(t.member, f.Witnesses, f.members[:0])
	t.deny(since, w.self, max(1, min(len(f.members)/6, denialsMost)))
}
