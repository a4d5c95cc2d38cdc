package wandering

import (
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// pollSize is how many members are asked before a token is made.
const pollSize = 32

// agreeing is how many of those asked have to have heard of a token: more than one
// liar, where many are asked.
func agreeing(asked int) int { return min(1+asked/12, credible) }

// generation is the making of a token by who has heard of none for long: not
// before others were asked.
type generation struct {
	due     clock.Instant // when to ask
	until   clock.Instant // while answers are awaited; or clock.Never
	yes     int
	need    int
	sources [credible]ident.Member
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

// generationDue asks, or decides. What was heard meanwhile puts both off.
func (w *walker) generationDue() {
	switch silent := w.sightings.last == longAgo || w.sightings.last < w.now-clock.Instant(w.window); {
	case w.have:
	case w.until <= w.now:
		w.listen()
		if silent && w.yes < max(w.need, 1) {
			w.generate()
		}
	case w.due > w.now:
	case !silent:
		w.due = w.sightings.last.Add(w.delay(&w.rng))
	default:
		w.poll()
	}
}

// poll asks members at random whether they have heard of a token.
func (w *walker) poll() {
	w.due, w.until, w.yes = clock.Never, w.now.Add(w.reply), 0
	w.polled = w.roster.Draw(pollSize, w.polled[:0])
	w.need = agreeing(len(w.polled))
	for _, m := range w.polled {
		w.tell(m, &body{kind: poll, age: millis(w.window)})
	}
}

// polledBy answers a poll, if there is something to tell.
func (w *walker) polledBy(from ident.Member, m *body) {
	if w.have {
		w.sightings.note(&sight{id: w.token.ID, born: w.token.Born, hop: w.token.Hop}, ident.Member{}, w.now)
	}
	since := before(w.now, m.age) - 1
	if s := w.sightings.beyond(&m.sight.id, m.sight.hop, since); s != nil {
		w.tellHeard(from, s, since)
	}
}

// tellHeard tells of a token that was heard of since an instant, and on whose word.
func (w *walker) tellHeard(to ident.Member, s *sighting, since clock.Instant) {
	at, origin := s.heard, s.by
	if s.held > since {
		at, origin = s.held, w.self
	}
	w.tell(to, &body{kind: heard, member: origin, sight: sight{id: s.id, born: s.born, hop: s.hop, age: millis(w.now.Sub(at))}})
}

// confirmed takes it for an answer to a poll that somebody has heard of a token.
func (w *walker) confirmed(from ident.Member, m *body) {
	if w.until == clock.Never || m.sight.age > millis(w.window) || contains(w.sources[:min(w.yes, credible)], from) {
		return
	}
	if w.yes < credible {
		w.sources[w.yes] = from
	}
	if w.yes++; w.yes >= w.need {
		w.listen()
	}
}

// generate asks for a new token, unless this member has made one just now: then it is
// up to others. The answer may stay out, so the next wait begins at once.
func (w *walker) generate() {
	w.listen()
	if w.made == longAgo || w.now >= w.made.Add(w.window) {
		w.made = w.now
		w.actions = append(w.actions, policy.Action{Kind: policy.Generate})
	}
}
