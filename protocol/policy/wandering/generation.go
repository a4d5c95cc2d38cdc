package wandering

import (
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// pollSize is how many members are asked before a token is made.
const pollSize = 32

// agreeing is how many of those asked have to have heard of a token, independently:
// more than one liar, where there are enough others to bear it out.
func agreeing(asked int) int {
	switch {
	case asked < 3:
		return 1
	case asked < 24:
		return 2
	}
	return credible
}

// generation is the making of a token by who has heard of none for long: not
// before others were asked.
type generation struct {
	due   clock.Instant // when to ask
	start clock.Instant // when this member began
	until clock.Instant // while answers are awaited; or clock.Never
	need  int
	voices
}

// listen begins to wait for a token anew. What others were asked before counts no more.
func (w *walker) listen() { w.due, w.until = w.now.Add(w.delay(&w.rng)), clock.Never }

// generationDeadline is when to ask, or to decide.
func (w *walker) generationDeadline() clock.Instant {
	if w.have {
		return clock.Never
	}
	return min(w.due, w.until)
}

// generationDue asks, or decides. A token that was heard of meanwhile puts both off. So
// does a begin of this member: three others may not have had the first token yet.
func (w *walker) generationDue() {
	last := max(w.sightings.last(), w.start)
	switch silent := last < w.now-clock.Instant(w.past()); {
	case w.have:
	case w.until <= w.now:
		w.listen()
		if silent && w.voices.n < w.need {
			w.generate()
		}
	case w.due > w.now:
	case !silent:
		w.due = last.Add(w.past() - w.window + w.delay(&w.rng))
	default:
		w.poll()
	}
}

// poll asks registrars, and members at random, whether they have heard of a token. It
// also counts what members have told here unasked.
func (w *walker) poll() {
	w.due, w.until, w.voices = clock.Never, w.now.Add(w.reply), voices{}
	w.polled = w.pollees()
	w.need = agreeing(len(w.polled))
	w.voices.hearAll(&w.sightings, beyond(ident.Token{}, 0), w.now-clock.Instant(w.past()))
	for _, m := range w.polled {
		w.tell(m, &body{kind: poll, age: millis(w.past())})
	}
}

// polledBy answers a poll, if there is something to tell.
func (w *walker) polledBy(from ident.Member, m *body) {
	if w.have {
		w.sightings.here(&w.token, w.now)
	}
	want, since := beyond(m.sight.id, m.sight.hop), before(w.now, m.age)-1
	if !w.registrar() {
		w.tellHeard(from, want, since)
		return
	}
	w.sightings.each(want, since, func(s *sighting, told *source) { w.tellOf(from, s, told) })
}

// tellHeard tells of such a token that was heard of since an instant, and on whose word.
func (w *walker) tellHeard(to ident.Member, want func(*sighting, uint64) bool, since clock.Instant) {
	if to.IsZero() {
		return
	}
	if s, told := w.sightings.recall(want, since, &w.rng); s != nil {
		w.tellOf(to, s, told)
	}
}

// tellOf tells what a source said of a token, or, where that is nil, this member knows
// itself.
func (w *walker) tellOf(to ident.Member, s *sighting, told *source) {
	if told == nil {
		w.tell(to, &body{kind: heard, member: w.self, sight: sight{id: s.id, born: s.born, hop: s.hop, age: millis(w.now.Sub(s.held))}})
		return
	}
	w.tell(to, &body{kind: heard, member: told.origin, sight: sight{id: s.id, born: s.born, hop: told.hop, age: millis(w.now.Sub(told.at))}})
}

// tellPreceding tells who holds a token of one that precedes it, heard of since then.
func (w *walker) tellPreceding(holder ident.Member, t *sight, since clock.Instant) {
	if w.have {
		w.sightings.here(&w.token, w.now)
	}
	w.tellHeard(holder, preceding(t), since)
}

// confirmed takes it for an answer to a poll that somebody has heard of a token.
func (w *walker) confirmed(from ident.Member, m *body) {
	if w.until == clock.Never || m.sight.age > millis(w.past()) {
		return
	}
	w.voices.hear(from, m.member)
	if w.voices.n >= w.need {
		w.listen()
	}
}

// makes is from when on this member may make a token.
func (w *walker) makes() clock.Instant { return w.made.Add(w.window) }

// generate asks for a new token, unless this member has made one just now: then it is
// up to others. The answer may stay out, so the next wait begins at once.
func (w *walker) generate() {
	w.listen()
	if w.now >= w.makes() {
		w.made = w.now
		w.actions = append(w.actions, policy.Action{Kind: policy.Generate})
	}
}
